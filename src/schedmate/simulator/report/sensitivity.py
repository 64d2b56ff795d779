"""What each thing that a sweep varied changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from schedmate.simulator.engine.outcome import Code, PolicyComparison, Summary
from schedmate.simulator.report.gains import ratio

_CHANCE = "seed"
"""Varied to see the spread; for its own sake only where nothing else is."""
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""97.5 % quantiles of Student's t, by degrees of freedom from one on."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A geometric mean and its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RatioSpread:
    """One policy over the values of what was varied: mean, least and most over all the rest."""

    policy: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]
    overall: Interval | None = None
    """Over all seeds, where chance is what was varied."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How many times better than the first policy each is, on average completion time."""

    trace: str
    varied: str
    first: str
    runs: int
    spreads: tuple[RatioSpread, ...]
    controls: tuple[RatioSpread, ...] = ()
    """Policies with SchedMate by other predictors, where asked for."""
    code: dict[str, Code] = field(default_factory=dict)
    """Of each policy whose runs go by code: whose code it is."""

    def code_of(self, policy: str) -> str:
        """Of a policy, or of one by another predictor."""
        return self.code.get(policy.partition(" by ")[0], "-")


def sensitivities(trace: str, rows: Sequence[PolicyComparison]) -> list[Sensitivity]:
    """One for each thing that took several values in these runs of one trace."""
    names = dict.fromkeys(name for row in rows for name in row.setting)
    several = [name for name in names if len({row.setting[name] for row in rows}) > 1]
    chosen = [name for name in several if name != _CHANCE] or several
    return [_sensitivity(trace, name, rows) for name in chosen]


def _sensitivity(trace: str, varied: str, rows: Sequence[PolicyComparison]) -> Sensitivity:
    first, *others = rows[0].policies
    spreads = [
        _spread(policy, varied, [(row, row.policies[policy]) for row in rows])
        for policy in others or [first]
    ]
    controls = [
        _spread(
            f"{policy} by {predictor}",
            varied,
            [(row, row.controls[policy][predictor]) for row in rows],
        )
        for policy, predictors in rows[0].controls.items()
        for predictor in predictors
        if all(predictor in row.controls[policy] for row in rows)
    ]
    return Sensitivity(
        trace=trace,
        varied=varied,
        first=first,
        runs=len(rows),
        spreads=tuple(spreads),
        controls=tuple(controls),
        code=rows[0].code,
    )


def _spread(
    name: str, varied: str, found: Sequence[tuple[PolicyComparison, Summary]]
) -> RatioSpread:
    """Of each setting, what one policy came to there."""
    ratios: dict[float, list[float]] = {}
    for row, summary in sorted(found, key=lambda each: each[0].setting[varied]):
        first = next(iter(row.policies.values()))
        better = ratio(first.avg_jct_s, summary.avg_jct_s)
        ratios.setdefault(row.setting[varied], []).append(better)
    everything = [each for of_value in ratios.values() for each in of_value]
    return RatioSpread(
        policy=name,
        x=tuple(ratios),
        mean=tuple(geometric_mean(each) for each in ratios.values()),
        least=tuple(min(each) for each in ratios.values()),
        most=tuple(max(each) for each in ratios.values()),
        overall=interval(everything) if varied == _CHANCE else None,
    )


def interval(ratios: Sequence[float]) -> Interval:
    """Of at least two, by Student's t of their logarithms."""
    mean = geometric_mean(ratios)
    if math.isnan(mean):
        return Interval(mean, math.nan, math.nan)
    freedom = len(ratios) - 1
    squares = math.fsum(math.log(each / mean) ** 2 for each in ratios)
    student = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96 + 2.6 / freedom
    wide = math.exp(student * math.sqrt(squares / freedom / len(ratios)))
    return Interval(mean, mean / wide, mean * wide)


def geometric_mean(ratios: Sequence[float]) -> float:
    """Of ratios, which twice as good and twice as bad leave at one."""
    if any(each <= 0 or math.isinf(each) for each in ratios):
        return math.nan
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
