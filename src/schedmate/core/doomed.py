"""Runs that go on for nothing: what shows it, what it costs, and who may end them.

A message comes at once. A run is stopped only for a reason that its site or its owner named, only
where the same sign still stands minutes later, and never one that waits for people or requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schedmate.core.attempts import Hung
from schedmate.core.doomed_limits import DOOMED_BY_WARNING, DoomedLimits, DoomedReason
from schedmate.core.hangs import verdict
from schedmate.core.instructions import Instruction, Measure
from schedmate.core.known_job import KnownJob
from schedmate.core.reactions import act
from schedmate.model import Activity, DecisionReason, Job, JobId, JobState, Progress

_FAILURES = 3
"""In a row, with one exit code and none of them the fault of a node."""
_LATE_POLLS = 3
_LATE_S, _LATE_SHARE = 600.0, 0.1
"""For how long a run must have been too late for its limit: the shorter of the two."""
_REST_FASTER = 0.6
"""Of the time that its pace so far gives, the rest of a run may need no more than that, and less
the less of its limit is over: how a run begins says little (bench/accuracy/doomed.py)."""
_IDLE_APART_S = 600.0
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Doom:
    """Why a run goes on for nothing; `line` of its log shows it, where one does."""

    reason: DoomedReason
    text: str
    line: str = ""
    stoppable: bool = True


@dataclass(slots=True)
class DoomedWatch:
    """What was found out about one attempt of a job."""

    attempt: int
    told: dict[DoomedReason, float]
    """When each reason was first stated."""
    stopped: bool = False
    late_polls: int = 0
    late_since: float = 0.0
    idle_first: Activity | None = None
    idle_since: float = 0.0
    idle_last: tuple[float, Activity] | None = None
    """The newest measurement of this row."""
    measured_at: float = float("-inf")
    is_idle: bool = False

    def note_progress(self, progress: Progress, at: float) -> None:
        late = any(one.firm and one.reason == "time_limit" for one in progress.warnings)
        if not late:
            self.late_polls = 0
            return
        self.late_since = self.late_since if self.late_polls else at
        self.late_polls += 1

    def is_late(self, limit_s: float, at: float) -> bool:
        """Whether estimate after estimate came to the same end beyond the limit."""
        known_for = at - self.late_since
        enough = known_for >= min(_LATE_S, _LATE_SHARE * limit_s)
        return self.late_polls >= _LATE_POLLS and enough

    def note_activity(self, activity: Activity, at: float, idle_s: float) -> None:
        """Compare with the first measurement of a row and with the one before, so that neither a
        little all the time nor much for a moment is missed; who was at work begins a new row."""
        first, known_for = self.idle_first, at - self.idle_since
        before_at, before = self.idle_last or (at, activity)
        idle = (
            first is not None
            and _is_measured(first)
            and _is_measured(activity)
            and at > before_at
            and verdict(first, activity, known_for) == "idle"
            and verdict(before, activity, at - before_at) == "idle"
        )
        if not idle:
            self.idle_first, self.idle_since = activity, at
        self.idle_last = at, activity
        self.is_idle = idle and known_for >= idle_s


class DoomedRuns:
    """`known` are all jobs; nothing else is kept but what one attempt has shown."""

    def __init__(self, limits: DoomedLimits, known: Mapping[JobId, KnownJob]) -> None:
        self._limits = limits
        self._known = known
        self._watches: dict[JobId, DoomedWatch] = {}

    def clear(self) -> None:
        self._watches.clear()

    def forget(self, job_id: JobId) -> None:
        self._watches.pop(job_id, None)

    def note_progress(self, known: KnownJob, at: float) -> list[Instruction]:
        """What follows from new progress; a silent run with GPUs is measured now and then."""
        progress, watch = known.progress, self._watch(known.job)
        if progress is None:
            return []
        watch.note_progress(progress, at)
        if not _is_silent(known.job, progress) or not known.job.request.gpus:
            watch.idle_first = watch.idle_last = None
            watch.is_idle = False
            return []
        tick = at // _IDLE_APART_S
        if watch.measured_at == tick:
            return []
        watch.measured_at = tick
        return [Measure(known.job)]

    def note_activity(self, known: KnownJob, activity: Activity, at: float) -> None:
        self._watch(known.job).note_activity(activity, at, self._limits.idle_s)

    def react(self, known: KnownJob, at: float, objection: str | None) -> list[Instruction]:
        """A message for each new reason; the end of the run for one that stands and may end it."""
        job = known.job
        if job.state is not JobState.RUNNING or objection is not None:
            return []
        watch = self._watch(job)
        found = list(self._reasons(known, watch, at))
        instructions: list[Instruction] = []
        for doom in found:
            if doom.reason not in watch.told:
                watch.told[doom.reason] = at
                instructions.append(act("warn", job, self._because(doom, known, at)))
        for doom in found:
            stands = at - watch.told[doom.reason] >= self._limits.after_s
            wanted = doom.stoppable and self._limits.may_stop(job, doom.reason)
            if stands and wanted and not watch.stopped:
                watch.stopped = True
                instructions.append(act("cancel", job, self._because(doom, known, at)))
        for gone in watch.told.keys() - {doom.reason for doom in found}:
            del watch.told[gone]  # should it come back, the time counts anew
        return instructions

    def _watch(self, job: Job) -> DoomedWatch:
        watch = self._watches.get(job.id)
        if watch is None or watch.attempt != job.restarts:
            watch = self._watches[job.id] = DoomedWatch(job.restarts, {})
        return watch

    def _reasons(self, known: KnownJob, watch: DoomedWatch, at: float) -> Iterable[Doom]:
        for warning in () if known.progress is None else known.progress.warnings:
            reason = DOOMED_BY_WARNING.get(warning.reason) if warning.firm else None
            if reason is not None and reason != "limit":  # which takes more than one estimate
                yield Doom(reason, warning.text, warning.line)
        attempt = known.attempts.get(known.job.restarts)
        hangs = known.hung is not None and attempt is not None and attempt.seemed_to_hang
        if hangs and known.hung is not None and known.requeued_from is None:
            yield from _hang(known.hung, stop=self._limits.may_stop(known.job, "hang"))
        for remark in () if known.advice is None else known.advice.advice:
            if remark.failures >= _FAILURES:
                text = f"{remark.text}, {remark.failures} times in a row"
                yield Doom("repeated", text, stoppable=False)  # three in ten do not fail again
                break
        limit_s = known.user_limit_s or known.job.request.time_limit_s
        late = limit_s is not None and watch.is_late(limit_s, at) and _is_far_off(known, limit_s)
        if late and limit_s is not None and _does_not_resume(known):
            yield Doom("limit", needed_in_words(known, limit_s))
        if watch.is_idle:
            hours = (at - watch.idle_since) / _HOUR_S
            text = f"neither its GPUs nor its processes did anything for {hours:.1f} hours"
            first = watch.idle_first
            waits = first is not None and first.interactive
            yield Doom("idle", text, stoppable=not waits)

    def _because(self, doom: Doom, known: KnownJob, at: float) -> DecisionReason:
        job = known.job
        waiting = [one.job for one in self._known.values() if waits_beside(one.job, job)]
        return DecisionReason(
            code="doomed",
            failure=doom.reason,
            detail=doom.text,
            line=doom.line,
            gpus=job.request.gpus,
            left_s=_left_s(known, at),
            waiting=sum(one.tasks for one in waiting),
            waiting_gpus=sum(one.tasks * one.request.gpus for one in waiting),
        )


def needed_in_words(known: KnownJob, limit_s: float) -> str:
    """What it would take that the run makes its limit."""
    needed_s = needs_s(known)
    if needed_s is None:
        return "its limit comes before its end, and it does not resume"
    hours, minutes = divmod(int(-(-needed_s // 60)), 60)
    return (
        f"it needs about {needed_s / _HOUR_S:.3g} hours and its limit is {limit_s / _HOUR_S:.3g}, "
        f"and it does not resume: submit it with --time={hours}:{minutes:02}:00 or more, or let it "
        "go on from a checkpoint"
    )


def needs_s(known: KnownJob) -> float | None:
    """How long the run takes in all by its own count, whatever ends it."""
    progress, started = known.progress, known.job.start_time
    if progress is None or started is None or not progress.rate_per_s:
        return None
    if progress.total is None or progress.current is None:
        return None
    left = max(0.0, progress.total - progress.current)
    return known.progress_at - started + left / progress.rate_per_s


def _is_far_off(known: KnownJob, limit_s: float) -> bool:
    """Whether it is too late also where the rest goes much faster than what was done."""
    needed_s, started, progress = needs_s(known), known.job.start_time, known.progress
    done = None if progress is None else progress.work_fraction
    if needed_s is None or started is None or not done:
        return False
    ran_s = known.progress_at - started
    # a pace that is slow just now may be over soon: that since the start counts as well
    rest_s = min(needed_s - ran_s, ran_s / done - ran_s)
    return ran_s + min(_REST_FASTER, ran_s / limit_s) * rest_s > limit_s


def _hang(hung: Hung, *, stop: bool) -> Iterable[Doom]:
    """What the kernel shows; what was only measured, where its owner or site wants it stopped: a
    run that waits looks the same."""
    if hung.stuck:
        yield Doom("hang", "it waits for a file system that does not answer, and does nothing else")
    elif hung.idle and stop:
        yield Doom("hang", "it is silent, and measurement after measurement shows it idle")


def _is_measured(activity: Activity) -> bool:
    """Whether all that an idle run does not do was looked at."""
    return None not in (activity.cpu_s, activity.gpu, activity.written)


def _does_not_resume(known: KnownJob) -> bool:
    resumes = None if known.advice is None else known.advice.workload.resumes
    return resumes is not None and resumes.value is False


def _is_silent(job: Job, progress: Progress) -> bool:
    if progress.note or progress.phase in ("finished", "failed"):
        return False
    silence = progress.silence
    silent_s = progress.elapsed_s if silence is None else silence.silent_s
    return job.start_time is not None and (silent_s or 0.0) >= _IDLE_APART_S


def waits_beside(job: Job, running: Job) -> bool:
    """Whether it waits for GPUs where the other one runs."""
    if job.state is not JobState.PENDING or job.held or not job.request.gpus:
        return False
    named = set((job.request.partition or "").split(","))
    return (running.request.partition or "") in named


def _left_s(known: KnownJob, at: float) -> float | None:
    """How long it would go on: to its end by its own pace, or to its limit."""
    job, progress = known.job, known.progress
    limit_s, started = known.user_limit_s or job.request.time_limit_s, job.start_time
    eta = None if progress is None else progress.eta_s
    bound = None if limit_s is None or started is None else max(0.0, started + limit_s - at)
    if eta is None:
        return bound
    return eta.p50 if bound is None else min(eta.p50, bound)
