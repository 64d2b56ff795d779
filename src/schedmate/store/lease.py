"""Which of several daemons decides: the one that holds the lease, by the database's clock."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from schedmate.model import LeaseLost, SchedMateError
from schedmate.model.rare_warning import RareWarning

if TYPE_CHECKING:
    from schedmate.store.database import Database

LEASE_S = 20.0
"""A daemon that died is followed by another one after so long."""
_RENEW_S = 5.0
_log = logging.getLogger("schedmate.lease")


class DatabaseLease:
    """Fulfils `Lease`, for one scheduler's jobs: renewed beside what the daemon does meanwhile."""

    def __init__(self, db: Database, scheduler: str, holder: str) -> None:
        self._db, self._scheduler, self.holder = db, scheduler, holder
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._warn = RareWarning(_log, "the lease could not be renewed: %s")
        self.held = False

    def take(self) -> bool:
        """Where it is free, has run out or is ours already."""
        changed = self._db.run(
            "INSERT INTO leases VALUES (?, ?, clock_timestamp() + ? * interval '1 second')"
            " ON CONFLICT (scheduler) DO UPDATE SET holder = excluded.holder,"
            " until = excluded.until"
            " WHERE leases.until < clock_timestamp() OR leases.holder = excluded.holder",
            (self._scheduler, self.holder, LEASE_S),
        )
        self.held = changed == 1
        if self.held and not (self._thread and self._thread.is_alive()):
            self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)
            self._thread.start()
        return self.held

    def other_holder(self) -> str:
        row = self._db.one("SELECT holder FROM leases WHERE scheduler = ?", (self._scheduler,))
        return "" if row is None else str(row[0])

    def release(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self.held = False
        try:
            self._db.run(
                "DELETE FROM leases WHERE scheduler = ? AND holder = ?",
                (self._scheduler, self.holder),
            )
        except SchedMateError as error:  # it runs out by itself
            _log.warning("%s", error)
        finally:
            self._db.close()

    def _renew(self) -> None:
        while not self._ended.wait(_RENEW_S):
            try:
                if not self.take():
                    return
            except SchedMateError as error:  # the next attempt may come in time
                self._warn(error)


def check_lease(db: Database, scheduler: str, holder: str) -> None:
    """Within a transaction: the row stays locked, so that the lease is ours until it ends."""
    ours = db.run(
        "UPDATE leases SET holder = holder"
        " WHERE scheduler = ? AND holder = ? AND until > clock_timestamp()",
        (scheduler, holder),
    )
    if ours == 0:
        raise LeaseLost("another daemon may have taken over: this one decides nothing")
