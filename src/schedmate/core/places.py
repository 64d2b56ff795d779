"""The order of the queue: which nice number each waiting job should have, over all that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.core.order import Turn, at_nice, next_nice
from schedmate.core.overtaking import Overtaking
from schedmate.core.reactions import act, why_ordered
from schedmate.core.scope import Scope, is_opted_out
from schedmate.core.together import ALONE, Batches
from schedmate.model import JobState
from schedmate.policies import Candidate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.core.instructions import Instruction
    from schedmate.core.known_job import KnownJob
    from schedmate.core.retry import DecisionLimits
    from schedmate.model import JobId
    from schedmate.policies import Ordering


class Places:
    """Of all jobs in `known`, which the engine keeps."""

    def __init__(
        self, ordering: Ordering, limits: DecisionLimits, known: Mapping[JobId, KnownJob]
    ) -> None:
        self._ordering = ordering
        self._limits = limits
        self._known = known
        self._batches = Batches()
        self._overtaking = Overtaking()
        self._lifts = limits.scope == Scope() and ordering.longest > 0

    def clear(self) -> None:
        self._batches, self._overtaking = Batches(), Overtaking()

    def forget(self, job_id: JobId, at: float) -> None:
        self._batches.forget(job_id)
        self._overtaking.ends(job_id, at)

    def all_late_s(self) -> dict[JobId, float]:
        return self._overtaking.all_late_s()

    def due(self, known: KnownJob) -> float | None:
        """When a waiting job will have been overtaken for long enough."""
        made_way, fairness = known.made_way, self._limits.fairness
        if made_way.stopped_at is not None:
            return made_way.stopped_at + fairness.late_s - made_way.waited_s
        return fairness.due(known.job, known.prediction, known.waited_s)

    def order(self, known: KnownJob, at: float, *, shown: bool = True) -> list[Instruction]:
        """Give a job that waits its nice number, as soon as it can have one, and take it back: also
        of those that are too late because of what is seen of this one."""
        late = [self._known[one] for one in self._count(known, at)]
        found = [*self._order(known, at, shown=shown)]
        for other in late:
            found += self._order(other, at, shown=False) if other is not known else []
        return found

    def _count(self, known: KnownJob, at: float) -> list[JobId]:
        """What it has done to those that wait; who has become too late by that."""
        job, overtaking = known.job, self._overtaking
        if job.state is JobState.PENDING:
            overtaking.waits(job, known.nice.theirs, at)
            return []
        if job.state is JobState.RUNNING:
            left = known.prediction_left
            spread = None if left is None else left.duration_s
            overtaking.starts(job, None if spread is None else spread.p50, at)
        else:
            overtaking.ends(job.id, job.end_time or at)
        return overtaking.beyond(job, self._limits.fairness.late_s)

    def _order(self, known: KnownJob, at: float, *, shown: bool) -> list[Instruction]:
        job, due = known.job, self.due(known)
        candidate = Candidate(job, known.prediction_left, cautious=is_opted_out(job))
        cost = self._ordering.cost(candidate)
        longest = self._ordering.longest
        share = ALONE if cost is None else self._batches.share_of(job, min(cost, longest))
        if known.reverted:
            return []
        late_s = self._overtaking.late_s(job.id)
        held_back = known.made_way.stopped_at is not None
        late_enough = held_back or late_s >= self._limits.fairness.late_s
        is_late = due is not None and at >= due and late_enough
        if known.goes_first or (known.read and is_late):
            known.overtaken_enough = True
        turn = Turn(
            read=known.read,
            overdue=known.overtaken_enough,
            left_alone=self._limits.scope.unordered(job) is not None,
            waited_s=known.waited_s,
            at_submission=self._limits.nice_at_submission,
            shown=shown,
            others_changed=known.nice.raised and known.is_changed_with(self._known.values()),
            lifts=self._lifts,
            together=share.cost,
        )
        changes = known.nice.changes
        number, known.nice = next_nice(self._ordering, candidate, known.nice, turn)
        if known.nice.changes > changes:
            known.nice_changed_at = at
        if number is None:
            return []
        known.job = at_nice(job, number.nice)
        provisional = not known.read and number.code is None
        reason = why_ordered(
            known, number, self._ordering.name, self._limits, together=share.jobs, late_s=late_s
        )
        return [act("set_nice", job, reason, value=number.nice, provisional=provisional)]
