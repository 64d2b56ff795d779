"""Options on a command line whose declarations were not seen."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.given import Given, given, several
from schedmate.advisor.options.text import number, typed

_NAME = r"[A-Za-z_][\w./@:-]{0,200}"
_FLAG = re.compile(rf"--?({_NAME})")
_SET = re.compile(rf"(--?|\+{{1,2}})?({_NAME})=(.*)", re.DOTALL)
_SHORT = 2


@dataclass(frozen=True, slots=True)
class Pair:
    """`--name value …` as it stands; no values: a bare flag."""

    name: str
    flag: Given
    values: tuple[Given, ...]
    dashed: bool = True

    def value(self) -> Value:
        """Careful: one word is what it clearly is, several are a list, none says yes."""
        if not self.values:
            return self.flag.holding(True)
        values = [typed(word) for word in self.values]
        return values[0] if len(values) == 1 else several(values)


def undeclared(arguments: Sequence[Word], known_names: Collection[str]) -> Iterator[Option]:
    """What a command line sets besides the names that are known already, the last of each name.

    `--epochs 3`, `--epochs=3`, `epochs=3`, `trainer.max_epochs=3`, `+a.b=3`, `--fp16`.
    """
    known = {plain(name) for name in known_names}
    last = {pair.name: pair for pair in pairs(given(arguments)) if plain(pair.name) not in known}
    for pair in last.values():
        name = underscored(pair.name) if pair.dashed else pair.name
        yield Option(name=name, value=pair.value())


def pairs(words: Sequence[Given]) -> Iterator[Pair]:
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        found = _SET.fullmatch(word.text)
        if found and "://" not in found[2]:
            value = Given(found[3], word.lines, word.source, word.known)
            yield Pair(found[2], word, (value,), dashed=(found[1] or "").startswith("-"))
        elif (flag := _FLAG.fullmatch(word.text)) and word.known:
            following = _following(words, index)
            index += len(following)
            yield Pair(flag[1], word, tuple(each.behind(word) for each in following))


def _following(words: Sequence[Given], start: int) -> list[Given]:
    """The words behind a flag that are its values: up to the next flag or `a=b`."""
    values: list[Given] = []
    for word in words[start:]:
        if looks_like_flag(word.text) or (values and _SET.fullmatch(word.text)):
            break
        values.append(word)
    return values


def looks_like_flag(text: str) -> bool:
    """`-x` and `--x`, but not `-1` nor `-`."""
    return text.startswith("-") and len(text) >= _SHORT and number(text) is None


def underscored(name: str) -> str:
    """`batch-size` as a namespace holds it."""
    return name.replace("-", "_")


def plain(name: str) -> str:
    """Names that differ only in how they are joined are one."""
    return underscored(name).lower()
