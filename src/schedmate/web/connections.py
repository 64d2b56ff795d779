"""Connections: who is at the other end of a unix socket, and no one who sends nothing."""

from __future__ import annotations

import asyncio
import socket
import struct
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_local_addr, get_remote_addr

from schedmate.web.access import UNIX

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

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
        self._is_made, self._early = False, bytearray()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._is_made = True
        end = transport.get_extra_info("socket")
        send_at_once(end)
        uid = peer_uid(end)
        if uid is not None:
            self.client, self.server = (UNIX, uid), (UNIX, None)
        self._wait()
        if self._early:
            super().data_received(bytes(self._early))

    def data_received(self, data: bytes) -> None:
        """What comes with the end of a handshake comes before the connection is made."""
        if self._is_made:
            super().data_received(data)
        else:
            self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._is_made:
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


class Handshake(asyncio.Protocol):
    """A connection before TLS: it waits as one before its request does, with the same bounds."""

    def __init__(
        self, waiting: WaitingConnections, tls: ssl.SSLContext, connect: Callable[[], Connection]
    ) -> None:
        self._waiting, self._tls, self._connect = waiting, tls, connect
        self.client: tuple[str, int] | None = None
        self.server: tuple[str, int | None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        transport.pause_reading()  # what comes is for TLS
        self._transport = transport
        self.client, self.server = get_remote_addr(transport), get_local_addr(transport)
        self._waiting.enter(self)
        self._task = asyncio.get_running_loop().create_task(self._shake_hands())

    def give_up(self) -> None:
        self._transport.abort()

    async def _shake_hands(self) -> None:
        connection = self._connect()
        try:
            secured = await asyncio.get_running_loop().start_tls(
                self._transport,
                connection,
                self._tls,
                server_side=True,
                ssl_handshake_timeout=HEAD_WITHIN_S,
            )
        except OSError:  # it is no TLS, came too late, or was given up
            self._transport.abort()
            return
        finally:
            self._waiting.leave(self)
        if secured is not None:
            connection.connection_made(secured)


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
