"""The words of a command line as a program gets them, each with the lines that state it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from schedmate.advisor.interpret.python.known_prefix import unset_in
from schedmate.advisor.interpret.python.values import Sequence, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.interpret.shell.words import source_of
from schedmate.model import Evidence, Source


@dataclass(frozen=True, slots=True)
class Given:
    """`known` is False where the text has a part in it that unknown."""

    text: str
    lines: tuple[Evidence, ...] = ()
    source: Source = "cli"
    known: bool = True

    @property
    def value(self) -> Value:
        return self.holding(self.text)

    def holding(self, data: object) -> Value:
        """What the word means, or as much of its text as is known."""
        if not self.known:
            return unset_in(self.text, self.lines, self.source)
        return Value(data, self.lines, self.source)

    def behind(self, flag: Given) -> Given:
        """A flag's value: the line that holds the value comes first, the flag's own after it."""
        return replace(self, lines=tuple(dict.fromkeys((*self.lines, *flag.lines))))


def given(words: Iterable[Word]) -> tuple[Given, ...]:
    return tuple(given_word(word) for word in words)


def given_word(word: Word) -> Given:
    return Given(word.text, word.evidence, source_of(word.evidence), word.known)


def given_list(value: Value) -> tuple[Given, ...] | None:
    """A list of strings that the code hands to a parser; None where it is no list."""
    if not isinstance(value.data, Sequence):
        return None
    return tuple(
        Given(str(item.data) if item.known else "", item.lines, item.source, item.known)
        for item in value.data.items
    )


def as_list(words: Iterable[Given]) -> Value:
    """What `parse_known_args` leaves over."""
    return Value(Sequence([word.value for word in words]))


def several(values: Iterable[Value]) -> Value:
    """A list of values that together are one."""
    items = list(values)
    lines = tuple(dict.fromkeys(line for item in items for line in item.lines))
    return Value(Sequence(items), lines, items[0].source if items else "code")
