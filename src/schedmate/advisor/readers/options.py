"""Options as argparse understands them: declarations, and a command line matched to them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from schedmate.advisor.readers.base import UNSTATED
from schedmate.advisor.shell import Word
from schedmate.model import Evidence

Takes = Literal["value", "values", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """`flags` is empty for a positional; `constant` is what a flag without a value means."""

    dest: str
    flags: tuple[str, ...]
    takes: Takes = "value"
    default: Any = None
    constant: Any = True
    negatable: bool = False
    optional_value: bool = False
    evidence: Evidence
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Given:
    """An option on the command line, the last of its name."""

    option: Option
    value: Any
    evidence: tuple[Evidence, ...]


def match(options: Sequence[Option], words: Sequence[Word]) -> list[Given]:
    """The options that a command line gives; words that fit none are left alone."""
    return list({id(each.option): each for each in _Matcher(options, words).given()}.values())


class _Matcher:
    def __init__(self, options: Sequence[Option], words: Sequence[Word]) -> None:
        self._flags = {flag: option for option in reversed(options) for flag in option.flags}
        self._positionals = [option for option in options if not option.flags]
        self._words = deque(words)

    def given(self) -> Iterator[Given]:
        while self._words:
            word = self._words.popleft()
            if word.text.startswith("-") and not _is_number(word.text):
                yield from self._option(word)
            elif self._positionals:
                option = self._positionals.pop(0)
                if option.takes == "values":
                    self._values()
                yield Given(option, _text(word), word.evidence)

    def _option(self, word: Word) -> Iterator[Given]:
        flag, equals, attached = word.text.partition("=")
        option = self._find(flag)
        if option is None:
            yield from self._short(word)
        elif option.takes == "nothing":
            negated = option.negatable and flag.startswith("--no-")
            yield Given(option, not option.constant if negated else option.constant, word.evidence)
        elif equals:
            yield Given(option, attached if word.known else UNSTATED, word.evidence)
        else:
            yield from self._with_values(option, word)

    def _with_values(self, option: Option, word: Word) -> Iterator[Given]:
        values = self._values(1 if option.takes == "value" else None)
        evidence = tuple(dict.fromkeys(line for part in (*values, word) for line in part.evidence))
        if not values:
            if option.optional_value:
                yield Given(option, option.constant, evidence)
            return
        texts = tuple(_text(value) for value in values)
        yield Given(option, texts if option.takes == "values" else texts[0], evidence)

    def _values(self, limit: int | None = None) -> list[Word]:
        values: list[Word] = []
        while self._words and (limit is None or len(values) < limit):
            text = self._words[0].text
            if text.startswith("-") and not _is_number(text):
                break
            values.append(self._words.popleft())
        return values

    def _find(self, flag: str) -> Option | None:
        """Exactly, or by the only beginning that fits, as argparse does."""
        if flag in self._flags or not flag.startswith("--"):
            return self._flags.get(flag)
        if flag.startswith("--no-"):
            positive = self._flags.get(f"--{flag.removeprefix('--no-')}")
            if positive is not None and positive.negatable:
                return positive
        fitting = {
            id(option): option for name, option in self._flags.items() if name.startswith(flag)
        }
        return next(iter(fitting.values())) if len(fitting) == 1 else None

    def _short(self, word: Word) -> Iterator[Given]:
        """`-e3`."""
        option = self._flags.get(word.text[:2])
        if option is not None and option.takes != "nothing" and not word.text.startswith("--"):
            yield Given(option, word.text[2:] if word.known else UNSTATED, word.evidence)


def _text(word: Word) -> Any:
    return word.text if word.known else UNSTATED


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
