"""The event heap that drives the same mind as the live loop, over a trace.

Time jumps from event to event. Everything that happens at one moment is told to the mind
before anybody is started, so the outcome does not depend on the order of a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from schedmate.core import Act, Advise, Instruction, JobAdvised, JobSeen, Mind
from schedmate.core.events import Event as Told
from schedmate.model import Advice, Job, JobState, Request, Workload
from schedmate.simulator.result import JobResult
from schedmate.simulator.waiting import Run, WaitingLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.model import JobId, Prediction
    from schedmate.simulator.mind_cluster import Cluster
    from schedmate.simulator.traces import TraceJob

    Adviser = Callable[[TraceJob], Prediction | None]
    Progress = Callable[[int, int], None]

_NOTHING_READ = Workload()
_PROGRESS_CALLS = 200


@dataclass(frozen=True, slots=True)
class Submitted:
    run: Run


@dataclass(frozen=True, slots=True)
class Advised:
    run: Run
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class Finished:
    run: Run


Event = Submitted | Advised | Finished


class Engine:
    def __init__(
        self,
        jobs: Sequence[TraceJob],
        *,
        cluster: Cluster,
        line: WaitingLine,
        mind: Mind,
        advise: Adviser | None = None,
        advice_cost_s: float = 0.0,
        on_progress: Progress | None = None,
    ) -> None:
        self._cluster = cluster
        self._line = line
        self._mind = mind
        self._advise = advise
        self._advice_cost_s = advice_cost_s
        self._on_progress = on_progress
        by_submission = sorted(jobs, key=lambda job: job.submit_time)
        self._runs = {
            job.job_id: Run(job, order, _request(job)) for order, job in enumerate(by_submission)
        }
        self._now = 0.0
        self._ended = 0
        # sorted by time and order, which is a heap already
        self._heap: list[tuple[float, int, Event]] = [
            (run.job.submit_time, run.order, Submitted(run)) for run in self._runs.values()
        ]
        self._sequence = len(self._heap)

    def run(self) -> tuple[JobResult, ...]:
        heap = self._heap
        while heap:
            self._now = heap[0][0]
            while heap and heap[0][0] == self._now:
                self._happen(heappop(heap)[2])
            self._start_who_can()
        return tuple(_result(run) for run in self._runs.values())

    def _happen(self, event: Event) -> None:
        match event:
            case Submitted(run=run):
                self._line.put(run)
                self._tell(JobSeen(self._now, _snapshot(run, JobState.PENDING)))
            case Advised(run=run, prediction=prediction):
                self._tell_advice(run, prediction)
            case Finished(run=run):
                self._cluster.finish(run.job.job_id)
                self._tell(JobSeen(self._now, _snapshot(run, run.job.status)))
                self._count_ended()

    def _start_who_can(self) -> None:
        while self._cluster.free and (run := self._line.take(self._cluster.free)):
            self._cluster.start(run.job.job_id, run.job.gpus)
            run.start = self._now
            self._tell(JobSeen(self._now, _snapshot(run, JobState.RUNNING)))
            run.end = self._now + run.job.duration
            self._later(run.end, Finished(run))

    def _tell(self, event: Told) -> None:
        for instruction in self._mind.handle(event):
            self._carry_out(instruction)

    def _carry_out(self, instruction: Instruction) -> None:
        """Do what a simulated cluster can do; it has no logs to track or diagnose."""
        match instruction:
            case Advise(job=job):
                self._ask_adviser(self._runs[job.id])
            case Act(action=action) if action.kind == "set_nice" and action.value is not None:
                self._set_nice(action.job_id, int(action.value))

    def _ask_adviser(self, run: Run) -> None:
        prediction = self._advise(run.job) if self._advise else None
        if prediction is None:
            return
        if self._advice_cost_s:
            self._later(self._now + self._advice_cost_s, Advised(run, prediction))
        else:
            self._tell_advice(run, prediction)

    def _tell_advice(self, run: Run, prediction: Prediction) -> None:
        advice = Advice(workload=_NOTHING_READ, prediction=prediction)
        self._tell(JobAdvised(self._now, run.job.job_id, advice))

    def _set_nice(self, job_id: JobId, nice: int) -> None:
        run = self._runs[job_id]
        run.nice = nice
        self._line.put(run)

    def _later(self, time: float, event: Event) -> None:
        heappush(self._heap, (time, self._sequence, event))
        self._sequence += 1

    def _count_ended(self) -> None:
        self._ended += 1
        total = len(self._runs)
        if self._on_progress and (self._ended % max(1, total // _PROGRESS_CALLS) == 0):
            self._on_progress(self._ended, total)


def _request(job: TraceJob) -> Request:
    return Request(gpus=job.gpus, nodes=job.nodes, time_limit_s=job.time_limit, partition=job.group)


def _snapshot(run: Run, state: JobState) -> Job:
    """The job as a scheduler would show it now."""
    job = run.job
    return Job(
        id=job.job_id,
        name=job.name,
        user=job.user,
        state=state,
        workdir=job.workdir or "",
        script=job.script,
        request=run.request,
        submit_time=job.submit_time,
        start_time=run.start,
        end_time=run.end,
        nice=run.nice,
    )


def _result(run: Run) -> JobResult:
    if run.start is None or run.end is None:
        raise AssertionError(f"job {run.job.job_id} never ran")
    return JobResult(
        job_id=run.job.job_id,
        gpus=run.job.gpus,
        submit_time=run.job.submit_time,
        start_time=run.start,
        end_time=run.end,
        status=run.job.status,
    )
