"""What SchedMate's advisor predicts of each job at its submission: the real pipeline, in order.

Record, match, scaled prediction, calibration, as they are used live; where nothing resembles a job,
the site's model of its metadata. Nothing is learnt of a job before it has ended.

What the jobs are is read beforehand, once for all that are alike; past runs stay in memory as
columns. Durations come from `advisor.predict.estimate_duration`, as live.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from schedmate.advisor import Target
from schedmate.advisor.predict.blending import Blend, Blended
from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.durations import Estimate, estimate_duration
from schedmate.advisor.predict.jobs import EndedJob, Facts, replay, sketch_of_target
from schedmate.advisor.predict.learning import learn_scaling
from schedmate.advisor.predict.runs import columns_of, rows_of
from schedmate.advisor.predict.scaling import PRIOR, Scaling
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
_FIRST_LESSON = 20
_NEXT_LESSON = 2.0
_LOOKED_AT = 3000
_PROGRESS_EVERY = 100


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
    runs = _runs(columns, known_at, workload)
    readings = readings_of(columns, workload, recorded)
    predictor = _Metadata() if readings is None else _Code(readings)
    predicted = np.full((3, len(columns)), np.nan)
    basis: list[Basis] = ["history"] * len(columns)
    done = 0
    for event in replay(runs):
        job = int(event.run.facts.job_id)
        match event.kind:
            case "submit":
                spread = predictor.submitted(job, event.run.facts)
                predicted[:, job] = spread.p10, spread.p50, spread.p90
                basis[job] = predictor.basis(job)
                done += 1
                if on_progress is not None and done % _PROGRESS_EVERY == 0:
                    on_progress(done, len(columns))
            case "start":
                predictor.started(event.run, event.at)
            case "end":
                predictor.ended(job, event.run)
    cost = np.full(len(columns), llm_s + (0.0 if readings is None else READ_S))
    return Estimates(predicted[0], predicted[1], predicted[2], cost, "advisor", basis)


def _runs(
    columns: TraceColumns, known_at: Floats, workload: SyntheticWorkload | None
) -> list[EndedJob]:
    """As the unaided run had them. An end is known an instant later: what ends as a job is
    submitted has not been learnt from yet."""
    ends = np.nextafter(known_at, np.inf)
    names = columns.name if workload is None else workload.names
    rows = zip(
        columns.submit.tolist(),
        np.maximum(ends - columns.duration, columns.submit).tolist(),
        ends.tolist(),
        columns.gpus.tolist(),
        columns.nodes.tolist(),
        columns.stated_limit.tolist(),
        columns.status.tolist(),
        strict=True,
    )
    return [
        EndedJob(
            Facts(
                job_id=str(job),
                user=columns.user[job],
                name=names[job],
                gpus=gpus,
                nodes=nodes,
                limit_s=limit if limit < np.inf else None,
                partition=columns.group[job],
                submitted_at=submitted,
            ),
            started,
            ended,
            STATES[status],
        )
        for job, (submitted, started, ended, gpus, nodes, limit, status) in enumerate(rows)
    ]


class _Metadata:
    """A bare trace: user, name and request are all there is to go by."""

    def __init__(self) -> None:
        self._site = CohortModel()
        self._blend = Blend()
        self._blended: dict[int, Blended] = {}

    def submitted(self, job: int, facts: Facts) -> Spread:
        return self._blend_in(job, facts)

    def _blend_in(
        self,
        job: int,
        facts: Facts,
        sketch: Sketch | None = None,
        neighbours: tuple[str, float] | None = None,
    ) -> Spread:
        site = self._site.submitted(facts)
        mass = self._site.mass(facts.job_id)
        if mass is None:
            return site
        blended = self._blended[job] = self._blend.predict(
            mass,
            user=facts.user,
            limit_s=facts.limit_s,
            sketch=sketch,
            neighbours=neighbours,
            seen_s=self._site.seen_s,
        )
        return blended.duration_s if blended.claims else site

    def basis(self, job: int) -> Basis:  # noqa: ARG002 - of every job
        """What the newest prediction of a job rests on."""
        return "history"

    def started(self, run: EndedJob, at: float) -> None:
        self._site.started(run.facts.job_id, at)

    def ended(self, job: int, run: EndedJob) -> None:
        self._site.ended(run)
        if (blended := self._blended.pop(job, None)) is not None:
            self._blend.learn(blended, run.duration_s)


@dataclass(slots=True)
class _Lessons:
    """What the past has taught, and when it will be asked again."""

    scaling: Scaling = PRIOR
    due: float = _FIRST_LESSON

    def learn(self, history: RunMemory) -> bool:
        """Whether the scaling is another one now."""
        if len(history) < self.due:
            return False
        self.due = _NEXT_LESSON * len(history)
        with np.errstate(all="ignore"):
            learnt = learn_scaling(columns_of(rows_of(history.newest_sketches(_LOOKED_AT))))
        if _sound(learnt):
            self.scaling = learnt
        return True


def _sound(scaling: Scaling) -> bool:
    """A lesson that came to nothing is not believed."""
    numbers = [*scaling.rough, *scaling.unlike, scaling.noise, scaling.repeat]
    numbers += [slope.mean for slopes in scaling.slopes.values() for slope in slopes]
    return bool(np.isfinite(numbers).all())


@dataclass(frozen=True, slots=True)
class JobReading:
    """What is read of a job at its submission."""

    fingerprint: Fingerprint | None
    record: Workload
    request: Request
    sketch: Sketch


class _Code(_Metadata):
    """Reads every job, looks for neighbours, and learns when it ends."""

    def __init__(self, source: Readings) -> None:
        super().__init__()
        self._source = source
        self._history = RunMemory()
        self._lessons = _Lessons()
        self._basis: dict[int, Basis] = {}
        self._readings: dict[int, JobReading] = {}
        self._sketches: dict[tuple[object, ...], Sketch] = {}
        self._last: tuple[object, ...] = ()
        self._last_estimate: Estimate | None = None

    def submitted(self, job: int, facts: Facts) -> Spread:
        estimate = self._estimated(job, facts)
        if estimate is None:
            self._basis[job] = "history"
            return self._blend_in(job, facts, self._readings[job].sketch)
        self._basis[job] = estimate.neighbours.tier
        return self._blend_in(job, facts, self._readings[job].sketch, estimate.claim)

    def basis(self, job: int) -> Basis:
        return self._basis.pop(job)

    def ended(self, job: int, run: EndedJob) -> None:
        super().ended(job, run)
        reading = self._readings.pop(job)
        self._history.keep(self._past(job, run, reading), reading.sketch)
        self._lessons.learn(self._history)

    def _estimated(self, job: int, facts: Facts) -> Estimate | None:
        """A job submitted right after one that is the same gets the same answer."""
        reading = self._read(job, facts)
        asked = facts.user, facts.name, reading, len(self._history)
        if asked != self._last:
            self._last_estimate = estimate_duration(
                self._history,
                reading.sketch,
                reading.record,
                self._lessons.scaling,
                submitted_at=facts.submitted_at,
            )
            self._last = asked
        return self._last_estimate

    def _read(self, job: int, facts: Facts) -> JobReading:
        """Kept until the job has ended."""
        prints, record, request = self._source.read(job, facts)
        alike = facts.user, facts.name, facts.nodes, request.gpu_type, prints, id(record)
        sketch = self._sketches.get(alike)
        if sketch is None:
            sketch = sketch_of_target(_target(facts, request), prints, record)
            self._sketches[alike] = sketch
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
