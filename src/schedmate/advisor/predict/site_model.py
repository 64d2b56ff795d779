"""What a site's history has taught, learnt now and then at bounded cost and kept with it.

Three parts: how times scale (`learning`), what the site's cohorts take (`cohort_model`), and how
far off predictions were (`calibration`). Without any of it, predictions go by prior beliefs.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from schedmate.advisor.predict.calibration import Calibration
from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.durations import estimate_duration
from schedmate.advisor.predict.jobs import ended_job
from schedmate.advisor.predict.learning import learn_again, learnt_scaling
from schedmate.advisor.predict.neighbours import StoredRuns
from schedmate.advisor.predict.scaling import Scaling
from schedmate.advisor.predict.without_runs import COHORTS
from schedmate.model import BadInput, History, PastRun, Spread
from schedmate.model.sketch import sketch_of_run

_CALIBRATION = "calibration/3"
_RUNS = 20_000
"""How many of the newest runs the site model goes by."""


@dataclass(frozen=True, slots=True)
class SiteModel:
    scaling: Scaling
    cohorts: CohortModel | None = None
    calibration: Calibration | None = None


def learnt_site_model(history: History) -> SiteModel:
    """What was learnt last."""
    return SiteModel(
        learnt_scaling(history),
        _cohorts(history.learnt(COHORTS)),
        _calibration(history.learnt(_CALIBRATION)),
    )


def learn(history: History, *, at: float) -> None:
    """All that this history teaches, at bounded cost; it is kept with the history."""
    scaling = learn_again(history, at=at)
    _learn_site(history, at=at)
    history.keep_learnt(_CALIBRATION, rehearsed(history, scaling).dump(), at=at)


def _learn_site(history: History, *, at: float) -> CohortModel:
    site = CohortModel()
    runs = (ended_job(run) for run in history.recent_runs(limit=_RUNS))
    site.learn(run for run in runs if run is not None)
    history.keep_learnt(COHORTS, base64.b85encode(site.dump()).decode(), at=at)
    return site


@lru_cache(maxsize=2)
def _cohorts(body: str | None) -> CohortModel | None:
    if body is None:
        return None
    try:
        return CohortModel.load(base64.b85decode(body))
    except (BadInput, ValueError):  # of another version, or damaged: it will be learnt again
        return None


@lru_cache(maxsize=2)
def _calibration(body: str | None) -> Calibration | None:
    if body is None:
        return None
    try:
        return Calibration.load(body)
    except BadInput:  # as above
        return None


_REHEARSED = 300
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
        if estimate is not None:
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
