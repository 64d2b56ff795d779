"""What a request passes before any route: host, rate, identity, origin, size and time.

Plain ASGI, so that streams pass through. A route gets the viewer that was found here; whoever is
not recognised gets 401 everywhere, but for the questions of health.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from schedmate.web.access import STRANGER
from schedmate.web.problems import problem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from schedmate.service.visibility import Viewer
    from schedmate.web.access import Access

OPEN = frozenset({"/healthz", "/readyz"})
"""Paths that show nothing of any job, for who watches over the service."""
MOST_BYTES = 2_000_000
"""Of a request's body."""
BODY_WITHIN_S = 20.0
_STREAM = "/api/v1/events"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_BURST_S = 10.0
_MOST_BUCKETS = 10_000
_FAILURES_A_SECOND = 2.0
SIGN_IN = {"WWW-Authenticate": 'Bearer, Basic realm="SchedMate", charset="UTF-8"'}


class HeadAsGet:
    """HEAD is answered as GET is, without the body. A stream has no end to wait for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"] == _STREAM:
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, without_body)


@dataclass(slots=True)
class Buckets:
    """How much each name may still ask for; tokens drip in at `rate` a second."""

    rate: float
    size: float
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, name: str, now: float) -> bool:
        left, at = self._left.pop(name, (self.size, now))
        left = min(self.size, left + (now - at) * self.rate)
        allowed = left >= 1
        self._left[name] = (left - 1 if allowed else left, now)
        if len(self._left) > _MOST_BUCKETS:
            self._left.popitem(last=False)
        return allowed


class Gate:
    """Lets a request in with its viewer, or answers it."""

    def __init__(
        self, app: ASGIApp, access: Callable[[], Access], *, rate: float, names: Sequence[str]
    ) -> None:
        self._app, self._access = app, access
        self._names = frozenset((*_LOOPBACK_NAMES, *(name.lower() for name in names)))
        self._asked = Buckets(rate, _BURST_S * rate)
        self._failed = Buckets(_FAILURES_A_SECOND, 60 * _FAILURES_A_SECOND)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        # a hostile page may resolve its own name to this machine: the browser is the viewer's
        if _host_name(headers.get("host", "")) not in self._names:
            await _refuse(HTTPStatus.BAD_REQUEST, "this server has another name")(
                scope, receive, send
            )
            return
        viewer = STRANGER
        if scope["path"] not in OPEN:
            viewer = await run_in_threadpool(
                self._access().viewer, scope.get("client"), scope.get("server"), headers
            )
        refused = self._refused(scope, headers, viewer)
        if refused is not None:
            await refused(scope, receive, send)
            return
        scope.setdefault("state", {})["viewer"] = viewer
        await self._app(scope, _Body(receive).receive, send)

    def _refused(self, scope: Scope, headers: Headers, viewer: Viewer) -> ASGIApp | None:
        now, client = time.monotonic(), scope.get("client") or ("", 0)
        if not viewer.user and scope["path"] not in OPEN:
            if not self._failed.take(str(client[0]), now):
                return _refuse(HTTPStatus.TOO_MANY_REQUESTS, "too many attempts; wait a minute")
            return _refuse(
                HTTPStatus.UNAUTHORIZED, "it is not known who asks; send a valid token", **SIGN_IN
            )
        if not self._asked.take(viewer.user or f"{client[0]}", now):
            return _refuse(
                HTTPStatus.TOO_MANY_REQUESTS,
                "too many requests; ask less often",
                **{"Retry-After": "1"},
            )
        if scope["method"] not in _SAFE and is_from_elsewhere(headers):
            return _refuse(HTTPStatus.FORBIDDEN, "a page of another site asks")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:18]) > MOST_BYTES:
            return _refuse(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has {MOST_BYTES} bytes at most"
            )
        return None


def is_from_elsewhere(headers: Headers) -> bool:
    """Whether a browser sends it for a page of another origin; programs send neither header."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host", "")


class _Body:
    """A body that comes in time and is not too long, also where its length is not stated."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._until = time.monotonic() + BODY_WITHIN_S
        self._bytes, self._whole = 0, False

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()
        left = self._until - time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), max(left, 0.0))
        except TimeoutError:
            raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, "the body comes too slowly") from None
        self._bytes += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._bytes > MOST_BYTES:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has {MOST_BYTES} bytes at most"
            )
        return message


def _host_name(header: str) -> str:
    """`[::1]:8080` and `head:8080` without their ports."""
    name, bracket, _ = header.strip().lower().removeprefix("[").partition("]")
    return name if bracket else name.partition(":")[0]


def _refuse(status: HTTPStatus, detail: str, **headers: str) -> ASGIApp:
    answer = problem(status, detail)
    answer.headers.update(headers)
    return answer
