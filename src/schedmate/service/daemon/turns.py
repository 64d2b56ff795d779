"""Several daemons of one PostgreSQL store: one decides, the others stand by.

Beside a store in a file the lock of the state directory is enough, and there is no lease.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedmate.model import LeaseLost, SchedMateError
from schedmate.service.daemon.signals import notify
from schedmate.service.wiring import open_lease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.config import Settings
    from schedmate.service.daemon.signals import Signals
    from schedmate.store import Lease

_log = logging.getLogger("schedmate.serve")
ASK_S = 3.0
"""How often a daemon that stands by looks whether it is its turn."""


@contextmanager
def lease_of(settings: Settings, *, dry: bool = False) -> Iterator[Lease | None]:
    """Given back at the end, so that another daemon need not wait until it runs out."""
    if dry or not settings.store_url:
        yield None
        return
    holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    lease = open_lease(settings, holder)
    try:
        yield lease
    finally:
        lease.release()


def take_turn(lease: Lease | None) -> Lease | None:
    """For a single look: it does not wait."""
    if lease is not None and not lease.take():
        raise SchedMateError(f"the daemon {lease.other_holder()} decides for this store already")
    return lease


def wait_for_turn(
    lease: Lease | None, signals: Signals, stands_by: Callable[[], None] = lambda: None
) -> bool:
    """Whether this daemon decides now; it does not where it was stopped while it waited."""
    if lease is None or lease.take():
        return True
    _log.info("the daemon %s decides; this one stands by", lease.other_holder())
    stands_by()
    while not signals.stopping:
        signals.wait(ASK_S)
        notify("WATCHDOG=1")
        if not signals.stopping and lease.take():
            _log.warning("this daemon takes over")
            return True
    return False


def check_turn(lease: Lease | None) -> None:
    if lease is not None and not lease.held:
        raise LeaseLost(f"the daemon {lease.other_holder()} has taken over")
