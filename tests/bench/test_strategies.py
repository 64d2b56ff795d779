"""No user gains by a choice or a lie: each beside an honest twin, through the decision engine."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from bench.proof.strategies import MOST_GAIN, STRATEGIES, mean_waits

pytestmark = pytest.mark.slow
BY_NAME = {one.name: one for one in STRATEGIES}
HONEST = "honest, too"
TRIALS = tuple(product(range(6), (False, True)))
"""A seed, and which twin has the moments of which."""
STAGES = (1, 4, len(TRIALS))
"""A single trial differs by several percent where a wait is long by chance: a strategy that gains
in it is tried more often."""


@cache
def waits(name: str, seed: int, swapped: bool, ordered: bool) -> list[float]:
    return mean_waits(BY_NAME[name], seed, ordered=ordered, hook=True, swapped=swapped)


def gain(name: str, seed: int, swapped: bool) -> float:
    """Over an honest user at the same moments, beyond what the scheduler alone gives for it."""

    def beside(ordered: bool) -> float:
        (twin, theirs), (other, honest) = (
            waits(each, seed, swapped, ordered) for each in (name, HONEST)
        )
        return 1 - (theirs / twin) / (honest / other)

    return beside(ordered=True) - max(0.0, beside(ordered=False))


def test_who_is_as_honest_waits_as_long():
    """What one twin has in one run the other has in the swapped one."""
    for ordered in (False, True):
        first, second = (waits(HONEST, 0, swapped, ordered) for swapped in (False, True))
        assert first == second[::-1]


@pytest.mark.parametrize("name", BY_NAME.keys() - {HONEST})
def test_a_choice_or_a_lie_gains_nothing(name):
    for trials in STAGES:
        gains = [gain(name, *trial) for trial in TRIALS[:trials]]
        if np.mean(gains) <= MOST_GAIN:
            return
    pytest.fail(f"{np.mean(gains):.1%} over {trials} trials: {gains}")
