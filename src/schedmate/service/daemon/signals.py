"""What a service manager and the daemon exchange: signals in, notifications out."""

from __future__ import annotations

import os
import select
import signal
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_BYTES = 4096


class Signals:
    """SIGTERM and SIGINT end the daemon after its look, SIGHUP makes it read its settings again.

    A handler only sets a flag and writes to a pipe: it may interrupt whoever holds a lock.
    """

    def __init__(self) -> None:
        self.stopping = False
        self.rereading = False
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def stop(self) -> None:
        self.stopping = True
        self._wake()

    def reread(self) -> None:
        self.rereading = True
        self._wake()

    def wait(self, seconds: float) -> None:
        """Until one arrives, at most so long."""
        if select.select([self._read], [], [], seconds)[0]:
            os.read(self._read, _MOST_BYTES)

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # full: it wakes up anyway
            os.write(self._write, b"x")


@contextmanager
def handled_signals() -> Iterator[Signals]:
    """Those that arrive within."""
    signals = Signals()
    before = {
        number: signal.signal(number, lambda *_, act=act: act())
        for number, act in (
            (signal.SIGTERM, signals.stop),
            (signal.SIGINT, signals.stop),
            (signal.SIGHUP, signals.reread),
        )
    }
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signals.close()


def notify(state: str) -> None:
    """Tell the service manager, where there is one: see sd_notify(3)."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):  # in the abstract namespace
        address = f"\0{address[1:]}"
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.settimeout(1.0)
        channel.sendto(state.encode(), address)
