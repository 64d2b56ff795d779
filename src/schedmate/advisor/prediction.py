"""From past runs to how long this one will take, how it will end, and why we think so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from schedmate.advisor.explanation import explain
from schedmate.advisor.matching import Likeness, Likes, Tier, ended_before, find_likes
from schedmate.advisor.scaling import UnitField, common_unit, fit, units_of, with_unit
from schedmate.advisor.spread import ENOUGH, around, empirical, quantile
from schedmate.advisor.target import Target
from schedmate.model import (
    Fingerprint,
    History,
    JobState,
    Match,
    Outcome,
    PastRun,
    Prediction,
    Spread,
    Workload,
)

_EXPECTED = {"identical": 0.12, "same_code": 0.2, "similar": 0.5}
_PER_DOUBLING = 0.1
"""How much surer we are (in log) of a length seen before than of one twice or half as long."""
_SHOWN = 5
_RECENT = 200
_LEAST_HISTORY = 3


def predict(
    history: History, target: Target, fingerprint: Fingerprint | None, workload: Workload
) -> Prediction:
    likes = find_likes(history, target, fingerprint, workload)
    if likes is not None:
        return _from_likes(likes, target, workload)
    return _from_history(history, target)


@dataclass(frozen=True, slots=True)
class _Estimate:
    duration: Spread
    scaled_by: UnitField | None


def _from_likes(likes: Likes, target: Target, workload: Workload) -> Prediction:
    basis = likes.telling
    estimate = _estimate(basis, likes.tier, workload)
    duration = _with_early_ends(estimate.duration, [each.run for each in likes.runs])
    return Prediction(
        basis=likes.tier,
        duration_s=duration,
        outcome=_outcome([each.run for each in likes.runs]),
        explanation=explain(likes, estimate.scaled_by, target, workload),
        matches=tuple(_match(each) for each in basis[:_SHOWN]),
    )


def _estimate(basis: Sequence[Likeness], tier: Tier, workload: Workload) -> _Estimate:
    runs = [each.run for each in basis]
    unit = None if tier == "identical" else common_unit(workload, runs)
    doubt = _EXPECTED[tier] + 1 - median(each.similarity for each in basis)
    if unit is None:
        return _Estimate(_unscaled([run.duration_s for run in runs], tier, doubt), None)
    runs = with_unit(runs, unit)
    points = [(units_of(run.workload, unit), run.duration_s) for run in runs]
    startups = [run.startup_s for run in runs if run.startup_s is not None]
    line = fit(points, median(startups) if startups else None)
    wanted = units_of(workload, unit)
    expected = doubt + _PER_DOUBLING * _doublings(wanted, points)
    ratios = [seconds / max(line.at(units), 1e-9) for units, seconds in points]
    return _Estimate(around(line.at(wanted), ratios, expected=expected), unit)


def _unscaled(durations: Sequence[float], tier: Tier, doubt: float) -> Spread:
    if tier == "identical" and len(durations) >= ENOUGH:
        return empirical(durations)
    middle = median(durations)
    return around(middle, [each / middle for each in durations], expected=doubt)


def _doublings(wanted: float, points: Sequence[tuple[float, float]]) -> float:
    """How far the nearest known length is from the wanted one."""
    return min(abs(math.log2(wanted / units)) for units, _ in points)


def _with_early_ends(spread: Spread, runs: Sequence[PastRun]) -> Spread:
    """Runs that failed or were cancelled end early too: they pull p10, not the middle."""
    if len(runs) < ENOUGH:
        return spread
    early = quantile([run.duration_s for run in runs], 0.1)
    return Spread(min(spread.p10, early), spread.p50, spread.p90)


def _outcome(runs: Sequence[PastRun]) -> Outcome:
    """Rates, with one run's worth of doubt spread over the three ends."""
    doubt = 1 / 3
    total = len(runs) + 3 * doubt
    completed = sum(run.job.state is JobState.COMPLETED for run in runs)
    cancelled = sum(run.job.state is JobState.CANCELLED for run in runs)
    return Outcome(
        completed=round((completed + doubt) / total, 3),
        failed=round((len(runs) - completed - cancelled + doubt) / total, 3),
        cancelled=round((cancelled + doubt) / total, 3),
    )


def _match(likeness: Likeness) -> Match:
    return Match(
        job_id=likeness.run.job.id,
        similarity=round(likeness.similarity, 3),
        duration_s=likeness.run.duration_s,
    )


def _from_history(history: History, target: Target) -> Prediction:
    """Nothing resembles it: what the user's jobs usually take, else everybody's."""
    for user, whose in ((target.user, f"{target.user}'s"), (None, "all users'")):
        runs = ended_before(history.recent_runs(user=user, limit=_RECENT), target)
        if len(runs) >= _LEAST_HISTORY:
            return Prediction(
                basis="history",
                duration_s=empirical([run.duration_s for run in runs]),
                outcome=_outcome(runs),
                explanation=f"no past run resembles it; {whose} last {len(runs)} runs took so long",
            )
    return Prediction(basis="none", explanation="no past run resembles it")
