"""What is decided about the time limits of jobs: lowered for backfill and given back, raised for a
run that will not make its own, or queued again right before it ends.

Only a run that is proven to resume is carried on, and only where the site allows it. It is queued
again right after the last checkpoint that it can write before its limit, so that nothing is lost
but the restart; how often, the site says. One without such a checkpoint is left to its limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from schedmate.core.doomed import needs_s, waits_beside
from schedmate.core.reactions import act
from schedmate.core.scope import is_opted_out
from schedmate.model import DecisionReason, JobState

if TYPE_CHECKING:
    from schedmate.core.events import CheckpointSeen
    from schedmate.core.instructions import Instruction
    from schedmate.core.known_job import KnownJob, KnownJobs
    from schedmate.core.time_limits import TimeLimits
    from schedmate.model import Job, JobId, Prediction

_GIVE_BACK_AGAIN_S = 60.0
"""How often a limit is given back that the scheduler still shows lowered."""
_AHEAD_S, _AHEAD_SHARE = 600.0, 0.2
"""How long before its limit a run is looked after: the longer of the two."""
_SPARE = 1.1
"""Times what a run needs a raised limit is."""
_LATER = 1.2
"""So many times the usual time the next checkpoint may take, ..."""
_REQUEUE_S, _REQUEUE_SHARE = 60.0, 0.1
"""... and so long it takes to queue it again: the shorter of the two."""


@dataclass(slots=True)
class _Saves:
    """When one attempt saved."""

    attempt: int
    times: list[float] = field(default_factory=list)

    def add(self, saved_at: float) -> None:
        if not self.times or saved_at > self.times[-1]:
            self.times = [*self.times[-3:], saved_at]

    def apart_s(self, started: float) -> float:
        """The longest time between two of the newest; from the start to the only one."""
        times = self.times if len(self.times) > 1 else [started, *self.times]
        return max(after - before for before, after in pairwise(times))


class LimitChanges:
    def __init__(self, limits: TimeLimits, jobs: KnownJobs) -> None:
        self._limits = limits
        self._known = jobs.by_id
        self._objection = jobs.objection
        self._saves: dict[JobId, _Saves] = {}

    def clear(self) -> None:
        self._saves.clear()

    def forget(self, job_id: JobId) -> None:
        self._saves.pop(job_id, None)

    def may_carry_on(self, job: Job) -> bool:
        """Whether the site lets a run of it go on beyond its limit."""
        wanted = self._limits.extend_s or self._limits.carry_on
        return bool(wanted) and job.request.time_limit_s is not None and not is_opted_out(job)

    def lower(self, known: KnownJob) -> list[Instruction]:
        job, prediction = known.job, known.prediction
        limit = job.request.time_limit_s
        if job.state is not JobState.PENDING or prediction is None:
            return []
        if self._objection(known) is not None:
            return []
        if job.soft_limit:
            return self._plan(known, prediction)
        if known.our_limit_s is not None:
            return []  # ours already, or changed by somebody since
        ours = self._limits.lowered(job, prediction)
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
        return [act("set_time_limit", job, reason, value=ours)]

    def _plan(self, known: KnownJob, prediction: Prediction) -> list[Instruction]:
        """Let backfill plan with the prediction where the limit alone ends the run."""
        job, ours = known.job, self._limits.planned(known.job, prediction)
        if ours is None or known.planned or job.request.time_min_s is not None:
            return []
        known.planned = True
        reason = DecisionReason(
            code="plan_from_prediction",
            predicted_s=prediction.duration_s,
            basis=prediction.basis,
            user_limit_s=job.request.time_limit_s,
            detail=prediction.explanation,
        )
        return [act("set_time_min", job, reason, value=ours)]

    def give_back(self, known: KnownJob, at: float) -> list[Instruction]:
        """The user's own limit, before the run could miss the one that we set."""
        job, ours = known.job, known.our_limit_s
        if ours is None or job.state is not JobState.RUNNING or not known.is_lowered:
            return []
        asked_again = at - known.given_back_at >= _GIVE_BACK_AGAIN_S
        if not asked_again or not self._limits.too_short(job, ours, at, known.ends_at):
            return []
        known.given_back_at = at
        reason = DecisionReason(code="limit_too_short")
        return [act("set_time_limit", job, reason, value=known.user_limit_s)]

    def extend(self, known: KnownJob, at: float) -> list[Instruction]:
        """Raise the limit of a run that would end within what the site allows, in time and where
        no other job waits for its GPUs."""
        job, needed_s = known.job, needs_s(known)
        limit_s = job.request.time_limit_s
        if not self._limits.extend_s or limit_s is None or needed_s is None:
            return []
        if not self._is_carried(known) or not _is_near(job, limit_s, at) or known.is_lowered:
            return []
        asked_s = known.asked_limit_s or limit_s
        wanted = 60.0 * math.ceil(min(_SPARE * needed_s, asked_s + self._limits.extend_s) / 60.0)
        enough = needed_s > limit_s and needed_s <= wanted and wanted > limit_s
        if not enough or any(waits_beside(one.job, job) for one in self._known.values()):
            return []
        known.asked_limit_s = asked_s
        known.job = replace(job, request=replace(job.request, time_limit_s=wanted))
        hours = f"it needs about {needed_s / 3600:.3g} hours, and none waits for its GPUs"
        reason = DecisionReason(code="limit_extended", user_limit_s=asked_s, detail=hours)
        return [act("set_time_limit", job, reason, value=wanted)]

    def carry_on(self, known: KnownJob, event: CheckpointSeen) -> list[Instruction]:
        """Queue a run again that has just written its last checkpoint before its limit."""
        job, limit_s = known.job, known.job.request.time_limit_s
        if event.attempt != job.restarts or job.start_time is None or limit_s is None:
            return []
        saves = self._saves.get(job.id)
        if saves is None or saves.attempt != event.attempt:
            saves = self._saves[job.id] = _Saves(event.attempt)
        saves.add(event.saved_at)
        if known.requeued_from is not None or len(known.carried) >= self._limits.carry_on:
            return []
        ends = job.start_time + limit_s - min(_REQUEUE_S, _REQUEUE_SHARE * limit_s)
        another = event.saved_at + _LATER * saves.apart_s(job.start_time) < ends
        if another or event.at >= ends or not self._is_carried(known):
            return []
        needed_s = needs_s(known)
        if needed_s is None or needed_s <= limit_s:
            return []
        known.requeued_from = job
        known.carried = known.carried | {job.restarts}
        known.spared = known.spared | {job.restarts}
        reason = DecisionReason(
            code="carried_on",
            step=event.step,
            lost_s=max(0.0, event.at - event.saved_at),
            left_s=max(0.0, needed_s - (event.at - job.start_time)),
            retries=len(known.carried) - 1,
            allowed=self._limits.carry_on,
            waited_s=known.all_waits_s,
        )
        return [act("requeue", job, reason)]

    def _is_carried(self, known: KnownJob) -> bool:
        """Whether it runs, goes on from a checkpoint for sure, and may be interfered with."""
        job = known.job
        whole = job.can_requeue and not job.components
        runs = job.state is JobState.RUNNING and whole
        return runs and known.proof.is_sure and self._objection(known) is None


def _is_near(job: Job, limit_s: float, at: float) -> bool:
    ahead_s = max(_AHEAD_S, _AHEAD_SHARE * limit_s)
    return job.start_time is not None and at >= job.start_time + limit_s - ahead_s
