"""Decisions that are shown instead of carried out."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.service.actions import Actions
from schedmate.service.wiring import copy_store_to_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.config import Settings
    from schedmate.model import Action, Mode
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

    OnDecision = Callable[[Action, str | None], None]
    """Gets each new decision and why it would only have been recorded, None where it would have
    been carried out."""


class DryRun(Actions):
    """Asks the scheduler for nothing, in any mode."""

    def __init__(
        self, scheduler: Scheduler, store: Store, mode: Mode, on_decision: OnDecision
    ) -> None:
        super().__init__(scheduler, store, mode)
        self._on_decision = on_decision
        self._decided: set[str] = set()

    def carry_out(self, action: Action, now: float) -> None:
        """Show it, unless it was done before: what was only observed is not done later."""
        if action.key in self._decided:
            return
        self._decided.add(action.key)
        kept = self._store.actions(job_id=action.job_id)
        before = {one.state for one in kept if one.action.key == action.key}
        if not before & {"done", "intended"}:
            recorded = ", as it was before: it is not done later" if before else None
            self._on_decision(action, recorded or self.obstacle(action))
        self._store.intend(action, at=now, state="noted")

    def see_through(self, action: Action, now: float) -> None:
        self.carry_out(action, now)

    def finish_interrupted(self, now: float) -> None:
        """What another daemon has begun is left to it."""


@contextmanager
def copy_of(settings: Settings) -> Iterator[Settings]:
    """With a copy of the store as it is now, for a daemon that must leave no trace in it."""
    directory = Path(tempfile.mkdtemp(prefix="schedmate-dry-run-"))
    copied = replace(settings, state_dir=directory, store_url="")
    try:
        if settings.store_url:
            copy_store_to_file(settings, copied.database)
        elif settings.database.exists():
            with (
                closing(sqlite3.connect(f"file:{settings.database}?mode=ro", uri=True)) as source,
                closing(sqlite3.connect(copied.database)) as target,
            ):
                source.backup(target)
        yield copied
    finally:
        shutil.rmtree(directory, ignore_errors=True)
