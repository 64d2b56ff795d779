from __future__ import annotations

import pytest

from bench.accuracy.recorded_logs import Look, home_made_cuts, looks
from bench.corpora.timed_logs import timed_logs

pytestmark = pytest.mark.slow

LEAST_RIGHT = 0.97


@pytest.fixture(scope="module")
def seen() -> list[Look]:
    return [look for log in timed_logs() for look in looks(home_made_cuts(log))]


def _at_end(look: Look) -> bool:
    return look.cut.part.state.ended


def test_most_looks_are_right_and_none_confidently_wrong(seen: list[Look]):
    running = [look for look in seen if not _at_end(look)]

    assert sum(look.right for look in running) >= LEAST_RIGHT * len(running)
    assert [str(look) for look in running if look.confidently_wrong] == []


def test_a_run_is_over_at_its_end_and_not_before(seen: list[Look]):
    assert [str(look) for look in seen if look.over != _at_end(look)] == []
