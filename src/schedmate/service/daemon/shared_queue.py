"""Serves the queue of all accounts of this machine, alone or beside the daemon."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedmate.model.errors import BadInput, SchedMateError
from schedmate.service.daemon.log_output import reopen_logs
from schedmate.service.daemon.signals import notify
from schedmate.service.wiring import serve_queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.config import Settings
    from schedmate.service.daemon.signals import Signals

_STOP_S = 20.0
_log = logging.getLogger("schedmate.serve")


def serve_shared_queue(
    settings: Settings, signals: Signals, reread: Callable[[], Settings] | None = None
) -> None:
    """Until a signal ends it; what runs goes on, and so does the next server."""
    if os.geteuid() != 0:
        raise BadInput("only root can serve a queue for all accounts: it runs jobs as their owners")

    def ready() -> None:
        _log.info("all accounts of this machine submit at %s", settings.queue_socket)
        notify("READY=1")

    while not signals.stopping:
        serve_queue(
            settings, goes_on=lambda: not (signals.stopping or signals.rereading), ready=ready
        )
        if signals.rereading:
            signals.rereading = False
            reopen_logs()
            settings = _reread(settings, reread)
    notify("STOPPING=1")


def _reread(settings: Settings, reread: Callable[[], Settings] | None) -> Settings:
    """The settings as they are now; the old ones where the new cannot be used."""
    try:
        return settings if reread is None else reread()
    except SchedMateError as error:
        _log.error("the settings stay as they were: %s", error)
        return settings


@contextmanager
def queue_beside(settings: Settings) -> Iterator[None]:
    """A process of its own, where root's settings ask for a shared queue and none is served."""
    wanted = os.geteuid() == 0 and settings.scheduler == "local" and settings.local.shared is True
    if not wanted or settings.queue_socket.is_socket():
        yield
        return
    server = subprocess.Popen([sys.executable, "-P", "-m", "schedmate", "serve", "--queue"])
    try:
        yield
    finally:
        server.terminate()
        try:
            server.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
