"""An error in a browser is a page with a way on; for programs it stays `problem+json`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from schedmate.web.problems import problem
from schedmate.web.templating import page

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.responses import Response
    from starlette.types import Scope

_WORDS: dict[int, str] = {
    HTTPStatus.BAD_REQUEST: "This request cannot be used",
    HTTPStatus.UNAUTHORIZED: "Sign in to see this",
    HTTPStatus.FORBIDDEN: "This is not allowed",
    HTTPStatus.NOT_FOUND: "There is no such page",
    HTTPStatus.REQUEST_TIMEOUT: "That took too long",
    HTTPStatus.CONFLICT: "This cannot be done now",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong here",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "That is too much at once",
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


def refusal(scope: Scope, status: HTTPStatus, detail: str, **headers: str) -> Response:
    """What the gate answers, before any route."""
    return _shown(Request(scope), problem(status, detail), headers)


def _as_page(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def answer(request: Request, error: Exception) -> Response:
        found: Response = await run_in_threadpool(handler, request, error)
        return _shown(request, found, _kept(found))

    return answer


def _kept(found: Response) -> dict[str, str]:
    wanted = ("allow", "retry-after", "www-authenticate")
    return {name: value for name, value in found.headers.items() if name in wanted}


def _shown(request: Request, found: Response, headers: dict[str, str]) -> Response:
    """The problem itself, or the page that shows it."""
    shown = _page(request, found) if wants_page(request) else found
    shown.headers.update(headers)
    return shown


def _page(request: Request, found: Response) -> Response:
    status = found.status_code
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        status = HTTPStatus.BAD_REQUEST
    body = json.loads(bytes(found.body))
    return page(
        "error.html",
        request,
        status=status,
        viewer=request.scope["state"]["viewer"],
        title=_WORDS.get(status, body["title"]),
        detail=_WHERE.sub(r"\1: ", body["detail"]),
    )
