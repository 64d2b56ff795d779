"""From past runs to how long this one will take, how it will end, and why."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from schedmate.advisor.launch.target import Target
from schedmate.advisor.predict.cohort_model import Forecast
from schedmate.advisor.predict.cohorts import rates
from schedmate.advisor.predict.distributions import of_runs
from schedmate.advisor.predict.durations import Estimate, capped, estimate_duration
from schedmate.advisor.predict.explanation import explain
from schedmate.advisor.predict.jobs import facts_at_submission, sketch_of_target
from schedmate.advisor.predict.neighbours import Neighbours
from schedmate.advisor.predict.runs import (
    CANCELLED,
    COMPLETED,
    Columns,
    Floats,
    Places,
    columns_of,
    rows_of,
)
from schedmate.advisor.predict.site_model import Answer, SiteModel, learnt_site_model
from schedmate.advisor.predict.without_runs import UNLIKE_ANY, from_arithmetic, within_reason
from schedmate.model import (
    Fingerprint,
    History,
    Match,
    Outcome,
    PastRun,
    Prediction,
    Spread,
    Workload,
)
from schedmate.model.sketch import WORDS, Sketch, word_hash

_SHOWN = 5
_RECENT = 200
_LEAST_HISTORY = 3
_USER = WORDS.index("user")


def predict(
    history: History,
    target: Target,
    fingerprint: Fingerprint | None,
    workload: Workload,
    *,
    at: float | None = None,
    site_model: SiteModel | None = None,
    now: float | None = None,
) -> Prediction:
    """With what was learnt from this history, unless another `site_model` is given.

    `at` is when the job runs, where that is neither when it was submitted nor now; `now` is for
    jobs that are not submitted yet.
    """
    model = site_model or learnt_site_model(history)
    sketch = sketch_of_target(target, fingerprint, workload)
    submitted = target.submitted_at
    estimate = estimate_duration(history, sketch, workload, submitted_at=submitted, at=at)
    broke_off = estimate is not None and estimate.neighbours.none_ended
    site = _forecast(model, target, now, once_it_works=broke_off)
    answer = _answer(model, site, target, sketch, estimate)
    if estimate is not None and not broke_off:
        said = _from_neighbours(history, estimate, target, workload)
        duration, said = _with_site(said, model, estimate, site, answer)
        return within_reason(replace(said, duration_s=capped(duration, workload)))
    otherwise = (
        _from_site(site, answer)
        or _from_history(history, target)
        or from_arithmetic(workload, sketch, target.request)
        or UNLIKE_ANY
    )
    return within_reason(
        otherwise if estimate is None else _after_failures(estimate, otherwise, workload)
    )


def _after_failures(estimate: Estimate, otherwise: Prediction, workload: Workload) -> Prediction:
    """All runs that it resembles broke off: what is predicted otherwise, and not below how long
    they ran."""
    neighbours, known = estimate.neighbours, otherwise.duration_s
    failed = int(neighbours.in_tier.sum())
    which = "the run it resembles" if failed == 1 else f"the {failed} runs it resembles"
    return replace(
        otherwise,
        duration_s=None if known is None else capped(estimate.or_longer(known), workload),
        outcome=_outcome(neighbours.runs.take(neighbours.in_tier)),
        explanation=otherwise.explanation.replace(UNLIKE_ANY.explanation, f"{which} failed", 1),
    )


def _forecast(
    model: SiteModel, target: Target, now: float | None, *, once_it_works: bool
) -> Forecast | None:
    """What the site's own past says of such requests."""
    submitted = target.submitted_at or now
    if model.cohorts is None or submitted is None:
        return None
    facts = facts_at_submission(target, submitted)
    return model.cohorts.predict(facts, once_it_works=once_it_works)


def _answer(
    model: SiteModel,
    site: Forecast | None,
    target: Target,
    sketch: Sketch,
    estimate: Estimate | None,
) -> Answer | None:
    """Code and site together, by what has been right here; None while too little has ended to tell
    what the code is worth, and on hardware that is new to the site."""
    if site is None or (sketch.states_workload and not model.learnt.blend.is_learnt):
        return None
    if estimate is not None and estimate.on_new_hardware:
        return None
    facts = facts_at_submission(target, 0.0)
    return model.answer(site.duration_s, site.mass, facts, sketch, estimate)


def _from_site(site: Forecast | None, answer: Answer | None) -> Prediction | None:
    if site is None:
        return None
    return Prediction(
        basis="history",
        duration_s=site.duration_s if answer is None else answer.duration_s,
        outcome=site.outcome,
        explanation=f"no past run resembles it; by {site.rests_on}",
    )


def _with_site(
    said: Prediction,
    model: SiteModel,
    estimate: Estimate,
    site: Forecast | None,
    answer: Answer | None,
) -> tuple[Spread, Prediction]:
    """What neighbours say, weighed with the site's past where that has been better. Of a job of
    which no code was read, names never outweigh the site."""
    duration, basis, why = model.calibrated(estimate), said.basis, said.explanation
    if site is not None and answer is not None and answer.by == "site":
        duration, basis = site.duration_s, "history"
        why = f"no code to compare past runs by; by {site.rests_on}"
    elif site is not None and answer is not None and answer.by == "blend":
        duration = answer.duration_s
        why += f", weighed with how long {site.rests_on} took"
    elif (
        site is not None and not (estimate.neighbours.in_tier & estimate.neighbours.completed).any()
    ):
        duration = estimate.or_longer(site.duration_s)
        why += f", or as long as {site.rests_on} took, if those took longer"
    return duration, replace(said, basis=basis, explanation=why)


def _from_neighbours(
    history: History, estimate: Estimate, target: Target, workload: Workload
) -> Prediction:
    neighbours, alike = estimate.neighbours, estimate.neighbours.similarity
    members = np.flatnonzero(neighbours.in_tier)
    nearest = neighbours.runs.take(members[np.argsort(-alike[members], kind="stable")])
    shown = _own_first(neighbours, estimate.used, alike)[:_SHOWN]
    runs = history.runs_numbered(neighbours.runs.rows["run"][shown].tolist())
    ending = None if neighbours.tier == "identical" else estimate.ending
    return Prediction(
        basis=neighbours.tier,
        outcome=_outcome(nearest),
        gpu_memory_mb=_measured(nearest.rows["memory"].astype(float)),
        gpu_utilization=_measured(nearest.rows["utilization"].astype(float)),
        explanation=explain(neighbours, runs[0], ending, target, workload),
        matches=tuple(_match(run, each) for run, each in zip(runs, alike[shown], strict=True)),
    )


def _own_first(neighbours: Neighbours, used: Places, alike: Floats) -> Places:
    """Those of the tier that counted: the user's own first, then the most similar, the newest."""
    tier = used[neighbours.in_tier[used]]
    user, ends = neighbours.sketch.word("user"), neighbours.runs.rows["end"][tier]
    others = neighbours.runs.traits[tier, _USER] != user
    return np.asarray(tier[np.lexsort((-ends, -np.round(alike[tier], 3), others))])


def _match(run: PastRun, alike: float) -> Match:
    return Match(
        job_id=run.job.id,
        similarity=round(float(alike), 3),
        duration_s=run.duration_s,
        submitted_at=run.job.submitted_at,
    )


def _from_history(history: History, target: Target) -> Prediction | None:
    """Nothing resembles it: what the user's jobs usually take, else everybody's."""
    at = math.inf if target.submitted_at is None else target.submitted_at
    newest = columns_of(rows_of(history.newest_sketches(_RECENT * 5)))
    newest = newest.take((newest.rows["duration"] > 0) & (newest.rows["end"] <= at))
    own = newest.rows["words"][:, _USER] == word_hash(target.user)
    for runs, whose in ((newest.take(own), f"{target.user}'s"), (newest, "all users'")):
        ended_well = runs.take(runs.rows["ending"] == COMPLETED)
        if _programs(ended_well) >= _LEAST_HISTORY:
            newest_first = np.argsort(-ended_well.rows["end"], kind="stable")
            durations = ended_well.rows["duration"][newest_first][:_RECENT].tolist()
            return Prediction(
                basis="history",
                duration_s=of_runs(durations, expected=_UNLIKE),
                outcome=_outcome(runs),
                explanation=(
                    f"no past run resembles it; {whose} last {len(durations)} completed runs took"
                    " so long"
                ),
            )
    if _programs(newest) < _LEAST_HISTORY:
        return None
    words = "no past run resembles it; too few of the last runs completed"
    return Prediction(basis="history", outcome=_outcome(newest), explanation=words)


def _programs(runs: Columns) -> int:
    """Of how many programs these are runs, each that was not read for itself: a sweep of one says
    nothing about another."""
    codes = runs.rows["code"]
    return len(np.unique(codes[codes != 0])) + int((codes == 0).sum())


_UNLIKE = 1.0
"""How far apart (log) jobs lie that have nothing in common but their user."""


_NEAREST = 5


def _outcome(runs: Columns) -> Outcome:
    completed, cancelled = (
        int((runs.rows["ending"] == end).sum()) for end in (COMPLETED, CANCELLED)
    )
    return rates(completed, cancelled, len(runs))


def _measured(values: Floats) -> float | None:
    """The middle of what the nearest runs that were measured used."""
    known = values[~np.isnan(values)][:_NEAREST]
    return round(float(np.median(known)), 3) if len(known) else None
