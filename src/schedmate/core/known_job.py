"""What the decision engine knows of one job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.core.attempts import Attempt, Hung
from schedmate.core.holds import HoldPhase
from schedmate.core.order import NEVER_ORDERED, NiceHistory
from schedmate.core.preemption import NEVER_MADE_WAY, MadeWay, ResumeProof
from schedmate.core.successors import awaited_by
from schedmate.model import (
    Advice,
    DecisionReason,
    Job,
    JobId,
    JobState,
    Prediction,
    Progress,
    Spread,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.core.events import JobDiagnosed, Past
    from schedmate.core.hangs import HangWatch
    from schedmate.core.sharing import MeasuredUse


@dataclass(frozen=True, slots=True)
class KnownJobs:
    """All that the engine knows, and why nothing but its place is decided about one of them."""

    by_id: Mapping[JobId, KnownJob]
    objection: Callable[[KnownJob], str | None]


@dataclass(slots=True)
class KnownJob:
    """All that is known of one job; `attempts` by the restart count of the run."""

    job: Job
    advice: Advice | None = None
    progress: Progress | None = None
    progress_at: float = 0.0
    """When that was seen."""
    ends_at: float | None = None
    """By when it ends, as its newest progress had it: the 90th percentile."""
    attempts: dict[int, Attempt] = field(default_factory=dict)
    watch: HangWatch | None = None
    """Set while its silence is suspicious."""
    hung: Hung | None = None
    """Set from the moment it is taken for hung until it writes again or its run is over."""
    hung_attempt: int | None = None
    awaited: frozenset[JobId] = frozenset()
    """The jobs whose end it was ever seen to wait for: a scheduler forgets what is fulfilled."""
    read: bool = False
    """Whether its code was read, or is known to be unreadable."""
    nice: NiceHistory = NEVER_ORDERED
    nice_changed_at: float = float("-inf")
    """When another hand than ours was seen to have changed its nice number."""
    overtaken_enough: bool = False
    """It has been overtaken for as long as it may be, and is not set back again."""
    user_limit_s: float | None = None
    our_limit_s: float | None = None
    given_back_at: float = float("-inf")
    hold: HoldPhase = "none"
    left_for: str | None = None
    """The failure for which an engine before this one left its last run alone."""
    checked_at: float = 0.0
    """When a job that we hold was last read."""
    planned: bool = False
    """Whether backfill was given a time of ours to plan with."""
    waited_s: float = 0.0
    """Its waits for runs that we queued again, which its scheduler no longer counts."""
    requeued_from: Job | None = None
    """The run that was last decided to be queued again."""
    quiet_until: float = float("-inf")
    """Until then nothing follows from seeing it just as it was."""
    shown: Job | None = None
    """The newest record of the scheduler, which `job` may be ahead of."""
    retried: bool = False
    """Whether its present run is a retry of ours."""
    reverted: bool = False
    """A person has undone what was done to it: it is left alone from then on."""
    proof: ResumeProof = field(default_factory=ResumeProof)
    made_way: MadeWay = NEVER_MADE_WAY
    goes_first: bool = False
    """It made way in vain, or has begun anew after that."""
    use: MeasuredUse | None = None
    beside: JobId = ""
    """The run with which it shares GPUs, or was decided to."""
    shards_a_gpu: int = 0
    """In how many parts its scheduler lends each GPU; 0 where any run can be joined."""
    asked: int | None = None
    """How many of them it was decided to ask for in this attempt; 0: only its owner is told."""
    parted: bool = False
    """It was slow beside another one, and shares no more."""
    carried: frozenset[int] = frozenset()
    """Attempts that were queued again before their limit, to go on."""
    spared: frozenset[int] = frozenset()
    """These, and attempts that made way: what came after them was no retry."""
    asked_limit_s: float | None = None
    """The limit that its user asked for, where we have raised it."""
    parts_for: DecisionReason | None = None
    """Why it is queued again at its next checkpoint."""

    @property
    def all_waits_s(self) -> float:
        """Until its present run began."""
        start, submitted = self.job.start_time, self.job.submit_time
        return self.waited_s + (0.0 if start is None else max(0.0, start - submitted))

    def see(self, job: Job) -> None:
        """The scheduler shows it like this now."""
        before, again = self.job, self.requeued_from
        if before.restarts != job.restarts:
            self.progress = self.ends_at = self.watch = self.hung = None
            ours = again is not None and again.restarts == job.restarts - 1
            made_way = ours and self.made_way.held is not None
            self.spared |= {before.restarts} if made_way else set()
            self.retried = ours and not made_way
            # a scheduler that keeps the time of submission keeps the age too
            if ours and again is not None and job.submit_time > (again.start_time or 0.0):
                self.waited_s = replace(self, job=again).all_waits_s
            self.requeued_from = self.asked = None
            self.nice = self.nice.in_new_attempt(job.nice)
            if made_way:
                self.nice = replace(self.nice, settled=False)
        self.job = self.shown = job
        self.awaited |= awaited_by(job)

    def be_quiet(self, due: float | None, at: float) -> None:
        """Nothing follows from how it is: what waits is moved by what is read of it, once it has
        waited for long, or by what starts before it."""
        held = self.hold == "ours" or self.made_way.held is not None
        waits = self.job.state is JobState.PENDING and not held and not self.nice.raised
        if due is None or not waits:
            self.quiet_until = float("-inf")
        else:
            self.quiet_until = due if at < due else float("inf")

    def is_quiet(self, job: Job, at: float) -> bool:
        """Whether nothing would follow from seeing this very record of it once more."""
        return self.shown is job and at < self.quiet_until

    def is_changed_with(self, others: Iterable[KnownJob]) -> bool:
        """Whether nice numbers of other jobs of its owner were changed between the same looks."""
        return any(
            other is not self
            and other.job.user == self.job.user
            and other.nice_changed_at == self.nice_changed_at
            for other in others
        )

    @property
    def prediction(self) -> Prediction | None:
        return None if self.advice is None else self.advice.prediction

    @property
    def prediction_left(self) -> Prediction | None:
        """What it needs still: of a job that has made way, less than in all."""
        found, done = self.prediction, self.made_way
        if not done.served_s or found is None:
            return found
        left, spread = done.left_s, found.duration_s
        if left is None and spread is not None and (rest := spread.left_after(done.served_s)):
            return replace(found, duration_s=rest)
        # one that has outlived its prediction may well need as much again
        seconds = done.served_s if left is None else left
        return replace(found, duration_s=Spread(seconds, seconds, seconds))

    @property
    def is_held_for_others(self) -> bool:
        held = self.made_way.held
        return held is not None and self.job.held and self.job.restarts == held.attempt + 1

    @property
    def is_lowered(self) -> bool:
        """Whether the scheduler may still go by a limit of ours."""
        ours, shown = self.our_limit_s, self.job.request.time_limit_s
        return ours is not None and self.user_limit_s is not None and shown in (ours, None)

    @classmethod
    def met(cls, job: Job, past: Past) -> KnownJob:
        return cls(
            job,
            shown=job,
            awaited=awaited_by(job),
            advice=past.advice,
            read=past.advice is not None,
            attempts=dict(past.attempts),
            nice=past.nice,
            user_limit_s=past.user_limit_s,
            our_limit_s=past.our_limit_s,
            hold=past.hold,
            left_for=past.left_for,
            planned=past.planned,
            waited_s=past.waited_s,
            retried=past.retried,
            reverted=past.reverted,
            made_way=past.made_way,
            carried=past.carried,
            spared=past.spared,
            asked_limit_s=past.asked_limit_s,
            parted=past.parted,
        )

    def attempt(self, event: JobDiagnosed) -> Attempt:
        """The attempt that this diagnosis is about."""
        job, before = self.job, self.attempts.get(event.attempt)
        if event.attempt != job.restarts:
            return Attempt(
                diagnosis=event.diagnosis,
                nodes=() if before is None else before.nodes,
                reached=event.reached,
                hung=None if before is None else before.hung,
            )
        running = job.state is JobState.RUNNING
        return Attempt(
            diagnosis=event.diagnosis,
            nodes=job.nodes,
            reached=event.reached,
            hung=self.hung if running else None,
        )
