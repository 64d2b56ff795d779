"""Connections: who is at the other end of a unix socket, and no one who sends nothing."""

from __future__ import annotations

import asyncio
import socket
import struct
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from schedmate.web.access import UNIX

SLOW_S = 15.0
"""After twice that without a whole request a connection is closed."""
_CREDENTIALS = struct.Struct("3i")


class Connection(H11Protocol):
    """Names the peer's user as the client's port, and gives up on slow requests."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        end = transport.get_extra_info("socket")
        send_at_once(end)
        uid = peer_uid(end)
        if uid is not None:
            self.client, self.server = (UNIX, uid), (UNIX, None)
        self._answered: Any = None
        self._idle_at_last_look = False
        self._timer = self.loop.call_later(SLOW_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """To what is no HTTP, with the headers of every other answer."""
        headers = [
            *self.server_state.default_headers,
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"connection", b"close"),
        ]
        answer = (
            h11.Response(status_code=HTTPStatus.BAD_REQUEST, headers=headers),
            h11.Data(data=msg.encode("ascii", "replace")),
            h11.EndOfMessage(),
        )
        for event in answer:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _look(self) -> None:
        """Idle twice in a row, with the same request before it: nothing whole has come."""
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self._idle_at_last_look and self._answered is self.cycle:
            self.transport.abort()
            return
        self._idle_at_last_look, self._answered = idle, self.cycle
        self._timer = self.loop.call_later(SLOW_S, self._look)


def send_at_once(end: socket.socket | None) -> None:
    """Else the body of an answer waits until its head is acknowledged, 40 ms on Linux.

    asyncio sees to it only for sockets whose protocol is named, which ours is not.
    """
    if end is not None and end.family != socket.AF_UNIX:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def peer_uid(end: socket.socket | None) -> int | None:
    """Of the process at the other end of a unix socket."""
    if end is None or end.family != socket.AF_UNIX:
        return None
    raw = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(raw)
    return int(uid)
