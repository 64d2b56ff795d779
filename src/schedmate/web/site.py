"""What all routes read from: the store, the board of the listed jobs, and who may see what."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.model import NotFound, SchedMateError
from schedmate.model.job import array_of
from schedmate.model.legible import short_name
from schedmate.model.masking import masked
from schedmate.model.rare_warning import RareWarning
from schedmate.service.daemon.process import MemoryTrim
from schedmate.service.records.nodes import NodeKnowledge
from schedmate.service.usecases.audit import record_act, record_failed_sign_in
from schedmate.service.usecases.tokens import TokenCheck
from schedmate.service.views.board import Board, all_known_of, known_of, seen_by
from schedmate.service.views.explanations import Explanations
from schedmate.service.views.job_view import masked_for
from schedmate.service.views.parts import Parts, parts_of
from schedmate.service.views.queue_order import QueueOrder, queue_place
from schedmate.service.views.sentences import why_sentence
from schedmate.service.visibility import owners_in
from schedmate.service.wiring import objections, open_scheduler
from schedmate.web.access import Access, LocalAccounts
from schedmate.web.buckets import Buckets
from schedmate.web.sign_ins import FailedSignIns
from schedmate.web.wording import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.config import Settings
    from schedmate.model import Job, JobId, PastRun
    from schedmate.service.views.job_view import JobView
    from schedmate.service.visibility import Viewer
    from schedmate.store import Store

_log = logging.getLogger("schedmate.web")
_REFRESH_S = 1.0
_STALE_S = 30.0
_MOST_OWNERS = 20_000
_MOST_MASKED = 5000
_MOST_PAST = 500
Listener = Callable[[list["JobId"]], None]


@dataclass(slots=True)
class Site:
    settings: Settings
    store: Store
    board: Board
    access: Access
    nodes: NodeKnowledge
    explanations: Explanations
    started_at: float = field(default_factory=time.time)
    listeners: list[Listener] = field(default_factory=list)
    """Called, in the thread that refreshes, with the jobs that have changed."""
    notifications: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By channel and outcome, since the start."""
    loading: bool = True
    """Until the board was first read: what is on it by then is nothing new."""
    looked_at: float | None = None
    """When the daemon last saw the scheduler."""
    standing_by: bool = False
    """Another daemon of this store decides."""
    stale_after_s: float = 300.0
    _owners: dict[JobId, str] = field(default_factory=dict)
    sign_ins: FailedSignIns = field(init=False)
    tests: Buckets = field(default_factory=lambda: Buckets(rate=1 / 600, size=5))
    """Test messages, by user."""
    _masked: dict[JobId, tuple[JobView, JobView]] = field(default_factory=dict)
    """Views as operators see them, which cost a look at every text: of each the newest."""
    _refreshing: threading.Lock = field(default_factory=threading.Lock)
    _memory: MemoryTrim = field(default_factory=MemoryTrim)
    warn_of_store: RareWarning = field(
        default_factory=lambda: RareWarning(_log, "a request was not answered: %s")
    )
    _warn_of_age: RareWarning = field(
        default_factory=lambda: RareWarning(_log, "the pages show what was known before: %s")
    )

    def __post_init__(self) -> None:
        self.sign_ins = FailedSignIns(
            lambda address, what, user: record_failed_sign_in(self.store, address, what, user=user)
        )

    @classmethod
    def of(cls, settings: Settings, store: Store) -> Site:
        access = Access(
            local=LocalAccounts(operators=settings.operators),
            settings=settings.web,
            token=TokenCheck(store),
        )
        scheduler = open_scheduler(settings)
        nodes = NodeKnowledge(scheduler, store)
        return cls(
            settings=settings,
            store=store,
            board=Board(store),
            access=access,
            nodes=nodes,
            explanations=Explanations(scheduler, nodes),
        )

    def job(self, job_id: JobId, viewer: Viewer) -> JobView:
        """One job, from history when the scheduler has forgotten it.

        A task or a part that is not listed by itself is shown by the job that holds it, an array
        whose tasks are listed one by one by the first of them.
        """
        job_id = self.store.called(job_id)
        view = self.board.view(job_id) or self._in_history(job_id) or self._holding(job_id)
        if view is None:
            tasks = self._tasks(job_id)
            if not tasks:
                raise NotFound(f"neither the queue nor the history knows a job {job_id}")
            view = self.board.view(parts_of(job_id, tasks)[0].shown)
        if view is None:  # it has ended this very moment
            raise NotFound(f"neither the queue nor the history knows a job {job_id}")
        seen = self.seen_by(viewer, self.explanations.of(view, time.time()))
        return _with_short_name(masked_for(viewer, seen))

    def views(self, viewer: Viewer, reason: str = "") -> list[JobView]:
        """What is listed, in the order of the queue.

        With `reason` also past jobs that died of it and that the viewer may read.
        """
        listed = self.board.views()
        if not reason:
            return listed
        runs = self.past_runs(viewer, reason=reason, limit=_MOST_PAST)
        known = {view.job.id for view in listed}
        past = {run.job.id: run.job for run in runs if run.job.id not in known}
        views = [*listed, *all_known_of(list(past.values()), self.store).values()]
        return sorted(views, key=lambda view: queue_place(view.job))

    def past_runs(
        self, viewer: Viewer, *, user: str = "", reason: str = "", limit: int, offset: int = 0
    ) -> Sequence[PastRun]:
        """The newest first; by what it died of each viewer finds only what they may read."""
        if reason and not viewer.operator:
            if not viewer.user or user not in ("", viewer.user):
                return ()
            user = viewer.user
        return self.store.page_of_runs(
            user=user or None, reason=reason or None, limit=limit, offset=offset
        )

    def why(self, view: JobView, queue: QueueOrder | None = None) -> str:
        """Why a job waits, goes on or failed; the same sentence on every page and in the API."""
        now, objection = time.time(), objections(self.settings)(view.job)
        order = QueueOrder(self.board.jobs(), now) if queue is None else queue
        return why_sentence(view, order, now, in_words, objection=objection)

    def past_run(self, job_id: JobId) -> PastRun:
        run = self.store.run(job_id)
        if run is None:
            raise NotFound(f"the history has no job {job_id}")
        return run

    def parts(self, job_id: JobId) -> tuple[Parts, ...]:
        """The tasks of an array by their states; empty for any other job."""
        if not job_id.isdecimal():
            return ()
        whole = self.board.view(job_id)
        if whole is not None and whole.job.tasks == 1:
            return ()
        tasks = self._tasks(job_id)
        return parts_of(job_id, tasks if whole is None else [whole.job, *tasks]) if tasks else ()

    def _tasks(self, array: JobId) -> list[Job]:
        return [job for job in self.board.jobs() if array_of(job.id) == array]

    def _in_history(self, job_id: JobId) -> JobView | None:
        run = self.store.run(job_id)
        return None if run is None else known_of(run.job, self.store)

    def _holding(self, job_id: JobId) -> JobView | None:
        """`12` for `12_3` as long as its tasks wait together, and for its part `12+1`."""
        array, first = array_of(job_id), job_id.partition("+")[0]
        if array is not None:
            view = self.board.view(array)
            return view if view is not None and view.job.tasks > 1 else None
        view = self.board.view(first) if first != job_id else None
        return view if view is not None and job_id in view.job.components else None

    def is_stale(self, now: float) -> bool:
        """Three looks of a polite daemon without an answer: what is shown may be old."""
        age = self.look_age_s(now)
        return age is not None and age > max(_STALE_S, 3 * self.settings.slurm.poll_s)

    def looked(self, at: float) -> None:
        self.looked_at, self.standing_by = at, False

    def stands_by(self) -> None:
        self.standing_by = True

    def look_age_s(self, now: float) -> float | None:
        return None if self.looked_at is None else now - self.looked_at

    def seen_by(self, viewer: Viewer, view: JobView) -> JobView:
        """What the viewer has a right to see; for finding jobs by it."""
        return seen_by(viewer, view, self._owner_of)

    def _owner_of(self, job_id: JobId) -> str:
        """Of a past job, which never changes; one that is not known may become known."""
        owner = self._owners.get(job_id) or owners_in(self.store)(job_id)
        if owner:
            if len(self._owners) >= _MOST_OWNERS:
                self._owners.clear()
            self._owners[job_id] = owner
        return owner

    def shown_to(self, viewer: Viewer, view: JobView) -> JobView:
        """The same as it leaves the daemon: secrets of another user's job are masked."""
        seen = self.seen_by(viewer, view)
        if not viewer.operator or viewer.user == view.job.user:
            return _with_short_name(seen)
        known = self._masked.get(view.job.id)
        if known is None or known[0] is not seen:
            while len(self._masked) >= _MOST_MASKED:
                self._masked.pop(next(iter(self._masked), ""), None)
            known = self._masked[view.job.id] = (seen, _with_short_name(masked(seen)))
        return known[1]

    def record(self, viewer: Viewer, action: str, about: str, detail: str = "") -> None:
        """In the audit trail."""
        record_act(self.store, action, about, detail, user=viewer.user)

    def refresh(self) -> None:
        """One at a time: no change is announced twice."""
        with self._refreshing:
            changed = self.board.refresh()
            if changed:
                self._forget_masked()
                for job_id in changed:  # its number may be another job's now
                    self._owners.pop(job_id, None)
                for announce in list(self.listeners):
                    announce(changed)
            self.loading = False

    def _forget_masked(self) -> None:
        """Of jobs that are no longer in the queue: their views are large."""
        for job_id in list(self._masked):
            if self.board.view(job_id) is None:
                self._masked.pop(job_id, None)

    def begin(self) -> None:
        """Before the first request: what the store knows is shown until the scheduler was seen."""
        self._try_to_refresh()

    def keep_fresh(self, stop: threading.Event) -> None:
        """Until `stop`; a store that cannot be read for a while is read again."""
        while not stop.wait(_REFRESH_S):
            self._try_to_refresh()
            self._memory.consider()

    def _try_to_refresh(self) -> None:
        try:
            self.refresh()
        except SchedMateError as error:
            self._warn_of_age(error)


def _with_short_name(view: JobView) -> JobView:
    name = short_name(view.job.name)
    return view if name == view.job.name else replace(view, job=replace(view.job, name=name))
