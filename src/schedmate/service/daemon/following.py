"""What runs tell the decision engine: how far they are, what they saved, whether they resume."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.core import ProgressSeen
from schedmate.service.daemon.checkpoint_watch import CheckpointWatch
from schedmate.service.daemon.progress_filter import ProgressFilter
from schedmate.service.daemon.resuming import ResumeProofs
from schedmate.service.daemon.watching import LogWatcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.core import DecisionEngine, Event
    from schedmate.model import Job, JobId
    from schedmate.service.daemon.gpu_sharing import GpuSharing
    from schedmate.service.daemon.pattern_learning import PatternLearning
    from schedmate.store import Store


class RunFollower:
    """`interactive` says of which jobs a silence means nothing, and which are never stopped."""

    def __init__(
        self,
        engine: DecisionEngine,
        store: Store,
        learning: PatternLearning,
        interactive: Callable[[Job], bool],
        sharing: GpuSharing,
    ) -> None:
        def may_make_way(job: Job) -> bool:
            return engine.may_make_way(job) and not interactive(job)

        self.logs = LogWatcher(store, learning, interactive, CheckpointWatch(may_make_way))
        self._filter = ProgressFilter(engine.hang_after_s)
        self._codes, self._sharing = sharing.codes, sharing
        self._proofs = ResumeProofs(engine, store, may_make_way, sharing.codes)

    def events(self, now: float) -> Iterator[Event]:
        self._codes.begin_poll()
        polled = self.logs.look(now)
        for job_id, progress in polled:
            if self._filter.is_new(job_id, progress, now):
                yield ProgressSeen(now, job_id, progress)
        self._proofs.note(polled)
        yield from self._proofs.news(now)
        yield from self._sharing.news(polled, now)
        yield from self.logs.saved

    def ended(self, job: Job) -> None:
        """Its run is in the history now."""
        self.logs.leave_for_next(job)
        self._proofs.ended(job)
        self._sharing.ended(job)

    def forget(self, job_id: JobId) -> None:
        """Tell all about it again, should it be seen once more."""
        self._filter.forget(job_id)
        self._proofs.forget(job_id)
        self._sharing.forget(job_id)
        self._codes.forget(job_id)
