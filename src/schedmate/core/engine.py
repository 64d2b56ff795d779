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
from schedmate.core.dependants import competition, renewals
from schedmate.core.doomed import DoomedRuns
from schedmate.core.drains import ground_for_drain
from schedmate.core.events import (
    ActivitySeen,
    CheckpointSeen,
    Event,
    JobAdvised,
    JobDiagnosed,
    JobForgotten,
    JobReverted,
    JobSeen,
    NodeSeen,
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
    Advise,
    Diagnose,
    Instruction,
    Measure,
    Reconsider,
)
from schedmate.core.known_job import KnownJob, KnownJobs
from schedmate.core.levers import Levers
from schedmate.core.limit_changes import LimitChanges
from schedmate.core.places import Places
from schedmate.core.reactions import (
    about_failure,
    act,
    drain,
    left_unattended,
    looks_at,
    waited_long,
)
from schedmate.core.retry import DecisionLimits, plan_retry
from schedmate.core.time_limits import TimeLimits
from schedmate.model import (
    DecisionReason,
    Job,
    JobId,
    JobState,
    Progress,
)
from schedmate.policies import Ordering

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class DecisionEngine:
    def __init__(
        self,
        ordering: Ordering,
        limits: DecisionLimits | None = None,
        time_limits: TimeLimits | None = None,
    ) -> None:
        self._limits = limits or DecisionLimits()
        self._known: dict[JobId, KnownJob] = {}
        jobs = KnownJobs(self._known, self.objection)
        self._time_limits = LimitChanges(time_limits or TimeLimits(), jobs)
        self._places = Places(ordering, self._limits, self._known)
        self._doomed = DoomedRuns(self._limits.doomed, self._known)
        self._levers = Levers(self._limits, jobs)
        self._handlers: dict[type[Event], Callable[[Any], list[Instruction]]] = {
            JobSeen: self._seen,
            JobAdvised: self._advised,
            ProgressSeen: self._moved,
            ActivitySeen: self._measured,
            JobDiagnosed: self._diagnosed,
            JobReverted: self._reverted,
            NodeSeen: self._node_seen,
            JobForgotten: self._forgotten,
            Started: self._started,
            Stopping: self._stopping,
            **self._levers.handlers,
            CheckpointSeen: self._checkpointed,
        }

    @property
    def known(self) -> Mapping[JobId, KnownJob]:
        return self._known

    def may_make_way(self, job: Job) -> bool:
        """Whether a run of it may ever be stopped for others or to be carried on; what it saves
        matters then."""
        wanted = self._limits.preemption.consent(job) is not None or self._levers.may_share(job)
        return job.can_requeue and (wanted or self._time_limits.may_carry_on(job))

    @property
    def hang_after_s(self) -> float:
        """The shortest silence that may be a hang in any partition."""
        hang = self._limits.hang
        return min([hang.after_s, *hang.partitions.values()])

    def handle(self, event: Event) -> list[Instruction]:
        return self._handlers[type(event)](event)

    def _started(self, _: Started) -> list[Instruction]:
        self._known.clear()
        self._places.clear()
        self._doomed.clear()
        self._levers.clear()
        self._time_limits.clear()
        return []

    def _stopping(self, _: Stopping) -> list[Instruction]:
        return [one for known in self._known.values() for one in left_unattended(known)]

    def _forgotten(self, event: JobForgotten) -> list[Instruction]:
        self._known.pop(event.job_id, None)
        self._places.forget(event.job_id, event.at)
        self._doomed.forget(event.job_id)
        self._levers.forget(event.job_id)
        self._time_limits.forget(event.job_id)
        return []

    def _reverted(self, event: JobReverted) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is not None:
            known.reverted = True
        return []

    def _seen(self, event: JobSeen) -> list[Instruction]:
        found = self._see(event)
        known = self._known[event.job.id]
        return [*found, *self._levers.seen(known, event.at)]

    def _see(self, event: JobSeen) -> list[Instruction]:
        job = event.job
        known = self._known.get(job.id)
        if known is None or not known.job.is_same_job(job):
            known = self._known[job.id] = KnownJob.met(job, event.past)
            self._levers.meet(known)
            ordered = self._places.order(known, event.at)
            known.be_quiet(self._places.due(known), event.at)
            renewed = renewals(known, self._known, self.objection)
            return [*ordered, *renewed, Advise(job), *looks_at(job)]
        before = known.job
        known.see(job)
        if known.hold == "ours" and not job.held:
            known.hold = "over"  # by a person, or the scheduler never held it
        if (before.state, before.restarts) == (job.state, job.restarts):
            instructions = [
                *self._places.order(known, event.at),
                *self._time_limits.give_back(known, event.at),
                *self._time_limits.extend(known, event.at),
                *self._check_held(known, event.at),
                *renewals(known, self._known, self.objection),
            ]
            if not instructions:
                known.be_quiet(self._places.due(known), event.at)
            return instructions
        again = before.state is JobState.PENDING and waited_long(job)
        advise = [Advise(job, again=True)] if again else []
        renewed = renewals(known, self._known, self.objection)
        return [*self._places.order(known, event.at), *advise, *looks_at(job), *renewed]

    def _advised(self, event: JobAdvised) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is None:
            return []
        known.quiet_until = float("-inf")
        known.advice, known.read = event.advice or known.advice, True
        return [
            *self._places.order(known, event.at, shown=False),
            *self._time_limits.lower(known),
            *self._hold(known, event.at),
            *self._end_in_vain(known, event.at),
        ]

    def _end_in_vain(self, known: KnownJob, at: float) -> list[Instruction]:
        """State that a run goes on for nothing, and stop it where that is wanted."""
        return self._doomed.react(known, at, self.objection(known))

    def objection(self, known: KnownJob) -> str | None:
        """Why nothing but its place is decided about this job, None where it may be."""
        if known.reverted:
            return "what was done to it was undone with schedmate revert"
        return self._limits.scope.objection(known.job)

    def may_act_on(self, job: Job) -> bool:
        """What ended before our time is only remembered."""
        return job.end_time is None or job.end_time >= self._limits.act_since

    def all_late_s(self) -> dict[JobId, float]:
        """By how much each waiting job is late by jobs that its scheduler alone puts behind it."""
        return self._places.all_late_s()

    def due(self, job_id: JobId) -> float | None:
        """When a waiting job will have been overtaken for long enough, None where it is not."""
        known = self._known.get(job_id)
        if known is None:
            return None
        if (held := self._levers.due(known)) is not None:
            return held
        return self._places.due(known) if known.nice.ordered else None

    def _hold(self, known: KnownJob, at: float) -> list[Instruction]:
        """Hold a job that cannot succeed as it is now; release one that can again."""
        job, ground = known.job, ground_for_hold(known.job, known.advice, self._limits.hold)
        if self.objection(known) is not None:
            ground = None
        if known.hold == "ours" and job.held and ground is None:
            known.hold = "over"
            return [act("release", job, DecisionReason(code="can_succeed"))]
        if known.hold != "none" or ground is None or not may_be_held(job):
            return []
        known.hold, known.checked_at, known.job = "ours", at, replace(job, held=True)
        return [act("hold", job, DecisionReason(code=ground.code, detail=ground.remark.text))]

    def _check_held(self, known: KnownJob, at: float) -> list[Instruction]:
        if known.hold != "ours" or at - known.checked_at < self._limits.hold.check_again_s:
            return []
        known.checked_at = at
        return [Advise(known.job, afresh=True)]

    def _moved(self, event: ProgressSeen) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is None or known.job.state is not JobState.RUNNING:
            return []
        known.progress, eta = event.progress, event.progress.eta_s
        known.progress_at = event.at
        known.ends_at = None if eta is None else event.at + eta.p90
        measured = self._doomed.note_progress(known, event.at)
        suspected = self._suspect(known, event)
        return [
            *self._time_limits.give_back(known, event.at),
            *self._time_limits.extend(known, event.at),
            *(suspected or measured),
            *self._end_in_vain(known, event.at),
        ]

    def _checkpointed(self, event: CheckpointSeen) -> list[Instruction]:
        """The last one before its limit is for itself; only others may be for those that wait."""
        known = self._known.get(event.job_id)
        if known is None:
            return []
        return self._time_limits.carry_on(known, event) or self._levers.checkpointed(known, event)

    def _suspect(self, known: KnownJob, event: ProgressSeen) -> list[Instruction]:
        """A silence far beyond the rhythm is measured before it is taken for a hang."""
        after_s = self._limits.hang.after(known.job)
        apart_s = looks_apart_s(after_s)
        if not is_suspect(event.progress, after_s, ahead_s=apart_s + idle_for_s(after_s)):
            known.watch = known.hung = None
            return []
        # all suspects are due at the same moments, so that one question is for all of them
        tick = int(event.at // apart_s)
        silence = event.progress.silence
        since = event.at - (0.0 if silence is None else silence.silent_s)
        watch = known.watch = known.watch or HangWatch(tick, since, len(self._running()))
        if watch.tick == tick or watch.left_alone or known.hung_attempt == known.job.restarts:
            return []
        watch.tick = tick
        return [Measure(known.job)]

    def _measured(self, event: ActivitySeen) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is None or known.progress is None:
            return []
        job = known.job
        if (job.state, job.restarts) != (JobState.RUNNING, event.attempt):
            return []
        self._doomed.note_activity(known, event.activity, event.at)
        return [*self._note_hang(known, event), *self._end_in_vain(known, event.at)]

    def _note_hang(self, known: KnownJob, event: ActivitySeen) -> list[Instruction]:
        if known.watch is None or known.progress is None:
            return []
        job, found = known.job, known.watch.note(event.activity, event.at)
        if not self._is_hung(known, known.watch, known.progress, found, event.at):
            return []
        known.hung_attempt = job.restarts
        known.hung = Hung(
            ran_s=known.progress.elapsed_s,
            idle=found == "idle",
            stuck=known.watch.stuck,
            wanted=self._limits.hang.wants_requeue(job),
        )
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
        return long_enough and not self._many_fell_silent(watch, after_s, at)

    def _running(self) -> list[KnownJob]:
        return [one for one in self._known.values() if one.job.state is JobState.RUNNING]

    def _many_fell_silent(self, watch: HangWatch, within_s: float, at: float) -> bool:
        """Whether jobs fell silent together, which is not the fault of one of them."""
        running, since = self._running(), watch.silent_since
        idle = sum(
            one.watch is not None
            and not one.watch.left_alone
            and abs(one.watch.silent_since - since) <= within_s
            and one.watch.idle_s(at) >= idle_for_s(self._limits.hang.after(one.job))
            for one in running
        )
        return too_many_at_once(idle, max(watch.running, len(running)))

    def _diagnosed(self, event: JobDiagnosed) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is None:
            return []
        job, attempt = known.job, event.attempt
        known.attempts[attempt] = known.attempt(event)
        running = job.state is JobState.RUNNING
        # a run that hung may have written something since
        is_over = not (running or job.state.failed) or (running and known.hung is None)
        settled = not running and known.left_for == event.diagnosis.reason
        if attempt != job.restarts or is_over or (settled and self.may_act_on(job)):
            return []
        if not self.may_act_on(job):
            return [act("leave", job, DecisionReason(code="before_our_time"))]
        plan = plan_retry(
            known.attempts,
            attempt,
            limits=self._limits,
            choice=event.choice,
            job_id=job.id,
            spared=known.spared,
        )
        objection = None
        if plan.again:
            objection = self.objection(known) or competition(event, job, self._known)
        if objection is not None:
            reason = DecisionReason(
                code="left_alone", failure=event.diagnosis.reason, detail=objection
            )
            return [act("warn" if running else "leave", job, reason)]
        due = self._limits.settled_at(job.end_time, event.held_for_s)
        if plan.again and event.at < due and event.by != "person":
            return [Reconsider(job, due)]
        known.requeued_from = job if plan.again else None
        return about_failure(job, event.diagnosis, plan, known.all_waits_s)

    def _node_seen(self, event: NodeSeen) -> list[Instruction]:
        why = ground_for_drain(event.suspect, self._limits.drain)
        return [] if why is None else [drain(event.suspect, why)]
