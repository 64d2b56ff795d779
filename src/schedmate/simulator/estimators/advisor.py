"""What SchedMate's advisor says of each job at its submission: the real pipeline, in time order.

Record, match, scaled prediction, calibration, as they are used live; where nothing resembles a job,
the site's model of its metadata. Nothing is learnt of a job before it has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from schedmate.advisor import Target
from schedmate.advisor.predicting.calibration import Calibration
from schedmate.advisor.predicting.columns import columns_of, rows_of
from schedmate.advisor.predicting.facts import Facts, Ran
from schedmate.advisor.predicting.lessons import learn_scaling
from schedmate.advisor.predicting.lore import Lore
from schedmate.advisor.predicting.replay import replay
from schedmate.advisor.predicting.scaling import PRIOR, Scaling
from schedmate.advisor.predicting.site_model import Forecast, SiteModel
from schedmate.model import (
    Fingerprint,
    Job,
    Outcome,
    PastRun,
    Prediction,
    Request,
    Spread,
    Workload,
)
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.estimators.foretelling import foretold
from schedmate.simulator.estimators.memory import Memory
from schedmate.simulator.estimators.reading import Records
from schedmate.simulator.synthetic.workload import SyntheticWorkload
from schedmate.simulator.traces.columns import STATES, Columns, Floats

READ_S = 0.07
"""The median of reading a job that was never seen before: see how-a-job-is-read.md."""
_FIRST_LESSON = 20
_NEXT_LESSON = 2.0
_LOOKED_AT = 3000
_PROGRESS_EVERY = 100
_NOTHING = Outcome(completed=0.0, failed=0.0, cancelled=0.0)


def estimate(
    columns: Columns,
    known_at: Floats,
    workload: SyntheticWorkload | None = None,
    *,
    llm_s: float = 0.0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Estimates:
    """`llm_s` is what a language model takes beside, where one is asked about every job."""
    ran = _ran(columns, known_at, workload)
    mind = _Site() if workload is None else _Mind(columns, workload)
    said = np.full((3, len(columns)), np.nan)
    predicted = 0
    for event in replay(ran):
        job = int(event.run.facts.job_id)
        match event.kind:
            case "submit":
                spread = mind.submitted(job, event.run.facts)
                said[:, job] = spread.p10, spread.p50, spread.p90
                predicted += 1
                if on_progress is not None and predicted % _PROGRESS_EVERY == 0:
                    on_progress(predicted, len(columns))
            case "start":
                mind.started(event.run, event.at)
            case "end":
                mind.ended(job, event.run)
    cost = np.full(len(columns), llm_s + (0.0 if workload is None else READ_S))
    return Estimates(said[0], said[1], said[2], cost, "advisor")


def _ran(columns: Columns, known_at: Floats, workload: SyntheticWorkload | None) -> list[Ran]:
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
        columns.limit.tolist(),
        columns.status.tolist(),
        strict=True,
    )
    return [
        Ran(
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


class _Site:
    """A bare trace: who asked for what is all there is to go by."""

    def __init__(self) -> None:
        self._model = SiteModel()

    def submitted(self, job: int, facts: Facts) -> Spread:  # noqa: ARG002 - the facts say it all
        return self._model.submitted(facts)

    def started(self, run: Ran, at: float) -> None:
        self._model.started(run.facts.job_id, at)

    def ended(self, job: int, run: Ran) -> None:  # noqa: ARG002 - the facts say it all
        self._model.ended(run)


@dataclass(slots=True)
class _Answer:
    """What was said of a job that has not ended."""

    raw: Prediction
    said: Spread


@dataclass(slots=True)
class _Lessons:
    """What the past has taught, and when it will be asked again."""

    scaling: Scaling = PRIOR
    due: float = _FIRST_LESSON
    calibration: Calibration = field(default_factory=Calibration)

    def learn(self, history: Memory) -> None:
        if len(history) < self.due:
            return
        self.due = _NEXT_LESSON * len(history)
        with np.errstate(all="ignore"):
            learnt = learn_scaling(columns_of(rows_of(history.newest_sketches(_LOOKED_AT))))
        if _sound(learnt):
            self.scaling = learnt


def _sound(scaling: Scaling) -> bool:
    """A lesson that came to nothing is not believed."""
    numbers = [*scaling.rough, *scaling.unlike, scaling.noise, scaling.repeat]
    numbers += [slope.mean for slopes in scaling.slopes.values() for slope in slopes]
    return bool(np.isfinite(numbers).all())


class _Heard(SiteModel):
    """What the site's model has said of this job already; it is not asked twice."""

    def __init__(self, said: Spread) -> None:
        self._said_already = Forecast(said, _NOTHING, "the site's past")

    def predict(self, facts: Facts) -> Forecast:  # noqa: ARG002 - as it says
        return self._said_already


class _Mind(_Site):
    """Reads every job, looks for its like, and learns when it ends."""

    def __init__(self, columns: Columns, workload: SyntheticWorkload) -> None:
        super().__init__()
        self._columns = columns
        self._workload = workload
        self._records = Records(workload.work)
        self._history = Memory()
        self._lessons = _Lessons()
        self._answers: dict[int, _Answer] = {}
        self._reading: dict[int, tuple[Fingerprint, Workload]] = {}
        self._asked: tuple[object, ...] = ()
        self._told = Prediction(basis="none", explanation="nobody has asked")

    def submitted(self, job: int, facts: Facts) -> Spread:
        usual = super().submitted(job, facts)
        raw = self._predicted(job, facts, usual)
        if raw.basis == "history" or raw.duration_s is None:
            return usual
        said = self._lessons.calibration.calibrated(raw.basis, raw.duration_s)
        self._answers[job] = _Answer(raw, said)
        return said

    def ended(self, job: int, run: Ran) -> None:
        super().ended(job, run)
        answer = self._answers.pop(job, None)
        if answer is not None and answer.raw.duration_s is not None:
            self._lessons.calibration.observed(
                answer.raw.basis, answer.raw.duration_s, run.duration_s, said=answer.said
            )
        self._history.keep(self._past(job, run))
        self._lessons.learn(self._history)

    def _predicted(self, job: int, facts: Facts, usual: Spread) -> Prediction:
        prints, record = self._read(job, facts.gpus)
        asked = facts.user, facts.name, facts.request, prints, record, len(self._history)
        if asked != self._asked:
            self._asked, self._told = (
                asked,
                foretold(
                    self._history,
                    _target(facts, self._request(job, facts)),
                    prints,
                    record,
                    Lore(self._lessons.scaling, _Heard(usual)),
                ),
            )
        return self._told

    def _read(self, job: int, gpus: int) -> tuple[Fingerprint, Workload]:
        """At its submission; at its end that is remembered."""
        if (known := self._reading.pop(job, None)) is not None:
            return known
        read = self._records.fingerprint(job, gpus), self._records.workload(job, gpus)
        self._reading[job] = read
        return read

    def _request(self, job: int, facts: Facts) -> Request:
        return Request(
            gpus=facts.gpus,
            gpu_type=self._columns.gpu_type[job] or None,
            nodes=facts.nodes,
            time_limit_s=facts.limit_s,
            partition=facts.partition or None,
        )

    def _past(self, job: int, run: Ran) -> PastRun:
        """What is remembered, with what its log told of start-up and what its GPUs' meters said."""
        facts, workload = run.facts, self._workload
        prints, record = self._read(job, facts.gpus)
        return PastRun(
            job=Job(
                id=facts.job_id,
                name=facts.name,
                user=facts.user,
                state=run.state,
                workdir="/",
                request=self._request(job, facts),
                submit_time=facts.submitted_at,
                start_time=run.started_at,
                end_time=run.ended_at,
            ),
            fingerprint=prints,
            workload=record,
            startup_s=min(float(workload.startup_s[job]), run.duration_s),
            gpu_memory_mb=float(workload.memory_mb[job]),
            gpu_utilization=float(workload.utilization[job]),
        )


def _target(facts: Facts, request: Request) -> Target:
    return Target(
        workdir=Path("/"),
        command=(),
        request=request,
        user=facts.user,
        name=facts.name,
        submitted_at=facts.submitted_at,
    )
