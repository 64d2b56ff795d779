from __future__ import annotations

import pytest

from tracker.unknown.exam import examine, examine_whole
from tracker.unknown.sets import SETS

DEMANDED = [title for title in SETS if not title.endswith("by another hand")]
"""How many of the other hand's are understood is only scored, by the bench."""


@pytest.mark.parametrize("title", SETS)
def test_no_wrong_total_is_believed(title: str):
    assert [mark for log in SETS[title] if (mark := examine(log)).harmful] == []


@pytest.mark.parametrize("title", SETS)
def test_nor_by_the_whole_tracker(title: str):
    assert [mark for log in SETS[title] if (mark := examine_whole(log)).harmful] == []


@pytest.mark.parametrize("title", DEMANDED)
def test_most_are_understood_without_any_model(title: str):
    marks = [examine(log) for log in SETS[title]]
    wrong = [mark for mark in marks if not mark.right]
    assert len(wrong) <= 0.2 * len(marks), wrong
