from __future__ import annotations

import pytest

from bench.accuracy.unknown_format_score import score_learner, score_tracker
from bench.corpora.unknown_formats.sets import SETS

pytestmark = pytest.mark.slow

DEMANDED = [title for title in SETS if not title.endswith("by another hand")]
"""How many formats of the independent author are understood is measured, not demanded."""


@pytest.mark.parametrize("title", SETS)
def test_no_wrong_total_is_believed(title: str):
    assert [score for log in SETS[title] if (score := score_learner(log)).harmful] == []


@pytest.mark.parametrize("title", SETS)
def test_nor_by_the_whole_tracker(title: str):
    assert [score for log in SETS[title] if (score := score_tracker(log)).harmful] == []


@pytest.mark.parametrize("title", DEMANDED)
def test_most_are_understood_without_any_model(title: str):
    scores = [score_learner(log) for log in SETS[title]]
    wrong = [score for score in scores if not score.right]
    assert len(wrong) <= 0.2 * len(scores), wrong
