"""What all routes read from: the store, the board of the listed jobs, and who may see what."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedmate.model import NotFound, SchedMateError
from schedmate.service.views.board import Board, known_of, seen_by
from schedmate.service.visibility import owners_in
from schedmate.web.access import LocalAccounts

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.model import JobId
    from schedmate.service.views.job_view import JobView
    from schedmate.service.visibility import Viewer
    from schedmate.store import Store

_log = logging.getLogger("schedmate.web")
_REFRESH_S = 1.0
_STALE_S = 30.0
Listener = Callable[[list["JobId"]], None]


@dataclass(slots=True)
class Site:
    settings: Settings
    store: Store
    board: Board
    access: LocalAccounts
    started_at: float = field(default_factory=time.time)
    listeners: list[Listener] = field(default_factory=list)
    """Called, in the thread that refreshes, with the jobs that have changed."""
    loading: bool = True
    """Until the board was first read: what is on it by then is nothing new."""
    looked_at: float | None = None
    """When the daemon last saw the scheduler."""
    stale_after_s: float = 300.0
    _refreshing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, settings: Settings, store: Store) -> Site:
        access = LocalAccounts(operators=settings.operators)
        return cls(settings=settings, store=store, board=Board(store), access=access)

    def job(self, job_id: JobId, viewer: Viewer) -> JobView:
        """One job, from history when the scheduler has forgotten it."""
        view = self.board.view(job_id)
        if view is None:
            run = self.store.run(job_id)
            if run is None:
                raise NotFound(f"neither the queue nor the history knows a job {job_id}")
            view = known_of(run.job, self.store)
        return self.seen_by(viewer, view)

    def is_stale(self, now: float) -> bool:
        """Three looks of a polite daemon without an answer: what is shown may be old."""
        age = self.look_age_s(now)
        return age is not None and age > max(_STALE_S, 3 * self.settings.slurm.poll_s)

    def looked(self, at: float) -> None:
        self.looked_at = at

    def look_age_s(self, now: float) -> float | None:
        return None if self.looked_at is None else now - self.looked_at

    def seen_by(self, viewer: Viewer, view: JobView) -> JobView:
        return seen_by(viewer, view, owners_in(self.store))

    def refresh(self) -> None:
        """One at a time: no change is announced twice."""
        with self._refreshing:
            changed = self.board.refresh()
            if changed:
                for announce in list(self.listeners):
                    announce(changed)
            self.loading = False

    def keep_fresh(self, stop: threading.Event) -> None:
        """Until `stop`; a store that cannot be read for a while is read again."""
        while not stop.is_set():
            try:
                self.refresh()
            except SchedMateError as error:
                _log.warning("the pages show what was known before: %s", error)
            stop.wait(_REFRESH_S)
