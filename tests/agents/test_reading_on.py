"""A model that reads on: its steps are taken within its bounds, and quotes are literal."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from schedmate.agents import Bounds, DirectoryDesk, found_at, read_on
from schedmate.files import INVOKER
from schedmate.model import BadAnswer, Subject
from schedmate.testing.llm import ScriptedAsker

ANA = Subject(user="ana", job_id="7")


class Said(BaseModel):
    value: str


@pytest.fixture
def desk(tmp_path: Path) -> DirectoryDesk:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "conf").mkdir(parents=True)
    (project / ".git").mkdir()
    outside.mkdir()
    (project / "train.py").write_text("import torch\nlr = 0.1\nAPI_KEY = 'sk-" + "a" * 24 + "'\n")
    (project / "conf" / "base.yaml").write_text("epochs: 3\n")
    (project / ".git" / "config.txt").write_text("secret\n")
    (outside / "passwords.txt").write_text("secret\n")
    (project / "leak.txt").symlink_to(outside / "passwords.txt")
    return DirectoryDesk(str(project), INVOKER)


def ask(asker: ScriptedAsker, desk: DirectoryDesk, **bounds: int) -> tuple[str, int]:
    bound = Bounds(**bounds)
    talk = read_on(asker, Said, "Q", desk=desk, purpose="test", system="S", bounds=bound, about=ANA)
    return talk.answer.value.value, talk.answer.cost.llm_calls


def test_steps_are_taken_and_shown_until_it_answers(desk: DirectoryDesk) -> None:
    asker = ScriptedAsker(
        [
            {"steps": [{"step": "list"}, {"step": "read", "argument": "train.py:2-3"}]},
            {"steps": [{"step": "search", "argument": "EPOCHS"}]},
            {"answer": {"value": "3"}},
        ]
    )

    assert ask(asker, desk) == ("3", 3)

    last = asker.asked[-1].prompt
    assert "train.py\nconf/base.yaml" in last
    assert "2: lr = 0.1\n3: API_KEY = [redacted]" in last
    assert "conf/base.yaml:1: epochs: 3" in last
    assert {one.about for one in asker.asked} == {ANA}
    assert sorted(desk.digests) == ["conf/base.yaml", "train.py"]


def test_the_last_turn_can_only_answer(desk: DirectoryDesk) -> None:
    endless = {"steps": [{"step": "list"}]}
    asker = ScriptedAsker([endless, endless, {"value": "now"}])

    assert ask(asker, desk, turns=3) == ("now", 3)
    assert asker.asked[-1].schema is Said


def test_a_spent_budget_ends_the_reading(desk: DirectoryDesk) -> None:
    desk.characters_left = 5
    asker = ScriptedAsker([{"steps": [{"step": "read", "argument": "train.py"}]}, {"value": "x"}])

    assert ask(asker, desk, turns=9) == ("x", 2)


def test_a_model_without_an_answer_is_an_error(desk: DirectoryDesk) -> None:
    with pytest.raises(BadAnswer):
        ask(ScriptedAsker([]), desk)


@pytest.mark.parametrize(
    "name", ["leak.txt", "../outside/passwords.txt", "/etc/hostname", ".git/config.txt", "a\0.py"]
)
def test_nothing_outside_is_read(desk: DirectoryDesk, name: str) -> None:
    assert desk.read_file(name) == "there is no such text file"
    assert "secret" not in desk.search("secret")


def test_a_model_may_miscount_but_not_misquote() -> None:
    lines = ["a = 1", "lr = 0.1", "b = 2", "lr = 0.1"]

    assert found_at("lr = 0.1", lines, 3) in (2, 4)
    assert found_at(" b = 2 ", lines, 3) == 3
    assert found_at("lr=0.1", lines, 2) is None
    assert found_at("", lines, 2) is None
