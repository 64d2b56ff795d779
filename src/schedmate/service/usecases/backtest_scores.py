"""How good predictions were: one set of figures for every predictor and every group of runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedmate.service.usecases.backtest_controls import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedmate.model import Spread

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_TWICE = 2.0
_DRAWS = 400
FEWEST_GROUPS = 10
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    runs: int
    predicted: float
    """Share of the runs of which it knew something itself; for the others the site's median
    stands."""
    median_error: float
    """Half of the predictions were off by less than this factor."""
    within_2x: float
    pinball: float
    """Mean pinball loss of p10, p50 and p90, of the logarithm of seconds; less is better."""
    covered: float
    """Share of the runs that took between p10 and p90: 0.8 is right."""
    explained: float | None = None
    """Share of the variance of the logarithm of run times that p50 explains, below 0 where the mean
    of these runs would be closer; None where all took as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """SchedMate's share within a factor of two less that of a control, and its 95 % interval;
    no interval where there are fewer than `FEWEST_GROUPS` to draw from."""

    within_2x: float
    low: float | None
    high: float | None
    groups: int
    """Users' days: runs of one resemble each other."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What one predictor said of every judged run, in their order."""

    spreads: Floats
    """A row a run: p10, p50 and p90."""
    own: Flags
    """Where it knew something itself."""


def judged(spreads: Sequence[Spread | None], fallback: Sequence[Spread]) -> Judged:
    own = np.array([each is not None for each in spreads], bool)
    rows = [each or other for each, other in zip(spreads, fallback, strict=True)]
    values = np.array([(each.p10, each.p50, each.p90) for each in rows], np.float64)
    return Judged(np.maximum(values.reshape(-1, len(LEVELS)), 1.0), own)


def scores(of: Judged, real_s: Floats, which: Flags | None = None) -> Scores:
    """Of the runs in `which`, all by default; there has to be one."""
    chosen = np.ones(len(real_s), bool) if which is None else which
    spreads, real = np.log(of.spreads[chosen]), np.log(np.maximum(real_s[chosen], 1.0))
    off = real[:, None] - spreads
    levels = np.array(LEVELS)
    pinball = np.maximum(levels * off, (levels - 1) * off)
    error = np.abs(off[:, 1])
    covered = (spreads[:, 0] <= real) & (real <= spreads[:, -1])
    return Scores(
        runs=int(chosen.sum()),
        predicted=_rounded(of.own[chosen].mean()),
        median_error=_rounded(np.exp(np.median(error))),
        within_2x=_rounded((error <= np.log(_TWICE)).mean()),
        pinball=_rounded(pinball.mean()),
        covered=_rounded(covered.mean()),
        explained=explained(real, spreads[:, 1]),
    )


def explained(real: Floats, predicted: Floats) -> float | None:
    """Of logarithms of run times: 1 - mean squared residual / variance."""
    variance, residual = float(real.var()), float(np.mean((real - predicted) ** 2))
    return _rounded(1 - residual / variance) if variance > 0 else None


def difference(ours: Judged, control: Judged, real_s: Floats, blocks: Sequence[str]) -> Difference:
    """Runs of one block (a user's day) resemble each other, so blocks are drawn, not runs."""
    better = _within(ours, real_s).astype(float) - _within(control, real_s)
    codes = np.unique(np.array(blocks), return_inverse=True)[1]
    sums, counts = np.bincount(codes, better), np.bincount(codes)
    found, groups = _rounded(better.mean()), len(sums)
    if groups < FEWEST_GROUPS:
        return Difference(within_2x=found, low=None, high=None, groups=groups)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(sums), (_DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Difference(within_2x=found, low=_rounded(low), high=_rounded(high), groups=groups)


def block_of(user: str, submitted_at: float) -> str:
    return f"{int(submitted_at // _DAY_S)} {user}"


def best(of: Mapping[str, Scores], names: Sequence[str]) -> str:
    """The one with the most runs within a factor of two, then with the least pinball loss."""
    return min(names, key=lambda name: (-of[name].within_2x, of[name].pinball))


def _within(of: Judged, real_s: Floats) -> Flags:
    error = np.abs(np.log(np.maximum(real_s, 1.0)) - np.log(of.spreads[:, 1]))
    return np.asarray(error <= np.log(_TWICE))


def _rounded(value: float) -> float:
    return round(float(value), 4)
