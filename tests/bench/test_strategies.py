"""No user gains by a choice or a lie: each beside an honest twin, through the decision engine."""

from __future__ import annotations

import pytest

from bench.proof.strategies import MOST_GAIN, STRATEGIES, gain_of, mean_waits

pytestmark = pytest.mark.slow
BY_NAME = {one.name: one for one in STRATEGIES}


def test_who_is_as_honest_waits_as_long():
    """What one twin has in one run the other has in the swapped one."""
    honest = BY_NAME["honest, too"]
    runs = [
        mean_waits(honest, 0, ordered=False, hook=True, swapped=swapped)
        for swapped in (False, True)
    ]
    assert runs[0] == runs[1][::-1]


@pytest.mark.parametrize("name", BY_NAME)
def test_a_choice_or_a_lie_gains_nothing(name):
    """Beyond what the scheduler alone gives for it. A single trial differs by several percent where
    a wait is long by chance, so one that gains is tried five times more."""
    found = gain_of(BY_NAME[name], [0])
    if found.by_schedmate > MOST_GAIN:
        found = gain_of(BY_NAME[name], range(6))
    assert found.by_schedmate <= MOST_GAIN
