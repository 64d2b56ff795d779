"""A waiting job's nice number: whose number it has, and which one it should have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from schedmate.model import ActionRecord, Job, JobState, ReasonCode
from schedmate.model.priority import FLOOR
from schedmate.policies import Candidate, Ordering, nice_of

_LONGEST_AGE_H = 168.0
"""Slurm's PriorityMaxAge: no more age than that was lost."""
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class NiceHistory:
    """What the records of decisions show of the nice numbers that we gave a job."""

    ours: frozenset[int] = frozenset({0})
    """What its number is unless somebody else has set it."""
    ordered: bool = False
    settled: bool = False
    """It has its number for good, or was refused one."""
    made_up_s: float = 0.0
    """How much lost age its number makes up for."""

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
        reason = record.action.reason
        made_up_s = self.made_up_s if reason is None else reason.waited_s
        match record.state:
            case "done":
                settled = self.settled or firm
                return NiceHistory(frozenset({number}), True, settled, made_up_s)
            case "intended":
                return NiceHistory(self.ours | {number}, True, self.settled, made_up_s)
            case "failed" if record.action.attempt == attempt:
                return replace(self, settled=True)
        return self

    def shown(self, nice: int) -> NiceHistory:
        """Once the scheduler shows a number of ours, any other one is somebody else's."""
        written = self.ordered and nice in self.ours and nice != 0
        return replace(self, ours=frozenset({nice})) if written else self


NEVER_ORDERED = NiceHistory()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a job's place in the queue depends on beside its cost."""

    read: bool = True
    overdue: bool = False
    """It has been overtaken for as long as it may be."""
    left_alone: bool = False
    waited_s: float = 0.0
    """Its waits for runs that we queued again, which its scheduler no longer counts."""


@dataclass(frozen=True, slots=True)
class NewNumber:
    nice: int
    code: ReasonCode | None = None
    """Why it is another number than the one by the job's cost."""


def next_nice(
    ordering: Ordering, candidate: Candidate, history: NiceHistory, turn: Turn
) -> tuple[NewNumber | None, NiceHistory]:
    """The number that a waiting job should get, None where it keeps its own, and what follows.

    A number that is neither ours nor 0 is a person's: the job is left alone for good. One that
    has not been read yet gets the middle, once.
    """
    job, history = candidate.job, history.shown(candidate.job.nice)
    waits = job.state is JobState.PENDING and not job.held
    if not waits or job.nice not in history.ours:
        return None, history
    place = max(0, job.nice + _points(job, history.made_up_s)) if history.ordered else 0
    wanted, code, settled = _place(ordering, candidate, history, turn, place)
    ahead = _points(job, turn.waited_s)
    if ahead > _points(job, history.made_up_s):
        code = code or "age_made_up"
    number = wanted - ahead
    after = NiceHistory(
        history.ours | {number},
        ordered=history.ordered or settled is not None,
        settled=history.settled if settled is None else settled,
        made_up_s=turn.waited_s,
    )
    if number == job.nice:
        return None, after
    return NewNumber(number, code), replace(after, ordered=True)


def _place(
    ordering: Ordering, candidate: Candidate, history: NiceHistory, turn: Turn, place: int
) -> tuple[int, ReasonCode | None, bool | None]:
    """By how much the job is set back, why it is not by its cost, and whether for good.

    None for good: the question was not asked.
    """
    job = candidate.job
    if turn.overdue or turn.left_alone:
        return 0, "overtaken_enough" if turn.overdue else "left_alone", None
    if place > 0 and job.priority is not None and 0 < job.priority <= FLOOR:
        return place // 2, "at_the_floor", None
    if history.settled or job.most_nice is None or (history.ordered and not turn.read):
        return place, None, None
    return nice_of(ordering, candidate, job.most_nice), None, turn.read


def _points(job: Job, waited_s: float) -> int:
    """What so much age is worth to its scheduler, as a nice number."""
    hours = min(waited_s / _HOUR_S, _LONGEST_AGE_H)
    return round(hours * (job.nice_an_hour or 0.0))
