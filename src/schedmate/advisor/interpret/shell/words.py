"""Words of a command line, and the runs of text that they are put together from.

Each run knows where it stands, so that a value which travelled through variables, functions and
scripts still has the line that states it as its evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence, Source

COMMAND_FILE = "<command>"


class SourceMap:
    """A text whose lines are evidence; each is made once."""

    __slots__ = ("_lines", "_quoted", "_shown", "name")

    def __init__(self, source: SourceFile, quoted: tuple[Evidence, ...] | None = None) -> None:
        self.name = source.name
        self._lines = source.lines() if quoted is None else []
        self._quoted = quoted
        self._shown: dict[int, tuple[Evidence, ...]] = {}

    @classmethod
    def quoting(cls, lines: tuple[Evidence, ...]) -> SourceMap:
        """Text that came from elsewhere and has its evidence with it."""
        return cls(SourceFile("", ""), lines)

    def evidence(self, line: int) -> tuple[Evidence, ...]:
        if self._quoted is not None:
            return self._quoted
        if line not in self._shown:
            text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
            self._shown[line] = (evidence(self.name, line, text),)
        return self._shown[line]


Place = tuple[SourceMap, int]


@dataclass(frozen=True, slots=True)
class Span:
    text: str
    at: Place
    known: bool = True
    splits: bool = False
    """Whether blanks in it separate words: it came from an unquoted variable."""
    ends_word: bool = False
    """An element of an array, or one of the script's arguments, that is a word by itself."""
    filled: bool | None = None
    """Of an unknown span: whether there is any text; False where nothing seems to set it."""
    sides: tuple[tuple[Span, ...], ...] = ()
    """Of an unknown span: what it is on each side of a branch that is not decided."""


Spans = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """`known` is False where the text has a variable in it that nothing has set.

    `evidence` has the line that states the value first, then the lines that use it.
    """

    text: str
    evidence: tuple[Evidence, ...] = ()
    known: bool = True
    spans: Spans = field(default=(), compare=False, repr=False)
    """What it was put together from, where that is known."""


def source_of(lines: Sequence[Evidence]) -> Source:
    """Who states it, by the line that comes first: the command as it was given, or a script."""
    return "cli" if not lines or lines[0].file == COMMAND_FILE else "script"


def command_words(words: Sequence[str]) -> tuple[Word, ...]:
    """Words of a command line that was given directly, not in a script."""
    line = (evidence(COMMAND_FILE, 1, " ".join(words)),)
    return tuple(Word(text, line) for text in words)
