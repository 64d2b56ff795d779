from __future__ import annotations

import pytest

from bench.accuracy.timed_logs import Look, looks_at
from bench.corpora.timed_logs import timed_logs

LEAST_RIGHT = 0.97


@pytest.fixture(scope="module")
def looks() -> list[Look]:
    return [look for log in timed_logs() for look in looks_at(log)]


def test_most_looks_are_right_and_none_confidently_wrong(looks: list[Look]):
    running = [look for look in looks if not look.at_end]

    assert sum(look.right for look in running) >= LEAST_RIGHT * len(running)
    assert [str(look) for look in running if look.confidently_wrong] == []


def test_a_run_is_over_at_its_end_and_not_before(looks: list[Look]):
    assert [str(look) for look in looks if look.over != look.at_end] == []
