"""Options on the command line of a program whose declarations nobody has seen."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.options.replay import plain
from schedmate.advisor.interpret.shell import Word, command_words
from schedmate.advisor.options import undeclared
from schedmate.advisor.sources.files import evidence


def options(command: str, known=()):
    words = command_words(shlex.split(command))
    return {option.name: plain(option.value) for option in undeclared(words, known)}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("--epochs 3", {"epochs": 3}),
        ("--epochs=3", {"epochs": 3}),
        ("-e 3", {"e": 3}),
        ("epochs=3", {"epochs": 3}),
        ("trainer.max_epochs=3", {"trainer.max_epochs": 3}),
        ("+a.b=3", {"a.b": 3}),
        ("--fp16", {"fp16": True}),
        ("--fp16 --lr 1e-4", {"fp16": True, "lr": 0.0001}),
        ("--batch-size 3 --batch-size 4", {"batch_size": 4}),
        ("--name 007x --amp true", {"name": "007x", "amp": True}),
        ("--lr -1", {"lr": -1}),
        ("--betas 0.9 0.95", {"betas": [0.9, 0.95]}),
        ("sizes=[1,2]", {"sizes": [1, 2]}),
        ("--resume none", {"resume": None}),
        ("data/train --x 'a b'", {"x": "a b"}),
        ("https://host/?a=b", {}),
    ],
)
def test_words_are_what_they_clearly_are(command, expected) -> None:
    assert options(command) == expected


def test_what_is_known_already_is_left_out() -> None:
    assert options("--batch-size 3 --lr 1", known={"batch_size"}) == {"lr": 1}


def test_a_variable_nobody_set_hides_the_value() -> None:
    line = (evidence("job.sh", 3, "x"),)
    words = [Word("--lr", line), Word("$LR", line, known=False), Word("a=$B", line, known=False)]
    found = {option.name: option.value for option in undeclared(words, ())}
    assert not found["lr"].known
    assert not found["a"].known
    assert found["lr"].source == "script"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=10), max_size=6))
def test_any_words_will_do(texts) -> None:
    assert all(option.name for option in undeclared([Word(text) for text in texts], ()))
