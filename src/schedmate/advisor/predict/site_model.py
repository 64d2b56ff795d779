"""What a site's history has taught, learnt run by run or now and then, and kept with it.

Three parts: what the site's cohorts take (`cohort_model`), how far the code has told more
(`blending`), and how far off predictions were (`calibration`). Without any of it, neighbours alone
predict, within ranges by prior beliefs.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock

from schedmate.advisor.predict.blending import Blend, Blended
from schedmate.advisor.predict.calibration import Calibration
from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.distributions import Pmf
from schedmate.advisor.predict.durations import Estimate, estimate_duration
from schedmate.advisor.predict.jobs import EndedJob, Facts, ended_job, replay
from schedmate.advisor.predict.without_runs import COHORTS, LONGEST_S
from schedmate.model import BadInput, History, PastRun, Spread
from schedmate.model.sketch import Sketch, sketch_of_run
from schedmate.model.wire import dumps, loads

_LEARNT = "blend/4"
_RUNS = 20_000
"""How many of the newest runs the site model goes by."""
_REHEARSED = 300


@dataclass(slots=True)
class Learnt:
    """All but the cohorts, which are kept apart: they are large."""

    blend: Blend = field(default_factory=Blend)
    calibration: Calibration = field(default_factory=Calibration)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is predicted of a job, and what is needed to learn from its end."""

    duration_s: Spread
    by: str
    """`site`, `neighbours` or `blend`."""
    blended: Blended
    neighbours: tuple[str, Spread, Spread] | None = None
    """Their kind, and what they predict, before and after it was calibrated."""


@dataclass(slots=True)
class SiteModel:
    """Learns from submissions, starts and ends in the order in which they happen."""

    cohorts: CohortModel | None = None
    learnt: Learnt = field(default_factory=Learnt)
    in_flight: dict[str, Answer] = field(default_factory=dict)

    def answer(
        self,
        alone: Spread,
        mass: Pmf,
        facts: Facts,
        sketch: Sketch | None = None,
        estimate: Estimate | None = None,
    ) -> Answer:
        """`alone` and `mass` are what the cohorts predict. Runs of the same code that agree speak
        for themselves, as long as such answers were nearer; else the blend, where code was read."""
        blend = self.learnt.blend
        seen_s = self.cohorts.seen_s if self.cohorts is not None else (0.0, LONGEST_S)
        blended = blend.predict(
            mass,
            user=facts.user,
            limit_s=facts.limit_s,
            sketch=sketch,
            estimate=estimate,
            seen_s=seen_s,
        )
        duration, by, neighbours = alone, "site", None
        if blended.claims:
            duration, by = blended.duration_s, "blend"
        if estimate is not None and not estimate.neighbours.none_ended:
            given = self.calibrated(estimate)
            neighbours = estimate.kind, estimate.duration_s, given
            if blend.lets_answer(estimate):
                duration, by = given, "neighbours"
        return Answer(duration, by, blended, neighbours)

    def calibrated(self, estimate: Estimate) -> Spread:
        """Bent by how far off such predictions were on this site."""
        if not self.learnt.blend.is_learnt:
            return estimate.duration_s
        bent = self.learnt.calibration.calibrated(estimate.kind, estimate.duration_s)
        return estimate.within_bounds(bent)

    def submitted(
        self, facts: Facts, sketch: Sketch | None = None, estimate: Estimate | None = None
    ) -> Answer:
        cohorts = self._cohorts()
        alone = cohorts.submitted(facts)
        mass = cohorts.mass(facts.job_id)
        answer = self.in_flight[facts.job_id] = self.answer(alone, mass, facts, sketch, estimate)
        return answer

    def started(self, job_id: str, at: float) -> None:
        self._cohorts().started(job_id, at)

    def ended(self, run: EndedJob) -> None:
        self._cohorts().ended(run)
        answer = self.in_flight.pop(run.facts.job_id, None)
        if answer is not None:
            self.learnt.blend.learn(answer.blended, run.duration_s)
            if answer.neighbours is not None:
                kind, raw, given = answer.neighbours
                self.learnt.calibration.observed(kind, raw, run.duration_s, calibrated=given)

    def _cohorts(self) -> CohortModel:
        if self.cohorts is None:
            self.cohorts = CohortModel()
        return self.cohorts


def learn(history: History, *, at: float) -> None:
    """All that this history teaches, at bounded cost; it is kept with the history: the cohorts from
    all runs, and from the newest how far their code tells more."""
    cohorts = CohortModel()
    model = SiteModel(cohorts)
    newest = {run.job.id: run for run in history.recent_runs(limit=_REHEARSED) if run.duration_s}
    ended = (ended_job(PastRun(job=job)) for job in history.recent_jobs(limit=_RUNS))
    jobs = [job for job in ended if job is not None]
    since = min((run.job.submit_time for run in newest.values()), default=0.0)
    cohorts.learn(job for job in jobs if job.ended_at < since)
    for event in replay(job for job in jobs if job.ended_at >= since):
        match event.kind:
            case "submit":
                run = newest.get(event.run.facts.job_id)
                model.submitted(event.run.facts, *(_read(history, run) if run else ()))
            case "start":
                model.started(event.run.facts.job_id, event.at)
            case "end":
                model.ended(event.run)
    history.keep_learnt(COHORTS, base64.b85encode(cohorts.dump()).decode(), at=at)
    history.keep_learnt(_LEARNT, dumps(model.learnt), at=at)


def _read(history: History, run: PastRun) -> tuple[Sketch, Estimate | None]:
    """What was known of a run when it was submitted."""
    sketch, submitted = sketch_of_run(run), run.job.submit_time
    return sketch, estimate_duration(history, sketch, run.workload, submitted_at=submitted)


def learnt_site_model(history: History) -> SiteModel:
    """What was learnt last."""
    cohorts = _load_cohorts(history.learnt(COHORTS))
    return SiteModel(cohorts, _load(history.learnt(_LEARNT)))


_lock = Lock()
_newest: dict[str, CohortModel | None] = {}
"""The model that was learnt last. The one before it is let go first: both are large."""


def _load_cohorts(body: str | None) -> CohortModel | None:
    if body is None:
        return None
    with _lock:
        if body not in _newest:
            _newest.clear()
            try:
                _newest[body] = CohortModel.load(base64.b85decode(body))
            except (BadInput, ValueError):  # of another version, or damaged: learnt again
                _newest[body] = None
        return _newest[body]


@lru_cache(maxsize=2)
def _load(body: str | None) -> Learnt:
    if body is None:
        return Learnt()
    try:
        return loads(Learnt, body)
    except BadInput:  # as above
        return Learnt()
