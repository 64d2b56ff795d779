"""`--epochs 3`, `--epochs=3`, `epochs=3` for whatever reads them in the code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.readers.base import UNSTATED, Reading, Stated
from schedmate.advisor.shell import Word
from schedmate.model import Evidence

_PAIR = re.compile(r"(?:--?|\+{1,2})?([A-Za-z_][\w./-]*)=(.*)", re.DOTALL)
_FLAG = re.compile(r"--([A-Za-z_][\w.-]*)")


class CommandLineReader:
    """Knows no declarations, so what a reader of declarations says is worth more."""

    name = "command_line"

    def read(self, reading: Reading) -> Iterator[Stated]:
        last = {stated.name: stated for stated in _given(reading.arguments)}
        yield from last.values()


def _given(words: tuple[Word, ...]) -> Iterator[Stated]:
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else None
        if pair := _PAIR.fullmatch(word.text):
            yield _stated(pair[1], pair[2] if word.known else UNSTATED, word.evidence)
        elif flag := _FLAG.fullmatch(word.text):
            yield _flag(flag[1], word, following)


def _flag(name: str, word: Word, following: Word | None) -> Stated:
    if following is None or following.text.startswith("--"):
        return _stated(name, True, word.evidence)
    evidence = tuple(dict.fromkeys((*following.evidence, *word.evidence)))
    return _stated(name, following.text if following.known else UNSTATED, evidence)


def _stated(name: str, value: object, evidence: tuple[Evidence, ...]) -> Stated:
    return Stated(name=name, value=value, source="cli", evidence=evidence, confidence=0.9)
