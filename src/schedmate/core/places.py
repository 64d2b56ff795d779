"""The order of the queue: which nice number each waiting job should have, over all that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.core.order import Turn, at_nice, next_nice
from schedmate.core.reactions import act, why_ordered
from schedmate.core.scope import Scope, is_opted_out
from schedmate.core.together import ALONE, Batches
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
        self._lifts = limits.scope == Scope() and ordering.longest > 0

    def clear(self) -> None:
        self._batches = Batches()

    def forget(self, job_id: JobId) -> None:
        self._batches.forget(job_id)

    def due(self, known: KnownJob) -> float | None:
        """When a waiting job will have been overtaken for long enough."""
        return self._limits.fairness.due(known.job, known.prediction, known.waited_s)

    def order(self, known: KnownJob, at: float, *, shown: bool = True) -> list[Instruction]:
        """Give a job that waits its nice number, as soon as it can have one, and take it back."""
        job, due = known.job, self.due(known)
        candidate = Candidate(job, known.prediction, cautious=is_opted_out(job))
        cost = self._ordering.cost(candidate)
        longest = self._ordering.longest
        share = ALONE if cost is None else self._batches.share_of(job, min(cost, longest))
        if known.reverted:
            return []
        if known.read and due is not None and at >= due:
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
        reason = why_ordered(known, number, self._ordering.name, self._limits, share.jobs)
        return [act("set_nice", job, reason, value=number.nice, provisional=provisional)]
