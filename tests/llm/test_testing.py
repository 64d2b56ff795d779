"""The scripted model that other packages test with keeps the real one's promises."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from schedmate.model import Asker, BadAnswer, ModelTooSlow
from schedmate.testing.llm import ScriptedAsker


class Verdict(BaseModel):
    line: int


def ask(asker: Asker, prompt: str = "?") -> Verdict:
    return asker.ask(Verdict, prompt, purpose="test", system="s").value


def test_a_list_is_answered_one_by_one():
    asker = ScriptedAsker([Verdict(line=1), {"line": 2}, ModelTooSlow("too slow")])
    assert [ask(asker), ask(asker, "next")] == [Verdict(line=1), Verdict(line=2)]
    with pytest.raises(ModelTooSlow):
        ask(asker)
    with pytest.raises(BadAnswer, match="no answer left"):
        ask(asker)
    assert [asked.prompt for asked in asker.asked] == ["?", "next", "?", "?"]


def test_a_function_answers_by_the_prompt():
    asker = ScriptedAsker(lambda schema, prompt: schema(line=len(prompt)))
    assert ask(asker, "four") == Verdict(line=4)


def test_a_script_that_breaks_the_schema_is_a_mistake_in_the_test():
    with pytest.raises(ValidationError):
        ask(ScriptedAsker([{"line": "x"}]))
