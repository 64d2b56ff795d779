"""Connections: who is at the other end of a unix socket, and no one who sends nothing."""

from __future__ import annotations

import asyncio
import socket
import struct
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from schedmate.web.access import UNIX

if TYPE_CHECKING:
    from schedmate.web.waiting import WaitingConnections

HEAD_WITHIN_S = 10.0
"""A connection is closed on which no whole head of a request comes for so long."""
_CREDENTIALS = struct.Struct("3i")


class Connection(H11Protocol):
    """Names the peer's user as the client's port, and gives up on slow requests."""

    def __init__(self, waiting: WaitingConnections, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting = waiting
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        end = transport.get_extra_info("socket")
        send_at_once(end)
        uid = peer_uid(end)
        if uid is not None:
            self.client, self.server = (UNIX, uid), (UNIX, None)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if self._is_answering:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._is_answering and not self.transport.is_closing():
            self._wait()

    def give_up(self) -> None:
        self.transport.abort()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(HEAD_WITHIN_S, self.give_up)
        self._waiting.enter(self)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
            self._waiting.leave(self)

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
