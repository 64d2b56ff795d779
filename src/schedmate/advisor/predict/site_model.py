"""What a site's history has taught, learnt now and then at bounded cost and kept with it.

Four parts: how times scale (`learning`), what the site's cohorts take (`cohort_model`), how far off
predictions were (`calibration`), and how far the code has told more than the cohorts (`blending`).
Without any of it, predictions go by prior beliefs.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from schedmate.advisor.predict.blending import Blend, Blended
from schedmate.advisor.predict.calibration import Calibration
from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.distributions import Pmf
from schedmate.advisor.predict.durations import estimate_duration
from schedmate.advisor.predict.jobs import ended_job, replay
from schedmate.advisor.predict.learning import learn_again, learnt_scaling
from schedmate.advisor.predict.neighbours import StoredRuns
from schedmate.advisor.predict.scaling import Scaling
from schedmate.advisor.predict.without_runs import COHORTS
from schedmate.model import BadInput, History, PastRun, Spread
from schedmate.model.sketch import sketch_of_run

_CALIBRATION, _BLEND = "calibration/3", "blend/3"
_RUNS = 20_000
"""How many of the newest runs the site model goes by."""
_REHEARSED = 300


@dataclass(frozen=True, slots=True)
class SiteModel:
    scaling: Scaling
    cohorts: CohortModel | None = None
    calibration: Calibration | None = None
    blend: Blend | None = None


def learnt_site_model(history: History) -> SiteModel:
    """What was learnt last."""
    return SiteModel(
        learnt_scaling(history),
        _newest.of(history.learnt(COHORTS)),
        _calibration(history.learnt(_CALIBRATION)),
        _blend(history.learnt(_BLEND)),
    )


def learn(history: History, *, at: float) -> None:
    """All that this history teaches, at bounded cost; it is kept with the history."""
    scaling = learn_again(history, at=at)
    _learn_site(history, scaling, at=at)
    history.keep_learnt(_CALIBRATION, rehearsed(history, scaling).dump(), at=at)


def _learn_site(history: History, scaling: Scaling, *, at: float) -> None:
    """The cohorts from all runs, and from the newest how far their code tells more."""
    site, blend = CohortModel(), Blend()
    recent = history.recent_runs(limit=_REHEARSED)
    newest = {run.job.id: run for run in recent if run.duration_s > 0}
    ended = (ended_job(PastRun(job=job)) for job in history.recent_jobs(limit=_RUNS))
    jobs = [job for job in ended if job is not None]
    since = min((run.job.submit_time for run in newest.values()), default=0.0)
    site.learn(job for job in jobs if job.ended_at < since)
    past, in_flight = StoredRuns(history), dict[str, Blended]()
    for event in replay(job for job in jobs if job.ended_at >= since):
        facts, run = event.run.facts, newest.get(event.run.facts.job_id)
        match event.kind:
            case "submit":
                site.submitted(facts)
                mass = site.mass(facts.job_id)
                if run is not None and mass is not None:
                    in_flight[facts.job_id] = as_submitted(
                        blend, past, run, scaling, mass, seen_s=site.seen_s
                    )
            case "start":
                site.started(facts.job_id, event.at)
            case "end":
                site.ended(event.run)
                if (blended := in_flight.pop(facts.job_id, None)) is not None:
                    blend.learn(blended, event.run.duration_s)
    history.keep_learnt(COHORTS, base64.b85encode(site.dump()).decode(), at=at)
    history.keep_learnt(_BLEND, blend.dump(), at=at)


def as_submitted(
    blend: Blend,
    past: StoredRuns,
    run: PastRun,
    scaling: Scaling,
    mass: Pmf,
    *,
    seen_s: tuple[float, float],
) -> Blended:
    """What would have been predicted of a run when it was submitted."""
    sketch = sketch_of_run(run)
    estimate = estimate_duration(
        past, sketch, run.workload, scaling, submitted_at=run.job.submit_time
    )
    return blend.predict(
        mass,
        user=run.job.user,
        limit_s=run.job.request.time_limit_s,
        sketch=sketch,
        estimate=estimate,
        seen_s=seen_s,
    )


class _NewestCohorts:
    """The model that was learnt last. The one before it is let go first: both are large."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._body: str | None = None
        self._model: CohortModel | None = None

    def of(self, body: str | None) -> CohortModel | None:
        with self._lock:
            if body != self._body:
                self._body = self._model = None
                self._body, self._model = body, _cohorts(body)
            return self._model


_newest = _NewestCohorts()


def _cohorts(body: str | None) -> CohortModel | None:
    if body is None:
        return None
    try:
        return CohortModel.load(base64.b85decode(body))
    except (BadInput, ValueError):  # of another version, or damaged: it will be learnt again
        return None


@lru_cache(maxsize=2)
def _blend(body: str | None) -> Blend | None:
    if body is None:
        return None
    try:
        return Blend.load(body)
    except BadInput:  # as above
        return None


@lru_cache(maxsize=2)
def _calibration(body: str | None) -> Calibration | None:
    if body is None:
        return None
    try:
        return Calibration.load(body)
    except BadInput:  # as above
        return None


_AFTER_S = 1e-6
"""No job ends as it is submitted, whatever its clocks say."""


def rehearsed(history: History, scaling: Scaling) -> Calibration:
    """Nothing that ended after a submission is looked at."""
    calibration, past = Calibration(), StoredRuns(history)
    newest = [run for run in history.recent_runs(limit=_REHEARSED) if run.duration_s > 0]
    in_flight: dict[int, tuple[str, Spread, Spread]] = {}
    for number, ends in _as_it_happened(newest):
        run = newest[number]
        if ends:
            if number in in_flight:
                kind, raw, calibrated = in_flight.pop(number)
                calibration.observed(kind, raw, run.duration_s, calibrated=calibrated)
            continue
        estimate = estimate_duration(
            past, sketch_of_run(run), run.workload, scaling, submitted_at=run.job.submit_time
        )
        if estimate is not None and not estimate.neighbours.none_ended:
            kind, raw = estimate.kind, estimate.duration_s
            in_flight[number] = kind, raw, calibration.calibrated(kind, raw)
    return calibration


def _as_it_happened(runs: Sequence[PastRun]) -> Iterator[tuple[int, bool]]:
    """Which run was submitted, or (True) ended; what ended as another was submitted goes first."""
    events: list[tuple[float, bool, int]] = []
    for number, run in enumerate(runs):
        came = run.job.submit_time
        ended = max(run.job.end_time or 0.0, came + _AFTER_S)
        events += [(came, True, number), (ended, False, number)]
    for _, submitted, number in sorted(events):
        yield number, not submitted
