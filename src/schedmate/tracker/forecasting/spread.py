"""From guesses of the rest to three quantiles of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schedmate.model import Spread

_Z90 = 1.2816
_WIDEST = 3.0


@dataclass(frozen=True, slots=True)
class Guess:
    """One opinion on the seconds left, how far off it may be either way, and its weight.

    `less` and `more` are deviations of the logarithm.
    """

    seconds: float
    less: float
    more: float
    weight: float = 1.0

    def at(self, deviations: float) -> float:
        aside = self.less if deviations < 0 else self.more
        return self.seconds * math.exp(deviations * min(aside, _WIDEST))


def spread_of(guesses: Sequence[Guess], *, tail: float) -> Spread:
    """The middle of all opinions, as wide as they differ and as each is unsure of itself.

    `tail` is the share of opinions to be left out at either end.
    """
    middle = _quantile(guesses, 0.5, lambda one: one.seconds)
    low = _quantile(guesses, tail, lambda one: one.at(-_Z90))
    high = _quantile(guesses, 1 - tail, lambda one: one.at(_Z90))
    return Spread(min(low, middle), middle, max(high, middle))


def passed(spread: Spread, seconds: float) -> Spread:
    """The same end, seen `seconds` later."""
    return Spread(*(max(0.0, value - seconds) for value in (spread.p10, spread.p50, spread.p90)))


def capped(spread: Spread, seconds: float) -> Spread:
    """The same rest where it ends after so many seconds at the latest."""
    most = max(0.0, seconds)
    return Spread(*(min(most, value) for value in (spread.p10, spread.p50, spread.p90)))


def _quantile(guesses: Sequence[Guess], share: float, value: Callable[[Guess], float]) -> float:
    """Weighted, and between neighbours in proportion, so that two opinions meet halfway."""
    ordered = sorted((value(one), one.weight) for one in guesses)
    wanted = share * math.fsum(weight for _, weight in ordered)
    below, before = -math.inf, ordered[0][0]
    so_far = 0.0
    for number, weight in ordered:
        centre = so_far + weight / 2
        if centre >= wanted:
            part = (wanted - below) / (centre - below) if math.isfinite(below) else 1.0
            return before + part * (number - before)
        below, before, so_far = centre, number, so_far + weight
    return before
