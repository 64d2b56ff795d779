"""A waiting job's nice number: whose number it has, and which one it should have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedmate.model import ActionRecord, Job, JobState
from schedmate.policies import Candidate, Ordering, nice_of


@dataclass(frozen=True, slots=True)
class NiceHistory:
    """What the records of decisions show of the nice numbers that we gave a job."""

    ours: frozenset[int] = frozenset({0})
    """What its number is unless somebody else has set it."""
    ordered: bool = False
    settled: bool = False
    """It has its number for good, or was refused one."""

    @classmethod
    def of(cls, records: Iterable[ActionRecord], attempt: int) -> NiceHistory:
        """From all records of a job that is in this attempt."""
        history = cls()
        for record in records:
            if record.action.kind == "set_nice":
                history = history._and(record, attempt)
        return history

    def _and(self, record: ActionRecord, attempt: int) -> NiceHistory:
        number, firm = int(record.action.value or 0), not record.action.provisional
        match record.state:
            case "done":
                return NiceHistory(frozenset({number}), ordered=True, settled=self.settled or firm)
            case "intended":
                return NiceHistory(self.ours | {number}, ordered=True, settled=self.settled)
            case "failed" if record.action.attempt == attempt:
                return NiceHistory(self.ours, ordered=self.ordered, settled=True)
        return self


NEVER_ORDERED = NiceHistory()


def next_nice(
    ordering: Ordering, candidate: Candidate, history: NiceHistory, *, read: bool
) -> tuple[int | None, NiceHistory]:
    """The number that a waiting job should get, None where it keeps its own, and what follows.

    A number that is neither ours nor 0 is a person's: the job is left alone for good. One that
    has not been read yet gets the middle, once.
    """
    job = candidate.job
    if not _may_be_ordered(job, history) or job.most_nice is None:
        return None, history
    if not read and history.ordered:
        return None, history
    number = nice_of(ordering, candidate, job.most_nice)
    after = NiceHistory(history.ours | {number}, ordered=True, settled=read)
    return (None if number == job.nice else number), after


def _may_be_ordered(job: Job, history: NiceHistory) -> bool:
    waits = job.state is JobState.PENDING
    return waits and job.nice in history.ours and not history.settled
