"""The loop of the daemon: looks at the scheduler until it is stopped."""

from __future__ import annotations

import logging
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedmate.disk.lock import hold, sign
from schedmate.model import SchedMateError, SchedulerUnreachable
from schedmate.service.wiring import assemble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.config import Settings
    from schedmate.service.daemon import Daemon

_log = logging.getLogger("schedmate.serve")
_LONGEST_PAUSE_S = 300.0


def poll_seconds(settings: Settings) -> float:
    """A local queue is looked at often, a site's scheduler politely."""
    return settings.slurm.poll_s if settings.scheduler == "slurm" else 0.5


def serve(settings: Settings, stop: threading.Event) -> None:
    """Follow the scheduler until `stop` is set."""
    with _alone(settings), assemble(settings) as daemon:
        _follow(daemon, poll_seconds(settings), stop)


def look_once(settings: Settings) -> None:
    """Look once and do what follows from it."""
    with _alone(settings), assemble(settings) as daemon:
        daemon.cycle(time.time())


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """One daemon at a time: a second one would finish what the first is in the midst of."""
    lock = hold(settings.state_dir / "serve.lock")
    if lock is None:
        raise SchedMateError(f"a daemon is serving {settings.state_dir} already")
    with lock:
        sign(lock)
        yield


def _follow(daemon: Daemon, pause_s: float, stop: threading.Event) -> None:
    failures = 0
    while not stop.is_set():
        try:
            daemon.cycle(time.time())
            failures = 0
        except SchedulerUnreachable as error:
            failures += 1
            _log.warning("%s", error)
        except Exception:  # noqa: BLE001 - nothing may end the daemon; the next look may succeed
            failures += 1
            _log.exception("this look failed")
        stop.wait(min(pause_s * 2 ** min(failures, 10), max(pause_s, _LONGEST_PAUSE_S)))


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """An event that SIGTERM and SIGINT set, so that a look is finished before the end."""
    stop = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
