"""A word of a command line as a value."""

from __future__ import annotations

from typing import Any

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.interpret.shell.words import source_of


def value_of(word: Word) -> Value:
    """The word itself; unknown where a variable in it is."""
    return made_of(word, word.text)


def made_of(word: Word, data: Any) -> Value:
    """What was read out of a word."""
    return Value(data if word.known else UNKNOWN_DATA, word.evidence, source_of(word.evidence))
