"""The process that serves a shared queue: answers every account, and carries the queue out."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.disk.lock import hold, sign
from schedmate.model import SchedMateError, SchedulerError
from schedmate.schedulers.local import LocalScheduler
from schedmate.schedulers.local.daemon import LocalDaemon
from schedmate.schedulers.local.layout import Layout
from schedmate.schedulers.local.wakeup import WakeUp, wake
from schedmate.schedulers.shared.requests import SharedRequests
from schedmate.schedulers.shared.server import QueueServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from schedmate.config import LocalSettings

_log = logging.getLogger("schedmate.shared")


class _ServedQueue(LocalScheduler):
    """Its daemon is this process: a change wakes it."""

    def __init__(self, layout: Layout, settings: LocalSettings) -> None:
        super().__init__(layout.root, settings, spool=layout.spool)

    def ensure_running(self) -> None:
        wake(self._layout.wake)


def layout_below(base: Path) -> Layout:
    """What root alone may see is apart from what owners of jobs pass through."""
    return Layout(base / "queue", base / "spool")


def serve_queue(
    base: Path,
    socket: Path,
    settings: LocalSettings,
    *,
    operators: Iterable[str],
    goes_on: Callable[[], bool],
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Until `goes_on` denies it; what runs goes on without us."""
    base.mkdir(mode=0o711, parents=True, exist_ok=True)
    layout = layout_below(base)
    lock = hold(layout.lock)
    if lock is None:
        raise SchedulerError(f"another process serves the queue in {base}")
    with lock:
        sign(lock)
        queue, daemon = _ServedQueue(layout, settings), LocalDaemon(layout, settings)
        wakeup = WakeUp(layout.wake)
        server = QueueServer(socket, SharedRequests(queue, operators).answer)
        server.open()
        try:
            ready()
            while goes_on():
                try:
                    daemon.cycle(time.time())
                except (OSError, SchedMateError):
                    _log.exception("this cycle failed; the next one may not")
                wakeup.wait(min(settings.poll_s, daemon.due_in(time.time())))
        finally:
            server.close()
            wakeup.close()
