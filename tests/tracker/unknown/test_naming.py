from __future__ import annotations

import platformdirs
import pytest
from pydantic import ValidationError

from bench.accuracy.unknown_format_score import settle
from schedmate.config import LlmSettings
from schedmate.llm import open_asker
from schedmate.llm.embedded.files import ModelFiles
from schedmate.model import BadAnswer
from schedmate.testing.llm import MemoryLedger, ScriptedAsker
from schedmate.tracker.unknown import Learner

OPEN = [f"at {i * 3}, chain 300 long, {9 / (i + 1):.4f} by 7" for i in range(1, 30)]


def fed(lines: list[str]) -> Learner:
    learner = Learner()
    for order, line in enumerate(lines):
        learner.feed(line, order, None)
    return learner


def read(learner: Learner, line: str) -> tuple[float | None, float | None]:
    seen = learner.feed(line, 1000, None)
    assert seen is not None
    return seen.current, seen.total


def test_what_is_plain_is_not_asked():
    assert fed([f"{i}/90 q {1 / i:.3f}" for i in range(1, 30)]).question() is None
    assert fed(["nothing to see"] * 30).question() is None
    assert Learner().question() is None


def test_the_model_may_only_choose_what_it_was_shown():
    question = fed(OPEN).question()
    assert question is not None
    assert "at 87, chain 300 long" in question.prompt
    with pytest.raises(ValidationError):
        question.schema(done="88", total="300")
    assert set(question.counts) == {"87"}
    assert set(question.totals) == {"300"}


def test_its_choice_becomes_a_pattern_that_is_not_believed_too_far():
    learner = fed(OPEN)
    settle(learner, ScriptedAsker([{"done": "87", "total": "300"}]))
    assert learner.pattern is not None
    assert learner.pattern.learnt_from == "llm"
    assert learner.confidence == 0.5
    assert read(learner, "at 90, chain 300 long, 0.2 by 7") == (90, 300)
    assert [one.sighting.total for one in learner.replay()][:2] == [300, 300]
    assert learner.question() is None, "once is enough"


def test_none_changes_nothing():
    learner = fed(OPEN)
    before = learner.pattern
    settle(learner, ScriptedAsker([{"done": "none", "total": "none"}]))
    assert learner.pattern == before
    assert learner.question() is None


def test_a_bare_counter_is_not_put_to_a_model():
    assert fed([f"ticket {70000 + i} closed" for i in range(40)]).question() is None


def test_a_model_that_fails_is_asked_another_time():
    learner = fed(OPEN)
    settle(learner, ScriptedAsker([BadAnswer("no")]))
    assert learner.question() is not None


@pytest.mark.embedded
@pytest.mark.timeout(300)
def test_the_embedded_model_names_the_total():
    cache_dir = platformdirs.user_cache_path("schedmate")
    if not ModelFiles(cache_dir).installed():
        pytest.skip("no embedded model: `schedmate model install`")
    asker = open_asker(LlmSettings(deadline_s=200), cache_dir=cache_dir, ledger=MemoryLedger())
    learner = fed(
        [f"sweep number {i * 3}, the chain has 300 in all; {9 / i:.3f}" for i in range(1, 30)]
    )
    assert asker is not None
    settle(learner, asker)
    assert read(learner, "sweep number 99, the chain has 300 in all; 0.1") == (99, 300)
