from __future__ import annotations

import pytest

from tracker.unknown.benchmark import score_learner, score_with_tracker
from tracker.unknown.sets import SETS

DEMANDED = [title for title in SETS if not title.endswith("by another hand")]
"""How many of the other hand's are understood is only scored, by the bench."""


@pytest.mark.parametrize("title", SETS)
def test_no_wrong_total_is_believed(title: str):
    assert [score for log in SETS[title] if (score := score_learner(log)).harmful] == []


@pytest.mark.parametrize("title", SETS)
def test_nor_by_the_whole_tracker(title: str):
    assert [score for log in SETS[title] if (score := score_with_tracker(log)).harmful] == []


@pytest.mark.parametrize("title", DEMANDED)
def test_most_are_understood_without_any_model(title: str):
    scores = [score_learner(log) for log in SETS[title]]
    wrong = [score for score in scores if not score.right]
    assert len(wrong) <= 0.2 * len(scores), wrong
