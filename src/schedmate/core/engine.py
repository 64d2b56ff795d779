"""The decision engine: events in, instructions out. No clock, no I/O.

The daemon and the simulator send it the same events and carry out the same instructions. Every
decision is its own: the order of the queue, time limits, retries and what is left alone. Hearing
again what it knows changes nothing, and every action has a key under which it is carried out at
most once, so a restarted daemon simply tells a new engine everything it sees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from schedmate.core.attempts import Hung
from schedmate.core.events import (
    ActivitySeen,
    Event,
    JobAdvised,
    JobDiagnosed,
    JobForgotten,
    JobSeen,
    ProgressSeen,
    Started,
    Stopping,
)
from schedmate.core.hangs import (
    HangWatch,
    Verdict,
    idle_for_s,
    is_suspect,
    known_without_measuring,
    looks_apart_s,
    too_many_at_once,
)
from schedmate.core.holds import ground_for_hold, may_be_held
from schedmate.core.instructions import (
    Act,
    Advise,
    Diagnose,
    Instruction,
    Measure,
    Remember,
    Track,
)
from schedmate.core.known_job import KnownJob
from schedmate.core.order import next_nice
from schedmate.core.retry import DecisionLimits, RetryPlan, plan_retry
from schedmate.core.time_limits import TimeLimits
from schedmate.core.wording import in_words
from schedmate.model import (
    SURE_ENOUGH,
    Action,
    ActionKind,
    DecisionReason,
    Diagnosis,
    Job,
    JobId,
    JobState,
    Prediction,
    Progress,
)
from schedmate.policies import Candidate, Ordering

if TYPE_CHECKING:
    from collections.abc import Mapping

_GIVE_BACK_AGAIN_S = 60.0
"""How often a limit is given back that the scheduler still shows lowered."""
_LONG_WAIT_S = 60.0
"""A job that waited so long is predicted again as it starts."""


class DecisionEngine:
    def __init__(
        self,
        ordering: Ordering,
        limits: DecisionLimits | None = None,
        time_limits: TimeLimits | None = None,
    ) -> None:
        self._ordering = ordering
        self._limits = limits or DecisionLimits()
        self._time_limits = time_limits or TimeLimits()
        self._known: dict[JobId, KnownJob] = {}

    @property
    def known(self) -> Mapping[JobId, KnownJob]:
        return self._known

    @property
    def hang_after_s(self) -> float:
        """The shortest silence that may be a hang in any partition."""
        hang = self._limits.hang
        return min([hang.after_s, *hang.partitions.values()])

    def handle(self, event: Event) -> list[Instruction]:
        at_the_end: list[Instruction] = []
        match event:
            case JobSeen():
                return self._seen(event)
            case JobAdvised():
                return self._advised(event)
            case ProgressSeen():
                return self._moved(event)
            case ActivitySeen():
                return self._measured(event)
            case JobDiagnosed():
                return self._diagnosed(event)
            case JobForgotten(job_id=job_id):
                self._known.pop(job_id, None)
            case Started():
                self._known.clear()
            case Stopping():
                for known in self._known.values():
                    at_the_end += _unattended(known)
        return at_the_end

    def _seen(self, event: JobSeen) -> list[Instruction]:
        job = event.job
        known = self._known.get(job.id)
        if known is None:
            known = self._known[job.id] = KnownJob.met(job, event.past)
            return [*self._order(known), Advise(job), *_looks(job)]
        before, known.job = known.job, job
        if known.hold == "ours" and not job.held:
            known.hold = "over"  # by a person, or the scheduler never held it
        if (before.state, before.restarts) == (job.state, job.restarts):
            return [
                *self._order(known),
                *self._give_back_limit(known, event.at),
                *self._check_held(known, event.at),
            ]
        if before.restarts != job.restarts:
            known.progress, known.ends_at, known.watch, known.hung = None, None, None, None
        again = before.state is JobState.PENDING and _waited_long(job)
        advise = [Advise(job, again=True)] if again else []
        return [*self._order(known), *advise, *_looks(job)]

    def _advised(self, event: JobAdvised) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is None:
            return []
        known.advice, known.read = event.advice or known.advice, True
        return [*self._order(known), *self._lower_limit(known), *self._hold(known, event.at)]

    def _hold(self, known: KnownJob, at: float) -> list[Instruction]:
        """Hold a job that cannot succeed as it is now; release one that can again."""
        job, ground = known.job, ground_for_hold(known.job, known.advice, self._limits.hold)
        if known.hold == "ours" and job.held and ground is None:
            known.hold = "over"
            return [_act("release", job, DecisionReason(code="can_succeed"))]
        if known.hold != "none" or ground is None or not may_be_held(job):
            return []
        known.hold, known.checked_at, known.job = "ours", at, replace(job, held=True)
        return [_act("hold", job, DecisionReason(code=ground.code, detail=ground.remark.text))]

    def _check_held(self, known: KnownJob, at: float) -> list[Instruction]:
        if known.hold != "ours" or at - known.checked_at < self._limits.hold.check_again_s:
            return []
        known.checked_at = at
        return [Advise(known.job, afresh=True)]

    def _order(self, known: KnownJob) -> list[Instruction]:
        """Give a job that waits its nice number, as soon as it can have one."""
        job, prediction = known.job, known.prediction
        candidate = Candidate(job, prediction)
        nice, known.nice = next_nice(self._ordering, candidate, known.nice, read=known.read)
        if nice is None:
            return []
        known.job = replace(job, nice=nice)
        parts = {"value": nice, "provisional": not known.read}
        return [_act("set_nice", job, self._why_ordered(prediction), **parts)]

    def _why_ordered(self, prediction: Prediction | None) -> DecisionReason:
        spread = None if prediction is None else prediction.duration_s
        return DecisionReason(
            code="unknown_duration" if spread is None else "shorter_first",
            ordering=self._ordering.name,
            predicted_s=spread,
            basis="none" if prediction is None else prediction.basis,
            detail="" if prediction is None else prediction.explanation,
        )

    def _lower_limit(self, known: KnownJob) -> list[Instruction]:
        job, prediction = known.job, known.prediction
        limit = job.request.time_limit_s
        if job.state is not JobState.PENDING or prediction is None:
            return []
        if known.our_limit_s is not None:
            return []  # ours already, or changed by somebody since
        ours = self._time_limits.lowered(job, prediction)
        if ours is None:
            return []
        known.user_limit_s, known.our_limit_s = limit, ours
        known.job = replace(job, request=replace(job.request, time_limit_s=ours))
        reason = DecisionReason(
            code="limit_from_prediction",
            predicted_s=prediction.duration_s,
            basis=prediction.basis,
            user_limit_s=limit,
            detail=prediction.explanation,
        )
        return [_act("set_time_limit", job, reason, value=ours)]

    def _give_back_limit(self, known: KnownJob, at: float) -> list[Instruction]:
        """The user's own limit, before the run could miss the one that we set."""
        job, ours = known.job, known.our_limit_s
        if ours is None or job.state is not JobState.RUNNING or not known.is_lowered:
            return []
        asked_again = at - known.given_back_at >= _GIVE_BACK_AGAIN_S
        if not asked_again or not self._time_limits.too_short(job, ours, at, known.ends_at):
            return []
        known.given_back_at = at
        reason = DecisionReason(code="limit_too_short")
        return [_act("set_time_limit", job, reason, value=known.user_limit_s)]

    def _moved(self, event: ProgressSeen) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is None or known.job.state is not JobState.RUNNING:
            return []
        known.progress, eta = event.progress, event.progress.eta_s
        known.ends_at = None if eta is None else event.at + eta.p90
        return [*self._give_back_limit(known, event.at), *self._suspect(known, event)]

    def _suspect(self, known: KnownJob, event: ProgressSeen) -> list[Instruction]:
        """A silence far beyond the rhythm is measured before it is taken for a hang."""
        after_s = self._limits.hang.after(known.job)
        apart_s = looks_apart_s(after_s)
        if not is_suspect(event.progress, after_s, ahead_s=apart_s + idle_for_s(after_s)):
            known.watch = known.hung = None
            return []
        # all suspects are due at the same moments, so that one question is for all of them
        tick = int(event.at // apart_s)
        watch = known.watch = known.watch or HangWatch(tick)
        if watch.tick == tick or watch.left_alone or known.hung_attempt == known.job.restarts:
            return []
        watch.tick = tick
        return [Measure(known.job)]

    def _measured(self, event: ActivitySeen) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is None or known.watch is None or known.progress is None:
            return []
        job = known.job
        if (job.state, job.restarts) != (JobState.RUNNING, event.attempt):
            return []
        found = known.watch.note(event.activity, event.at)
        if not self._is_hung(known, known.watch, known.progress, found, event.at):
            return []
        known.hung_attempt = job.restarts
        known.hung = Hung(ran_s=known.progress.elapsed_s, idle=found == "idle")
        return [Diagnose(job, hung=True)]

    def _is_hung(
        self, known: KnownJob, watch: HangWatch, progress: Progress, found: Verdict, at: float
    ) -> bool:
        after_s = self._limits.hang.after(known.job)
        if found == "active" or watch.left_alone or not is_suspect(progress, after_s):
            return False
        if found == "unknown" and not known_without_measuring(progress, after_s):
            return False
        long_enough = watch.idle_s(at) >= idle_for_s(after_s)
        return long_enough and not self._many_are_idle(at)

    def _many_are_idle(self, at: float) -> bool:
        """Whether jobs fell silent together, which is not the fault of one of them."""
        running = [one for one in self._known.values() if one.job.state is JobState.RUNNING]
        idle = sum(
            one.watch is not None
            and not one.watch.left_alone
            and one.watch.idle_s(at) >= idle_for_s(self._limits.hang.after(one.job))
            for one in running
        )
        return too_many_at_once(idle, len(running))

    def _diagnosed(self, event: JobDiagnosed) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is None:
            return []
        job, attempt = known.job, event.attempt
        known.attempts[attempt] = known.attempt(event)
        running = job.state is JobState.RUNNING
        if attempt != job.restarts or not (running or job.state.failed):
            return []
        if running and known.hung is None:
            return []  # it has written something since
        if job.end_time is not None and job.end_time < self._limits.act_since:
            return [_act("leave", job, DecisionReason(code="before_our_time"))]
        if not running and known.left_for == event.diagnosis.reason:
            return []
        plan = plan_retry(
            known.attempts, attempt, limits=self._limits, choice=event.choice, job_id=job.id
        )
        return _about_failure(job, event.diagnosis, plan)


def _unattended(known: KnownJob) -> list[Instruction]:
    """Without a daemon nothing gives a lowered limit back in time, so it is given back now."""
    if known.job.state.ended or not known.is_lowered:
        return []
    reason = DecisionReason(code="limit_unattended")
    return [_act("set_time_limit", known.job, reason, value=known.user_limit_s)]


def _about_failure(job: Job, found: Diagnosis, plan: RetryPlan) -> list[Instruction]:
    """Try again or leave alone. A run that seems to hang is only warned of where it is not tried
    again: nothing that runs is ended."""
    running = job.state is JobState.RUNNING
    reason = DecisionReason(
        code=plan.code,
        failure=found.reason,
        retries=plan.used,
        allowed=plan.allowed,
        detail=found.decision.why,
    )
    if running and found.reason == "not_failed":
        return []
    if running and found.confidence < SURE_ENOUGH:
        return [_act("warn", job, replace(reason, code="unsure"))]
    if not plan.again:
        return [_act("warn" if running else "leave", job, reason)]
    parts = {"exclude_nodes": plan.exclude_nodes, "delay_s": plan.delay_s}
    return [_act("requeue", job, reason, **parts)]


def _looks(job: Job) -> list[Instruction]:
    """What is to be looked at in this state of a job."""
    if job.state is JobState.RUNNING:
        return [Track(job)]
    if job.state.failed:
        return [Remember(job), Diagnose(job)]
    if job.state.ended:
        return [Remember(job)]
    return []


def _waited_long(job: Job) -> bool:
    return (
        job.state is JobState.RUNNING
        and job.start_time is not None
        and job.start_time - job.submit_time >= _LONG_WAIT_S
    )


def _act(kind: ActionKind, job: Job, reason: DecisionReason, **parts: Any) -> Act:
    return Act(
        Action(
            kind=kind,
            job_id=job.id,
            attempt=job.restarts,
            why=in_words(reason),
            reason=reason,
            **parts,
        )
    )
