"""A job's place in the queue: whose number it has, and which one it should have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedmate.model import Action, ActionRecord, Job, JobState
from schedmate.policies import Candidate, Ordering, nice_of


@dataclass(frozen=True, slots=True)
class Written:
    """What the ledger says of the nice numbers that we gave a job."""

    ours: frozenset[int] = frozenset({0})
    """What its number is unless somebody else has set it."""
    placed: bool = False
    settled: bool = False
    """It has its place for good, or was refused one."""

    @classmethod
    def of(cls, records: Iterable[ActionRecord], attempt: int) -> Written:
        """From all records of a job that is in this attempt."""
        said = cls()
        for record in records:
            if record.action.kind == "set_nice":
                said = said._and(record, attempt)
        return said

    def _and(self, record: ActionRecord, attempt: int) -> Written:
        number, firm = int(record.action.value or 0), not record.action.provisional
        match record.state:
            case "done":
                return Written(frozenset({number}), placed=True, settled=self.settled or firm)
            case "intended":
                return Written(self.ours | {number}, placed=True, settled=self.settled)
            case "failed" if record.action.attempt == attempt:
                return Written(self.ours, placed=self.placed, settled=True)
        return self


NOTHING_WRITTEN = Written()


def place(
    ordering: Ordering, candidate: Candidate, written: Written, *, read: bool
) -> tuple[Action | None, Written]:
    """The action that gives a waiting job its place, if any, and what is written then.

    A number that is neither ours nor 0 is a person's: the job is left alone for good. One that
    has not been read yet gets the middle, once.
    """
    job = candidate.job
    if not _may_be_placed(job, written) or job.most_nice is None:
        return None, written
    if not read and written.placed:
        return None, written
    number = nice_of(ordering, candidate, job.most_nice)
    after = Written(written.ours | {number}, placed=True, settled=read)
    if number == job.nice:
        return None, after
    return _set_nice(job, number, _why(ordering, candidate), provisional=not read), after


def _may_be_placed(job: Job, written: Written) -> bool:
    waits = job.state is JobState.PENDING
    return waits and job.nice in written.ours and not written.settled


def _why(ordering: Ordering, candidate: Candidate) -> str:
    said = candidate.prediction
    return f"{ordering.name}: {'not read yet' if said is None else said.explanation}"


def _set_nice(job: Job, number: int, why: str, *, provisional: bool) -> Action:
    return Action(
        kind="set_nice",
        job_id=job.id,
        attempt=job.restarts,
        value=number,
        why=why,
        provisional=provisional,
    )
