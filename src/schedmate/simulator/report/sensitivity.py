"""What each thing that a sweep varied changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from schedmate.simulator.engine.outcome import PolicyComparison
from schedmate.simulator.report.gains import ratio

_CHANCE = "seed"
"""Varied to see the spread; for its own sake only where nothing else is."""


@dataclass(frozen=True, slots=True)
class RatioSpread:
    """One policy over the values of what was varied: mean, least and most over all the rest."""

    policy: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How many times better than the first policy each is, on average completion time."""

    trace: str
    varied: str
    first: str
    runs: int
    spreads: tuple[RatioSpread, ...]


def sensitivities(trace: str, rows: Sequence[PolicyComparison]) -> list[Sensitivity]:
    """One for each thing that took several values in these runs of one trace."""
    names = dict.fromkeys(name for row in rows for name in row.setting)
    several = [name for name in names if len({row.setting[name] for row in rows}) > 1]
    chosen = [name for name in several if name != _CHANCE] or several
    return [_sensitivity(trace, name, rows) for name in chosen]


def _sensitivity(trace: str, varied: str, rows: Sequence[PolicyComparison]) -> Sensitivity:
    first, *others = rows[0].policies
    values = sorted({row.setting[varied] for row in rows})
    spreads = []
    for policy in others or [first]:
        per_value = [
            [_ratio(row, first, policy) for row in rows if row.setting[varied] == value]
            for value in values
        ]
        spreads.append(
            RatioSpread(
                policy=policy,
                x=tuple(values),
                mean=tuple(geometric_mean(ratios) for ratios in per_value),
                least=tuple(min(ratios) for ratios in per_value),
                most=tuple(max(ratios) for ratios in per_value),
            )
        )
    return Sensitivity(
        trace=trace, varied=varied, first=first, runs=len(rows), spreads=tuple(spreads)
    )


def _ratio(row: PolicyComparison, first: str, policy: str) -> float:
    return ratio(row.policies[first].avg_jct_s, row.policies[policy].avg_jct_s)


def geometric_mean(ratios: Sequence[float]) -> float:
    """Of ratios, which twice as good and twice as bad leave at one."""
    if any(each <= 0 or math.isinf(each) for each in ratios):
        return math.nan
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
