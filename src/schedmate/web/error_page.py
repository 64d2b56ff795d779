"""An error in a browser is a page with a way on; for programs it stays `problem+json`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from schedmate.web.asking import viewer_of
from schedmate.web.templating import page

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from starlette.responses import Response

_WORDS: dict[int, str] = {
    HTTPStatus.BAD_REQUEST: "This address asks for something that does not exist",
    HTTPStatus.FORBIDDEN: "This is not allowed",
    HTTPStatus.NOT_FOUND: "There is no such page",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong here",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not available now",
}
_WHERE = re.compile(r"^(?:query|path)\.(\w+): (?:Value error, )?")


def add_error_pages(app: FastAPI) -> None:
    """After `add_problems`: the same errors, as pages for those who ask for pages."""
    for kind, handler in list(app.exception_handlers.items()):
        if not iscoroutinefunction(handler):
            app.exception_handlers[kind] = _as_page(handler)


def wants_page(request: Request) -> bool:
    path, accepted = request.url.path, request.headers.get("accept", "")
    return "text/html" in accepted and not path.startswith(("/api/", "/static/"))


def _as_page(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def answer(request: Request, error: Exception) -> Response:
        found: Response = await run_in_threadpool(handler, request, error)
        if not wants_page(request):
            return found
        status = found.status_code
        if status == HTTPStatus.UNPROCESSABLE_ENTITY:
            status = HTTPStatus.BAD_REQUEST
        body = json.loads(bytes(found.body))
        shown = page(
            "error.html",
            request,
            status=status,
            viewer=viewer_of(request),
            title=_WORDS.get(status, body["title"]),
            detail=_WHERE.sub(r"\1: ", body["detail"]),
        )
        shown.headers.update({key: value for key, value in found.headers.items() if key == "allow"})
        return shown

    return answer
