"""The jobs of the live experiment once more in the simulator, as its policy `slurm` runs them.

What goes in: times of submission, requests, limits, the numbers in the code, what the daemon first
predicted of each job and how long after its submission Slurm had the nice number, Slurm's
configuration, and what that run has shown of its machine: how much longer than its steps each run
lasts, how often the daemon polls, how long after a failure or a checkpoint a job waits again. No
wait goes in, so that what is left is the error of the scheduler's model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bench.live.arm import ArmResult, JobResult
from bench.live.arms import ARMS, CONSENT, DAEMON
from bench.live.compressed_time import COMPRESSED
from bench.live.programs import FAULT
from bench.live.replayed_jobs import COMES_BACK, GPUS_PER_NODE, NODES, ReplayedJob
from bench.live.simulated_levers import Logs, lever_side, with_levers
from schedmate.core import DecisionEngine, JobDiagnosed, NodeChoice
from schedmate.core.fairness import FairnessLimits
from schedmate.core.retry import DecisionLimits
from schedmate.handler import Case, NamedLog
from schedmate.model import Job, JobState
from schedmate.model.priority import DEFAULT_ORDERING
from schedmate.policies.slurm import Slurm
from schedmate.policies.slurm_parameters import SlurmParameters
from schedmate.simulator.engine.cluster import Plain, SlurmNodes
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.engine.limits import ended_at_limits
from schedmate.simulator.engine.steering import Steered
from schedmate.simulator.estimators.base import Estimates, unknown
from schedmate.simulator.estimators.predictor import Fixed
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.shell.diagnosing import Diagnoses
from schedmate.simulator.shell.shell import SimulatedDaemon
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.columns import TraceColumns, columns_of

_BREAKS = -1
"""The purpose of a call at which a run meets its fate."""
_NEVER_S = 1e6
HANG_S = 60.0 * float(DAEMON["SCHEDMATE_HANG__MINUTES"]) + 2.0
"""From its last line to the end of a run that hangs: two looks longer than the silence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a run has shown of its machine, cluster and daemon; seconds."""

    overhead_s: float = 0.0
    """How much longer than its steps a run holds its GPUs: the median."""
    overheads: Mapping[int, float] = field(default_factory=dict)
    """The same of jobs by their numbers, where they ran once."""
    poll_s: float = float(DAEMON["SCHEDMATE_SLURM__POLL_S"])
    """Between two polls of the daemon."""
    reaction_s: float = 4.0
    """From the end of a run that a fault broke to its requeue."""
    pause_s: float = 2.0
    """Between a requeue and the earliest start of the next run."""
    restart_s: float = 2.0
    """What runs were seen to lose by a restart before this one."""

    def of(self, job: ReplayedJob) -> float:
        return self.overheads.get(job.number, self.overhead_s)

    def first_s(self, job: ReplayedJob) -> float:
        return job.first_s + self.of(job)


@dataclass(frozen=True, slots=True)
class Outcome:
    jct_s: np.ndarray
    first_wait_s: np.ndarray
    numbers: Sequence[int]
    actions: Mapping[str, int]


def simulate(
    jobs: Sequence[ReplayedJob],
    submitted: Mapping[int, float],
    config: str,
    *,
    shown: Shown,
    schedmate: ArmResult | None = None,
    settings: Mapping[str, str] | None = None,
) -> Outcome:
    """With SchedMate where its arm's predictions are given."""
    parameters = replace(SlurmParameters.read(config), idle_users=1)
    asked = columns_of([_trace_job(job, submitted[job.number], shown) for job in jobs])
    columns = ended_at_limits(asked, parameters.over_time_limit_s)
    by_number = {str(job.number): job for job in jobs}
    ordered = [by_number[each] for each in columns.ids]
    recovery = _NextRuns(ordered, columns.duration.tolist())
    daemon = None
    if schedmate is not None:
        faults = _Faults(recovery)
        daemon = _daemon(columns, schedmate, settings or {}, faults, jobs=ordered, shown=shown)
    beside = OwnersBeside(ordered, shown, daemon, recovery.broken)
    values = {**DAEMON, **(settings or {})}
    engine = SimulationEngine(
        columns,
        job_columns(columns, unknown(columns)),
        Slurm(parameters),
        SlurmNodes([GPUS_PER_NODE] * NODES),
        physics=Plain(columns.gpus.tolist()),
        restart_s=shown.overhead_s,
        recovery=recovery,
        beside=beside,
        nice_range=int(values["SCHEDMATE_NICE_RANGE"]),
        over_time_limit_s=parameters.over_time_limit_s,
    )
    outcome = engine.run()
    return Outcome(
        jct_s=outcome.end - columns.submit,
        first_wait_s=outcome.start - columns.submit,
        numbers=[job.number for job in ordered],
        actions={} if daemon is None else dict(daemon.actions),
    )


def _trace_job(job: ReplayedJob, submitted: float, shown: Shown) -> TraceJob:
    comes_back = job.fate in COMES_BACK
    return TraceJob(
        job_id=str(job.number),
        user=job.user,
        submit_time=submitted,
        duration=_NEVER_S if comes_back else shown.first_s(job),
        gpus=job.gpus,
        time_limit=60.0 * job.limit_minutes,
        name=job.project,
        group="main",
        status=JobState.COMPLETED,
    )


def _daemon(
    columns: TraceColumns,
    arm: ArmResult,
    settings: Mapping[str, str],
    faults: _Faults,
    *,
    jobs: Sequence[ReplayedJob],
    shown: Shown,
) -> SimulatedDaemon:
    """The decision engine with the live daemon's settings, predictions and levers."""
    values = {**DAEMON, **settings}
    order = COMPRESSED[values.get("SCHEDMATE_POLICY", DEFAULT_ORDERING)]()
    limits = DecisionLimits(fairness=fairness_limits(settings))
    has_levers = ARMS[arm.arm].levers
    return SimulatedDaemon(
        DecisionEngine(order, with_levers(limits) if has_levers else limits),
        columns,
        predictor=Fixed(_estimates(columns, arm, shown.poll_s)),
        tracker=Logs(jobs, [shown.of(job) for job in jobs]) if has_levers else None,
        diagnoses=faults,
        look_s=shown.poll_s,
        requeue_s=max(0.0, shown.reaction_s - shown.poll_s / 2) + shown.pause_s,
        comments=dict.fromkeys(range(len(jobs)), CONSENT) if has_levers else {},
        levers=lever_side(jobs, shown.poll_s, shown.restart_s) if has_levers else None,
    )


def fairness_limits(settings: Mapping[str, str]) -> FairnessLimits:
    """Those of the live daemon."""
    values, usual = {**DAEMON, **settings}, FairnessLimits()
    return FairnessLimits(
        late_hours=float(values.get("SCHEDMATE_FAIRNESS__LATE_HOURS", usual.late_hours)),
        hours=float(values.get("SCHEDMATE_FAIRNESS__HOURS", usual.hours)),
        times=float(values.get("SCHEDMATE_FAIRNESS__TIMES", usual.times)),
    )


def _estimates(columns: TraceColumns, arm: ArmResult, look_s: float) -> Estimates:
    known = {str(each.number): each for each in arm.jobs}
    spreads = [known[each].predicted or (math.nan,) * 3 for each in columns.ids]
    p10, p50, p90 = np.array(spreads, dtype=np.float64).T
    costs = reading_s(arm.jobs, look_s)
    cost = np.array([costs.get(int(each), 0.0) for each in columns.ids])
    return Estimates(p10, p50, p90, cost, "live", [known[each].basis for each in columns.ids])  # type: ignore[misc]


def reading_s(results: Sequence[JobResult], look_s: float) -> dict[int, float]:
    """How long a reader that reads one job after the other is busy with each, so that their nice
    numbers come when they came. Half a look passes until a job is seen."""
    placed = [(each.submitted + each.placed_s, each) for each in results if each.placed_s]
    costs, free = {}, -math.inf
    for at, each in sorted(placed, key=lambda pair: pair[0]):
        costs[each.number] = max(0.0, at - max(free, each.submitted + look_s / 2))
        free = at
    return costs


class _Faults(Diagnoses):
    """The log of a job that met a fault, through the real handler."""

    def of(
        self, job: int, seen: Job, now: float, scheduler: Steered, *, hung: bool
    ) -> JobDiagnosed:
        log = NamedLog("job.log", FAULT.encode())
        case = Case(logs=(log,), state=JobState.FAILED, exit_code=1, nodes=seen.nodes, hung=hung)
        nodes = frozenset(str(node) for node in scheduler.nodes_for(job))
        return JobDiagnosed(
            now,
            seen.id,
            seen.restarts,
            self._handler.diagnose(case),
            choice=NodeChoice(nodes, max(1, len(seen.nodes))),
        )


class _NextRuns:
    """Fulfils `Recovery`: a run goes on from its last checkpoint, or begins anew."""

    def __init__(self, jobs: Sequence[ReplayedJob], lasts_s: Sequence[float]) -> None:
        self._jobs = jobs
        self._lasts_s = lasts_s
        self.broken: set[int] = set()
        """Those whose fault or hang lies behind them."""

    def restarts_with(self, job: int, done_s: float) -> tuple[float, float]:
        each = self._jobs[job]
        kept = done_s // each.saves_every_s * each.saves_every_s if each.resumes else 0.0
        whole = each.sound_s if job in self.broken else self._lasts_s[job]
        return max(whole, kept), kept

    def by_hand_s(self, job: int) -> float:  # noqa: ARG002 - no node fails here
        return 0.0


class OwnersBeside:
    """Fulfils `Beside`: what breaks, and who brings it back; the daemon, if any, sees all of it."""

    def __init__(
        self,
        jobs: Sequence[ReplayedJob],
        shown: Shown,
        daemon: SimulatedDaemon | None,
        broken: set[int],
    ) -> None:
        self._jobs = jobs
        self._shown = shown
        self._daemon = daemon
        self._broken = broken
        self._breaks: dict[int, float] = {}
        """When the present run of a job breaks."""

    def begin(self, scheduler: Steered) -> None:
        self._scheduler = scheduler
        if self._daemon is not None:
            self._daemon.begin(scheduler)

    def submitted(self, job: int) -> None:
        if self._daemon is not None:
            self._daemon.submitted(job)

    def started(self, job: int) -> None:
        if self._daemon is not None:
            self._daemon.started(job)
        each = self._jobs[job]
        if each.fate in COMES_BACK and job not in self._broken:
            at = self._breaks[job] = self._scheduler.reaches_at(job, self._first_run_s(each))
            self._scheduler.call_at(at, job, _BREAKS)

    def preempted(self, job: int) -> None:
        if self._daemon is not None:
            self._daemon.preempted(job)

    def ended(self, job: int, *, killed: bool) -> None:
        if self._daemon is not None:
            self._daemon.ended(job, killed=killed)

    def failed(self, job: int, nodes: Sequence[int]) -> None:
        if self._daemon is not None:
            self._daemon.failed(job, nodes)

    def called(self, job: int, purpose: int) -> None:
        if purpose != _BREAKS:
            if self._daemon is not None:
                self._daemon.called(job, purpose)
            return
        engine = self._scheduler
        if not isinstance(engine, SimulationEngine) or job not in engine.running():
            return
        if self._breaks[job] != engine.now:
            return  # it has made way since
        self._broken.add(job)
        each, nodes = self._jobs[job], engine.nodes_of(job)
        engine.resubmit(job, each.back_after_s)
        if self._is_noticed(each):  # and queued again before its owner does
            self.failed(job, nodes)

    def _first_run_s(self, job: ReplayedJob) -> float:
        """How long a run lasts that breaks or hangs."""
        if job.fate == "fault" or not self._is_noticed(job):
            return self._shown.first_s(job)
        return job.breaks_at_s + HANG_S + self._shown.of(job)

    def _is_noticed(self, job: ReplayedJob) -> bool:
        """Whether SchedMate sees what broke it before its owner has ended it."""
        if self._daemon is None:
            return False
        return job.fate == "fault" or job.breaks_at_s + HANG_S < job.first_s
