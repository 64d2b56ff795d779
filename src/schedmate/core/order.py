"""A waiting job's nice number: its owner's own, and by how much it is moved beyond that.

Numbers go from the lowest of the range, for what costs least, up to the owner's own, for what costs
most: a job that was not seen yet, or whose owner takes our number off it, stands last. Where the
site leaves some jobs alone they go from the owner's own upwards instead: what is left alone must
not stand behind what is ordered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from schedmate.model import ActionRecord, Job, JobState, ReasonCode
from schedmate.model.priority import FLOOR, room_beyond
from schedmate.policies import Candidate, Ordering, nice_of

_LONGEST_AGE_H = 168.0
"""Slurm's PriorityMaxAge: no more age than that was lost."""
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class NiceHistory:
    """What is known of a job's nice number: whose which part of it is."""

    theirs: int = 0
    """Its owner's own, to which ours is added."""
    ours: int = 0
    """What we have added to it."""
    lift: int = 0
    """By how much it was moved forward before it was set back by its cost."""
    expected: frozenset[int] = frozenset()
    """What it may show unless its owner has set another one; none before it was seen."""
    changes: int = 0
    """How often its owner has set another one after ours."""
    raised: bool = False
    """It has just been raised: by its owner, or by `scontrol top` for another job of its owner."""
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
        action, reason = record.action, record.action.reason
        if record.state == "failed" and action.attempt == attempt:
            return replace(self, settled=True)
        if record.state not in ("done", "intended"):
            return self
        number = int(action.value or 0)
        own = 0 if reason is None else reason.own_nice
        done = record.state == "done"
        before = frozenset[int]() if done else self.expected or frozenset({own})
        return NiceHistory(
            theirs=own,
            ours=number - own,
            lift=0 if reason is None else reason.lift,
            expected=before | {number},
            changes=self.changes if reason is None else max(self.changes, reason.own_changes),
            ordered=True,
            settled=self.settled or (done and not action.provisional),
            made_up_s=self.made_up_s if reason is None else reason.waited_s,
        )

    def in_new_attempt(self, nice: int) -> NiceHistory:
        """Whatever was asked for in an earlier one and did not take is not on its way any more."""
        return replace(self, expected=frozenset({nice})) if nice in self.expected else self

    def shown(self, nice: int, turn: Turn) -> NiceHistory:
        """With the number that the scheduler shows: any that is not ours is its owner's."""
        if not self.expected:
            given = turn.at_submission if nice >= turn.at_submission else 0
            expected = frozenset({nice})
            return replace(self, theirs=nice - given, ours=given, expected=expected)
        newest = self.theirs + self.ours
        if self.raised and nice == newest:
            # `scontrol top` raises all other jobs of an owner, and counts ours in
            theirs = self.theirs if turn.others_changed else nice
            return replace(self, theirs=theirs, raised=False)
        if nice in self.expected:
            return replace(self, expected=frozenset({nice})) if nice == newest else self
        raised = nice > newest and self.expected == {newest} and nice >= 0
        # below zero only an operator or `scontrol top` can set one, who count ours in
        return replace(
            self,
            theirs=nice - self.ours if raised or nice < 0 else nice,
            expected=frozenset({nice}),
            changes=self.changes + 1,
            raised=raised,
        )


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
    at_submission: int = 0
    """The number that the submit hook gives to every new job."""
    shown: bool = True
    """Its scheduler has just shown its number: otherwise it may only have been asked for."""
    others_changed: bool = False
    """Numbers of other jobs of its owner were changed with its own."""
    lifts: bool = True
    """All jobs are ordered, so that it is moved forward first: see above."""
    together: float = 0.0
    """What other work costs that its owner submitted with it."""


@dataclass(frozen=True, slots=True)
class NewNumber:
    nice: int
    code: ReasonCode | None = None
    """Why it is another number than the one by the job's cost."""


def next_nice(
    ordering: Ordering, candidate: Candidate, history: NiceHistory, turn: Turn
) -> tuple[NewNumber | None, NiceHistory]:
    """The number that a waiting job should get, None where it keeps its own, and what follows.

    Its owner's own number is kept and ours added to it, again after the owner has changed it: once
    for each change. What `scontrol top` makes of the numbers of an owner's jobs stays, as does one
    below zero that is not ours: an operator's. A job that has not been read yet gets the middle,
    once.
    """
    job = candidate.job
    before, met_before = history, bool(history.expected)
    waits = job.state is JobState.PENDING and not job.held and job.most_nice is not None
    unknown = job.nice < 0 and job.nice not in history.expected
    if not waits or (unknown and not (turn.lifts and met_before)):
        return None, history
    if turn.shown or history.raised or not met_before:
        history = history.shown(job.nice, turn)
    changed = history.changes > before.changes or (met_before and history.theirs != before.theirs)
    lift = job.most_nice if turn.lifts and job.most_nice else 0
    moved, code, settled = _move(ordering, candidate, history, turn, lift)
    ahead = _points(job, turn.waited_s)
    if ahead > _points(job, history.made_up_s):
        code = code or "age_made_up"
    if changed:
        code = "owner_changed"
    number = history.theirs + moved - ahead
    after = replace(
        history,
        ours=moved - ahead,
        lift=lift if settled is not None or turn.overdue else history.lift,
        expected=history.expected | {number},
        ordered=history.ordered or settled is not None,
        settled=history.settled if settled is None else settled,
        made_up_s=turn.waited_s,
    )
    newest = history.theirs + history.ours
    asked_before = number == newest and number in history.expected and not changed
    if number == job.nice or asked_before:
        return None, after
    return NewNumber(number, code), replace(after, ordered=True)


def _move(
    ordering: Ordering, candidate: Candidate, history: NiceHistory, turn: Turn, lift: int
) -> tuple[int, ReasonCode | None, bool | None]:
    """How far the job is moved, why it is not by its cost, and whether for good.

    None for good: the question was not asked.
    """
    job = candidate.job
    if turn.left_alone:
        return 0, "left_alone", None
    if turn.overdue:
        return -lift, "overtaken_enough", None
    moved = history.ours + _points(job, history.made_up_s)
    place = moved + history.lift
    set_back = place > 0 and job.nice > history.theirs
    if set_back and job.priority is not None and 0 < job.priority <= FLOOR:
        return place // 2 - history.lift, "at_the_floor", None
    most = lift or room_beyond(job, history.theirs)
    settled = history.settled and (history.lift == lift or not history.ordered)
    if settled or most is None or (history.ordered and not turn.read):
        return moved, None, None
    return nice_of(ordering, candidate, most, turn.together) - lift, None, turn.read


def at_nice(job: Job, nice: int) -> Job:
    """As its scheduler will show it with that number."""
    if job.priority is None or job.priority <= FLOOR:
        return replace(job, nice=nice)
    return replace(job, nice=nice, priority=max(FLOOR + 1, job.priority + job.nice - nice))


def _points(job: Job, waited_s: float) -> int:
    """What so much age is worth to its scheduler, as a nice number."""
    hours = min(waited_s / _HOUR_S, _LONGEST_AGE_H)
    return round(hours * (job.nice_an_hour or 0.0))
