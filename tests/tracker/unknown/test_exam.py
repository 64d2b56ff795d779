from __future__ import annotations

import pytest

from tracker.unknown.exam import Log, examine, examine_whole
from tracker.unknown.sets import SETS

LOGS = [log for logs in SETS.values() for log in logs]
DEMANDED = [title for title in SETS if not title.endswith("by another hand")]
"""How many of the other hand's are understood is only scored, by the bench."""


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.__name__)
def test_no_wrong_total_is_believed(log: Log):
    mark = examine(log)
    assert not mark.harmful, mark


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.__name__)
def test_nor_by_the_whole_tracker(log: Log):
    mark = examine_whole(log)
    assert not mark.harmful, mark


@pytest.mark.parametrize("title", DEMANDED)
def test_most_are_understood_without_any_model(title: str):
    marks = [examine(log) for log in SETS[title]]
    wrong = [mark for mark in marks if not mark.right]
    assert len(wrong) <= 0.2 * len(marks), wrong
