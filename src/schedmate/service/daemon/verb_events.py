"""What verbs have left for the daemon: a corrected diagnosis, a revert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.core import JobReverted, job_of
from schedmate.service.records.event_log import opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.core import DecisionEngine, Event
    from schedmate.service.actions import Actions
    from schedmate.store import KeptEvent, Store


class VerbEvents:
    def __init__(
        self, store: Store, engine: DecisionEngine, actions: Actions, send: Callable[[Event], None]
    ) -> None:
        self._store = store
        self._engine = engine
        self._actions = actions
        self._send = send

    def send_reverts(self) -> None:
        """Before their jobs are seen: what a revert has changed is not an act of their owners."""
        for row in self._store.unhandled_events():
            if row.kind == JobReverted.__name__ and row.job_id in self._engine.known:
                self._send_one(row)

    def send_all(self) -> None:
        """After all jobs were seen: what follows from a diagnosis depends on how they are."""
        for row in self._store.unhandled_events():
            self._send_one(row)

    def _send_one(self, row: KeptEvent) -> None:
        event = opened(row)
        if job_of(event) in self._engine.known:
            self._send(event)
            if isinstance(event, JobReverted):
                self._actions.withdraw_number(event.job_id, event.at)
        self._store.mark_handled(row.id)
