"""An error in a browser is a page with a way on; for programs it stays `problem+json`."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from schedmate.web.asking import viewer_of
from schedmate.web.problems import problem
from schedmate.web.templating import page

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from starlette.responses import Response

_log = logging.getLogger("schedmate.web")
_WORDS = {
    400: "This address asks for something that does not exist",
    403: "This is not allowed",
    404: "There is no such page",
    422: "This address asks for something that does not exist",
    429: "Too many requests",
    503: "Not available now",
}


def add_error_pages(app: FastAPI) -> None:
    """After `add_problems`: the same errors, as pages for those who ask for pages."""
    app.add_exception_handler(Exception, _unexpected)
    for kind, handler in list(app.exception_handlers.items()):
        app.exception_handlers[kind] = _as_page(handler)


def wants_page(request: Request) -> bool:
    path, accepted = request.url.path, request.headers.get("accept", "")
    return "text/html" in accepted and not path.startswith(("/api/", "/static/"))


def _unexpected(request: Request, error: Exception) -> Response:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "an error of SchedMate; its log has more")


def _as_page(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def answer(request: Request, error: Exception) -> Response:
        found: Response = await run_in_threadpool(handler, request, error)
        if not wants_page(request):
            return found
        body = json.loads(bytes(found.body))
        shown = page(
            "error.html",
            request,
            status=found.status_code,
            viewer=viewer_of(request),
            title=_WORDS.get(found.status_code, body["title"]),
            detail=body["detail"],
        )
        shown.headers.update({key: value for key, value in found.headers.items() if key == "allow"})
        return shown

    return answer
