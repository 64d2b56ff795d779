"""What a simulated daemon sees of jobs that resume, share GPUs or are doomed, and does to them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from schedmate.core import (
    CheckpointSeen,
    Event,
    GpuUseKnown,
    MeasuredUse,
    PaceSeen,
    ProgressSeen,
    ResumeKnown,
    ResumeProof,
)
from schedmate.core.doomed_limits import DoomedLimits
from schedmate.model import Action, EarlyWarning, JobState, Progress
from schedmate.simulator.engine.steering import Steered
from schedmate.simulator.shell.snapshots import Snapshots
from schedmate.simulator.synthetic.levers import RESTART_S, JobLevers, Levers, is_measured

CHECKPOINT, SIGN, PACE = range(3)
"""Purposes of calls, in the order in which the shell numbers them."""
_PACE_S: Final = 300.0
"""How long two jobs share GPUs until their logs show how fast they are."""
_IN_VAIN: Final = (EarlyWarning(reason="loss_nan", text="its loss is NaN", firm=True),)
_STANDS_S: Final = DoomedLimits().after_s
_NEARLY_S: Final = 1.0
"""Within which two times are the same."""
Call = Callable[[float, int, int], None]
"""At that time, for that job and purpose, unless its run is over by then."""


class LeverSide:
    """Of one run; jobs by their numbers."""

    def __init__(
        self,
        levers: Levers,
        jobs: JobLevers,
        *,
        look_s: float,
        restart_s: float = RESTART_S,
        doomed_s: float = _STANDS_S,
    ) -> None:
        """`restart_s` is what runs were seen to lose by a restart, `doomed_s` how long a sign has
        to stand."""
        self._levers = levers
        self._restart_s = restart_s
        self._doomed_s = doomed_s
        self._jobs = jobs
        self._look_s = look_s
        self._every = jobs.every_s.tolist()
        self._code = jobs.code.tolist()
        self._resumable = jobs.resumable.tolist()
        self._shareable = jobs.shareable.tolist()
        self._sign = jobs.sign_s.tolist()
        rng = np.random.default_rng([jobs.seed, len(jobs.code), 6])
        self._later = (rng.random(len(jobs.code)) * jobs.every_s).tolist()
        """Where moments are blind: how much work after its checkpoints a run is stopped."""

    def begin(self, scheduler: Steered, snapshots: Snapshots, call: Call) -> None:
        self._scheduler, self._snapshots, self._call = scheduler, snapshots, call
        self._seen = Counter(self._jobs.seen)
        self._measured = set(self._jobs.measured)
        self._read: set[int] = set()
        self._told: set[int] = set()
        self._stopped_at: dict[int, float] = {}

    def advised(self, job: int, now: float) -> Iterator[Event]:
        """What is known of its code once it was read, or seen again since."""
        job_id = self._snapshots.id(job)
        self._read.add(job)
        if self._resumable[job]:
            yield ResumeKnown(now, job_id, self._proof(job))
        yield from self.seen(job, now)

    def seen(self, job: int, now: float) -> Iterator[Event]:
        """What was measured of its code, as soon as there is something."""
        new = self._shareable[job] and job in self._read and job not in self._told
        if new and self._code[job] in self._measured and self._scheduler.lets_share:
            self._told.add(job)
            memory, used = float(self._jobs.memory[job]), float(self._jobs.utilization[job])
            use = MeasuredUse(memory=memory, utilization=used, runs=1)
            yield GpuUseKnown(now, self._snapshots.id(job), use)

    def _proof(self, job: int) -> ResumeProof:
        return ResumeProof(
            resumes=True, seen=self._seen[self._code[job]], restart_s=self._restart_s
        )

    def started(self, job: int) -> None:
        now = self._scheduler.now
        if self._stopped_at.pop(job, None) is not None:
            self._seen[self._code[job]] += 1  # it went on
        if self._resumable[job] and self._levers.resumable:
            self._call_at_next_checkpoint(job)
        if self._sign[job] < math.inf:
            self._call(max(now, self._scheduler.reaches_at(job, self._sign[job])), job, SIGN)

    def ended(self, job: int, ran_s: float) -> None:
        if self._jobs.proves[job]:
            self._seen[self._code[job]] += 1
        if is_measured(ran_s):
            self._measured.add(self._code[job])

    def _call_at_next_checkpoint(self, job: int) -> None:
        """At the poll after it; or, where moments are blind, some time later."""
        every, done = self._every[job], self._scheduler.done_s(job)
        later = self._later[job] if self._levers.blind else 0.0
        work = (math.floor(max(0.0, done - later) / every + 1e-9) + 1) * every + later
        at = self._scheduler.reaches_at(job, work)
        self._call((math.floor(at / self._look_s) + 1) * self._look_s, job, CHECKPOINT)

    def checkpoint(self, job: int, now: float, *, waited_for: bool) -> Iterator[Event]:
        """None where no job waits that could gain by it."""
        if self._snapshots.state(job) is not JobState.RUNNING:
            return
        self._call_at_next_checkpoint(job)
        job_id, attempt = self._snapshots.id(job), self._snapshots.attempt(job)
        proof = self._proof(job)
        if not (waited_for and proof.is_sure):
            return
        yield ResumeKnown(now, job_id, proof)
        every = self._every[job]
        behind = self._scheduler.done_s(job) % every / self._scheduler.pace(job)
        saved_at = now if self._levers.blind else now - behind
        yield CheckpointSeen(now, job_id, attempt, saved_at)

    def sign(self, job: int, now: float) -> Iterator[Event]:
        """A log that shows that the run is in vain, and shows it still when it is read later."""
        if self._snapshots.state(job) is JobState.RUNNING:
            self._call(now + self._doomed_s, job, SIGN)
            shown = Progress(log="", phase="training", warnings=self.warnings(job))
            yield ProgressSeen(now, self._snapshots.id(job), shown)

    def warnings(self, job: int) -> tuple[EarlyWarning, ...]:
        return _IN_VAIN if self._scheduler.done_s(job) >= self._sign[job] - _NEARLY_S else ()

    def pace(self, job: int, now: float) -> Iterator[Event]:
        if self._snapshots.state(job) is JobState.RUNNING:
            yield PaceSeen(
                now,
                self._snapshots.id(job),
                self._snapshots.attempt(job),
                self._scheduler.pace(job),
            )

    def carry_out(self, action: Action, requeue_s: float) -> None:
        job = self._snapshots.number(action.job_id)
        match action.kind:
            case "preempt" if self._snapshots.requeued(job, action.attempt):
                self._snapshots.hold(job)
                self._stopped_at[job] = self._scheduler.now
                self._scheduler.hold_back(job)
            case "release" if self._snapshots.release(job):
                since = self._scheduler.now - self._stopped_at.get(job, -math.inf)
                self._scheduler.release(job, max(0.0, requeue_s - since))
            case "cancel" if self._snapshots.state(job) is JobState.RUNNING:
                self._scheduler.cancel(job)
            case "share":
                self._share(job, self._snapshots.number(action.beside))

    def _share(self, job: int, host: int) -> None:
        """The pending one starts beside the running one, if both still are that."""
        pending = self._snapshots.state(job) is JobState.PENDING
        running = self._snapshots.state(host) is JobState.RUNNING
        if pending and running and self._scheduler.share(job, host):
            self._call(self._scheduler.now + _PACE_S, job, PACE)
