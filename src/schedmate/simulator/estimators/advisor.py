"""What SchedMate's advisor predicts of each job at its submission: the real pipeline, in order.

Record, match, scaled prediction, blend and calibration, as they are used live; where nothing
resembles a job, the site's model of its metadata. Nothing is learnt of a job before it has ended.

What the jobs are is read beforehand, once for all that are alike; past runs stay in memory as
columns. Durations come from `advisor.predict.estimate_duration`, as live.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from schedmate.advisor import Target
from schedmate.advisor.predict.durations import Estimate, estimate_duration
from schedmate.advisor.predict.jobs import EndedJob, Event, Facts, replay, sketch_of_target
from schedmate.advisor.predict.site_model import SiteModel
from schedmate.model import (
    Fingerprint,
    Job,
    PastRun,
    Request,
    Spread,
    Workload,
)
from schedmate.model.advice import Basis
from schedmate.model.sketch import Sketch
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.estimators.job_readings import Readings, readings_of
from schedmate.simulator.estimators.memory import RunMemory
from schedmate.simulator.synthetic.workload import SyntheticWorkload
from schedmate.simulator.traces.columns import STATES, Floats, TraceColumns

READ_S = 0.07
"""The median of reading a job that was never seen before: see how-a-job-is-read.md."""
_PROGRESS_EVERY = 100


def predictor_of(
    columns: TraceColumns,
    workload: SyntheticWorkload | None = None,
    recorded: Sequence[PastRun] | None = None,
) -> SitePredictor:
    """Of jobs of which nothing is known yet."""
    readings = readings_of(columns, workload, recorded)
    return SitePredictor() if readings is None else CodePredictor(readings)


def estimate(
    columns: TraceColumns,
    known_at: Floats,
    workload: SyntheticWorkload | None = None,
    *,
    recorded: Sequence[PastRun] | None = None,
    llm_s: float = 0.0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Estimates:
    """`recorded` are the jobs as a store remembers them, instead of a synthetic workload; `llm_s`
    is what a language model takes in addition, where one is asked about every job."""
    predictor = predictor_of(columns, workload, recorded)
    predicted = np.full((3, len(columns)), np.nan)
    basis: list[Basis] = ["history"] * len(columns)
    done = 0
    for event in replay(runs_of(columns, known_at, names_of(columns, workload))):
        spread, job = predictor.happened(event), int(event.run.facts.job_id)
        if spread is None:
            continue
        predicted[:, job] = spread.p10, spread.p50, spread.p90
        basis[job] = predictor.basis(job)
        done += 1
        if on_progress is not None and done % _PROGRESS_EVERY == 0:
            on_progress(done, len(columns))
    cost = np.full(len(columns), llm_s + predictor.cost_s)
    return Estimates(predicted[0], predicted[1], predicted[2], cost, "advisor", basis)


def names_of(columns: TraceColumns, workload: SyntheticWorkload | None) -> Sequence[str]:
    words = columns.name if workload is None else workload.names
    return [words[job] for job in range(len(columns))]


def facts_of(columns: TraceColumns, names: Sequence[str], *, first: int = 0) -> list[Facts]:
    """What a scheduler knows of each; the first has this number among all that are known."""
    rows = zip(
        columns.submit.tolist(),
        columns.gpus.tolist(),
        columns.nodes.tolist(),
        columns.stated_limit.tolist(),
        strict=True,
    )
    return [
        Facts(
            job_id=str(first + job),
            user=columns.user[job],
            name=names[job],
            gpus=gpus,
            nodes=nodes,
            limit_s=limit if limit < np.inf else None,
            partition=columns.group[job],
            submitted_at=submitted,
        )
        for job, (submitted, gpus, nodes, limit) in enumerate(rows)
    ]


def runs_of(columns: TraceColumns, known_at: Floats, names: Sequence[str]) -> list[EndedJob]:
    """As the unaided run had them. An end is known an instant later: what ends as a job is
    submitted has not been learnt from yet."""
    ends = np.nextafter(known_at, np.inf)
    starts = np.maximum(ends - columns.duration, columns.submit)
    rows = zip(starts.tolist(), ends.tolist(), columns.status.tolist(), strict=True)
    return [
        EndedJob(facts, started, ended, STATES[status])
        for facts, (started, ended, status) in zip(facts_of(columns, names), rows, strict=True)
    ]


class SitePredictor:
    """A bare trace: user, name and request are all there is to go by."""

    cost_s = 0.0

    def __init__(self) -> None:
        self._model = SiteModel()

    def happened(self, event: Event) -> Spread | None:
        """What is predicted of a job that was submitted; from all others it learns."""
        run, job = event.run, int(event.run.facts.job_id)
        match event.kind:
            case "submit":
                return self.submitted(job, run.facts)
            case "start":
                self.started(run.facts.job_id, event.at)
            case "end":
                self.ended(job, run)
        return None

    def copied(self) -> Self:
        """To go on from here more than once."""
        return copy.deepcopy(self, {id(each): each for each in self._shared()})

    def _shared(self) -> Iterable[object]:
        """What never changes."""
        return ()

    def submitted(self, job: int, facts: Facts) -> Spread:
        return self._model.submitted(facts, *self._estimated(job, facts)).duration_s

    def _estimated(
        self,
        job: int,  # noqa: ARG002 - nothing is known of its code
        facts: Facts,  # noqa: ARG002
    ) -> tuple[Sketch | None, Estimate | None]:
        """The sketch of its code, and what its neighbours predict."""
        return None, None

    def basis(self, job: int) -> Basis:  # noqa: ARG002 - of every job
        """What the newest prediction of a job rests on."""
        return "history"

    def started(self, job_id: str, at: float) -> None:
        self._model.started(job_id, at)

    def ended(
        self,
        job: int,  # noqa: ARG002
        run: EndedJob,
    ) -> None:
        self._model.ended(run)


@dataclass(frozen=True, slots=True)
class JobReading:
    """What is read of a job at its submission."""

    fingerprint: Fingerprint | None
    record: Workload
    request: Request
    sketch: Sketch


class CodePredictor(SitePredictor):
    """Reads every job, looks for neighbours, and learns when it ends."""

    cost_s = READ_S

    def __init__(self, source: Readings) -> None:
        super().__init__()
        self._source = source
        self._history = RunMemory()
        self._basis: dict[int, Basis] = {}
        self._readings: dict[int, JobReading] = {}
        self._sketches: dict[tuple[object, ...], tuple[Workload, Sketch]] = {}
        """By the identity of the record among others, which is kept with it: else another record
        might get its number."""
        self._last: tuple[object, ...] = ()
        self._last_estimate: Estimate | None = None

    def _estimated(self, job: int, facts: Facts) -> tuple[Sketch | None, Estimate | None]:
        estimate = self._from_neighbours(job, facts)
        self._basis[job] = "history" if estimate is None else estimate.neighbours.tier
        return self._readings[job].sketch, estimate

    def _shared(self) -> Iterable[object]:
        return (self._source, self._sketches, *self._history.recent_runs(limit=len(self._history)))

    def basis(self, job: int) -> Basis:
        return self._basis.pop(job)

    def ended(self, job: int, run: EndedJob) -> None:
        super().ended(job, run)
        reading = self._readings.get(job) or self._read(job, run.facts)
        del self._readings[job]
        self._history.keep(self._past(job, run, reading), reading.sketch)

    def _from_neighbours(self, job: int, facts: Facts) -> Estimate | None:
        """A job submitted right after one that is the same gets the same answer."""
        reading = self._read(job, facts)
        asked = facts.user, facts.name, reading, len(self._history)
        if asked != self._last:
            self._last_estimate = estimate_duration(
                self._history,
                reading.sketch,
                reading.record,
                submitted_at=facts.submitted_at,
            )
            self._last = asked
        return self._last_estimate

    def _read(self, job: int, facts: Facts) -> JobReading:
        """Kept until the job has ended."""
        prints, record, request = self._source.read(job, facts)
        alike = facts.user, facts.name, facts.nodes, request.gpu_type, prints, id(record)
        if alike not in self._sketches:
            sketch = sketch_of_target(_target(facts, request), prints, record)
            self._sketches[alike] = record, sketch
        sketch = self._sketches[alike][1]
        reading = self._readings[job] = JobReading(prints, record, request, sketch)
        return reading

    def _past(self, job: int, run: EndedJob, reading: JobReading) -> PastRun:
        """What is remembered, with the start-up in its log and what its GPUs' meters showed."""
        facts, observed = run.facts, self._source.observed(job)
        startup = observed.startup_s
        return PastRun(
            job=Job(
                id=facts.job_id,
                name=facts.name,
                user=facts.user,
                state=run.state,
                workdir="/",
                request=reading.request,
                submit_time=facts.submitted_at,
                start_time=run.started_at,
                end_time=run.ended_at,
            ),
            fingerprint=reading.fingerprint,
            workload=reading.record,
            startup_s=None if startup is None else min(startup, run.duration_s),
            gpu_memory_mb=observed.gpu_memory_mb,
            gpu_utilization=observed.gpu_utilization,
        )


def _target(facts: Facts, request: Request) -> Target:
    return Target(
        workdir=_WORKDIR,
        command=(),
        request=request,
        user=facts.user,
        name=facts.name,
        submitted_at=facts.submitted_at,
    )


_WORKDIR = Path("/")
