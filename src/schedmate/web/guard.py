"""What a request passes before any route: host, rate, identity, origin, size and time.

Plain ASGI, so that streams pass through. A route gets the viewer that was found here; who is not
recognised gets 401 everywhere, but for the questions of health and the files of the pages' design.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
from collections import Counter
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from schedmate.model import StoreError
from schedmate.web.access import STRANGER, network_of
from schedmate.web.buckets import Buckets
from schedmate.web.error_page import refusal
from schedmate.web.problems import STORE_FAILED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from schedmate.service.visibility import Viewer
    from schedmate.web.access import Access
    from schedmate.web.sign_ins import FailedSignIns

OPEN = frozenset({"/healthz", "/readyz"})
"""Paths that show nothing of any job, for those that watch the service, by any name of it."""
_METRICS = "/metrics"
STATIC = "/static/"
"""Files of the package that everyone has: a page that refuses needs its style."""
MOST_BYTES = 2_000_000
"""Of a request's body."""
BODY_WITHIN_S = 20.0
MOST_AT_ONCE = 32
"""Requests of one user: fewer than there are threads to answer them."""
_STREAM = "/api/v1/events"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.%]+)\]|(?P<name>[^\s\[\]:/?#@]+))(?::[0-9]{0,5})?")
_OTHER_NAME = "this server has another name; an operator can add this one to web.names"
_BURST_S = 10.0
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


class Gate:
    """Lets a request in with its viewer, or answers it."""

    def __init__(
        self,
        app: ASGIApp,
        access: Callable[[], Access],
        *,
        rate: float,
        names: Sequence[str],
        sign_ins: FailedSignIns,
        warn_of_store: Callable[[StoreError], None],
    ) -> None:
        self._app, self._access = app, access
        self._names = frozenset((*_LOOPBACK_NAMES, *(name.lower() for name in names)))
        self._asked = Buckets(rate, _BURST_S * rate)
        self._failed = Buckets(_FAILURES_A_SECOND, 60 * _FAILURES_A_SECOND)
        self._sign_ins, self._warn_of_store = sign_ins, warn_of_store
        self._inside: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers, viewer = Headers(scope=scope), STRANGER
        scope.setdefault("state", {})["viewer"] = viewer
        if not self._is_for_us(scope["path"], headers):
            refused = refusal(scope, HTTPStatus.BAD_REQUEST, _OTHER_NAME)
            await refused(scope, receive, send)
            return
        if not is_open(scope["path"]):
            try:
                viewer = await run_in_threadpool(self._recognised, scope, headers)
            except StoreError as error:
                self._warn_of_store(error)
                unknown = refusal(scope, HTTPStatus.SERVICE_UNAVAILABLE, STORE_FAILED)
                await unknown(scope, receive, send)
                return
        scope["state"]["viewer"] = viewer
        answer = self._refused(scope, headers, viewer)
        if answer is not None:
            if viewer.user:
                await _pass_over(receive)
            await answer(scope, receive, send)
            return
        await self._let_in(viewer.user or _address(scope), scope, receive, send)

    def _is_for_us(self, path: str, headers: Headers) -> bool:
        """A hostile page may resolve its own name to this machine, in the viewer's browser.

        It cannot do so with an address, nor can it send a token.
        """
        name = _host_name(headers.get("host", ""))
        if name in self._names or path in OPEN:
            return True
        return path == _METRICS and (_is_address(name) or "authorization" in headers)

    async def _let_in(self, user: str, scope: Scope, receive: Receive, send: Send) -> None:
        """A few at once of one user; streams of events have a bound of their own."""
        counted = scope["path"] != _STREAM
        if counted and self._inside[user] >= MOST_AT_ONCE:
            detail = f"{MOST_AT_ONCE} requests of yours are being answered; ask fewer at once"
            refused = refusal(scope, HTTPStatus.TOO_MANY_REQUESTS, detail, **{"Retry-After": "1"})
            await refused(scope, receive, send)
            return
        self._inside[user] += counted
        try:
            await self._app(scope, _Body(receive).receive, send)
        finally:
            self._inside[user] -= counted
            if not self._inside[user]:
                del self._inside[user]

    def _recognised(self, scope: Scope, headers: Headers) -> Viewer:
        access, client, server = self._access(), scope.get("client"), scope.get("server")
        viewer = access.viewer(client, server, headers)
        if not viewer.user and headers.get("authorization"):
            self._sign_ins.note(
                client, lambda: access.local.viewer(client, server).user, time.monotonic()
            )
        return viewer

    def _refused(self, scope: Scope, headers: Headers, viewer: Viewer) -> ASGIApp | None:
        now = time.monotonic()
        address = _address(scope)
        if not viewer.user and not is_open(scope["path"]):
            if not self._failed.take(address, now):
                return refusal(
                    scope,
                    HTTPStatus.TOO_MANY_REQUESTS,
                    "too many attempts; wait a minute",
                    **{"Retry-After": "60"},
                )
            return refusal(
                scope,
                HTTPStatus.UNAUTHORIZED,
                "it is not known who asks; send a valid token",
                **SIGN_IN,
            )
        if not self._asked.take(viewer.user or address, now):
            return refusal(
                scope,
                HTTPStatus.TOO_MANY_REQUESTS,
                "too many requests; ask less often",
                **{"Retry-After": "1"},
            )
        if scope["method"] not in _SAFE and origin_of(headers) == "other":
            return refusal(
                scope, HTTPStatus.FORBIDDEN, "this request comes from a page of another site"
            )
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:18]) > MOST_BYTES:
            return refusal(
                scope, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has {MOST_BYTES} bytes at most"
            )
        return None


def _address(scope: Scope) -> str:
    """Of one who is not recognised; all of a unix socket are."""
    return network_of(str((scope.get("client") or ("", 0))[0]))


def is_open(path: str) -> bool:
    return path in OPEN or path.startswith(STATIC)


def origin_of(headers: Headers) -> Literal["own", "other", "unstated"]:
    """Of which page a browser sends a request; programs state none."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        named: dict[str, Literal["own", "unstated"]] = {"same-origin": "own", "none": "unstated"}
        return named.get(site, "other")
    origin = headers.get("origin")
    if origin is None:
        return "unstated"
    return "own" if urlsplit(origin).netloc == headers.get("host", "") else "other"


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


async def _pass_over(receive: Receive) -> None:
    """A browser that is still sending reads no answer: what is not far too long is taken first."""
    body = _Body(receive)
    with suppress(HTTPException):
        while (await body.receive()).get("more_body"):
            pass


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _host_name(header: str) -> str:
    """`[::1]:8080` and `head:8080` without their ports; empty for what is no host."""
    found = _HOST.fullmatch(header.strip().lower())
    return "" if found is None else found["address"] or found["name"]
