"""A word of a command line, with the lines that it was put together from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedmate.advisor.sources import evidence
from schedmate.model import Evidence

COMMAND_FILE = "<command>"


@dataclass(frozen=True, slots=True)
class Word:
    """`known` is False where the text has a variable in it that nobody has set.

    `evidence` has the line that states the value first, then the lines that use it.
    """

    text: str
    evidence: tuple[Evidence, ...] = ()
    known: bool = True


def command_words(words: Sequence[str]) -> tuple[Word, ...]:
    """Words of a command line that was given directly, not in a script."""
    line = (evidence(COMMAND_FILE, 1, " ".join(words)),)
    return tuple(Word(text, line) for text in words)
