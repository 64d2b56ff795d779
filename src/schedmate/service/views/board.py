"""All listed jobs with what is known of them, in memory, for many who look at once."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model.job import whole_of
from schedmate.service.records.lateness import all_lateness
from schedmate.service.views.job_view import JobView, retry_outcome
from schedmate.service.views.queue_order import queue_place
from schedmate.service.visibility import with_masked_comment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.model import Job, JobId
    from schedmate.service.visibility import Viewer
    from schedmate.store import Store, StoredFacts

_PAGE = 1000


class Board:
    """Reads what has changed in the store, and nothing twice.

    Its views are an operator's: `seen_by` leaves out of one what a viewer may not see.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._views: dict[JobId, JobView] | None = None
        self._ordered: list[JobView] | None = None
        self.version = 0
        """The number of the newest change that it shows."""

    def refresh(self) -> list[JobId]:
        """The jobs that have changed since the last call, the newest change last."""
        if self._views is None:
            return self._load()
        changed: list[JobId] = []
        while page := self._store.changes(after=self.version, limit=_PAGE):
            found = self._read([one.job_id for one in page])
            with self._lock:
                for job_id, view in found.items():
                    if view is None:
                        self._views.pop(job_id, None)
                    else:
                        self._views[job_id] = view
                self.version, self._ordered = page[-1].number, None
            changed += found
        return changed

    def _load(self) -> list[JobId]:
        """At first all that are listed; what changes meanwhile is read again."""
        newest = self._store.newest_change()
        found = all_known_of(self._store.listed_jobs(), self._store)
        with self._lock:
            self._views, self.version, self._ordered = found, newest, None
        return list(found)

    def views(self) -> list[JobView]:
        """In the order of the queue, sorted once for all who ask between two changes."""
        with self._lock:
            if self._ordered is None:
                views = (self._views or {}).values()
                self._ordered = sorted(views, key=lambda view: queue_place(view.job))
            return list(self._ordered)

    def view(self, job_id: JobId) -> JobView | None:
        with self._lock:
            return (self._views or {}).get(job_id)

    def jobs(self) -> list[Job]:
        return [view.job for view in self.views()]

    def _read(self, job_ids: list[JobId]) -> dict[JobId, JobView | None]:
        """None of those that are no longer listed."""
        views = all_known_of(self._store.listed_jobs(job_ids), self._store)
        return {job_id: views.get(job_id) for job_id in job_ids}


def known_of(job: Job, store: Store) -> JobView:
    """One job with all that the store has about it; no log is read for it."""
    return all_known_of([job], store)[job.id]


def all_known_of(jobs: Sequence[Job], store: Store) -> dict[JobId, JobView]:
    """Many at once, in as many statements as one takes."""
    wholes = {whole_of(job.id) for job in jobs}
    facts = store.job_facts(sorted({*wholes, *(job.id for job in jobs)}))
    late = all_lateness(store)
    views = (_view(job, facts[job.id], facts[whole_of(job.id)]) for job in jobs)
    return {view.job.id: replace(view, late_s=late.get(view.job.id)) for view in views}


def _view(job: Job, own: StoredFacts, whole: StoredFacts) -> JobView:
    """A task or a part is advised with its whole, and a part is acted upon with it."""
    current = own.attempt == job.restarts
    actions = whole.actions if "+" in job.id else own.actions
    return JobView(
        job=with_masked_comment(job),
        advice=whole.advice if own.advice is None else own.advice,
        progress=own.progress if current else None,
        progress_at=own.progress_at if current else None,
        diagnoses=own.diagnoses,
        actions=actions,
        retry=retry_outcome(job, own.diagnoses, actions),
    )


def seen_by(viewer: Viewer, view: JobView, owner_of: Callable[[JobId], str]) -> JobView:
    """What of it this viewer may see."""
    if viewer.operator:
        return view
    owner, job = view.job.user, viewer.job(view.job)
    advice = None if view.advice is None else viewer.advice(view.advice, owner, owner_of)
    if viewer.may_read(owner):
        suspects = tuple(map(viewer.suspicion, view.suspects))
        return replace(view, job=job, advice=advice, suspects=suspects)
    progress = None if view.progress is None else viewer.progress(view.progress, owner)
    at = view.progress_at
    return JobView(job=job, advice=advice, progress=progress, progress_at=at, diagnoses={})


def all_seen_by(
    viewer: Viewer, views: Sequence[JobView], owner_of: Callable[[JobId], str]
) -> list[JobView]:
    return [seen_by(viewer, view, owner_of) for view in views]
