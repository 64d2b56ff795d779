"""A whole run as its log shows it; its lines come at an even pace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random


class LabelledLine(str):
    """A line with the share of the run that is done once it is written."""

    __slots__ = ("share",)
    share: float


def at(share: float, text: str) -> LabelledLine:
    line = LabelledLine(text)
    line.share = share
    return line


def share_done(lines: Sequence[str], written: int) -> float | None:
    """The label of the newest of the written lines that has one."""
    labels = (line.share for line in reversed(lines[:written]) if isinstance(line, LabelledLine))
    return next(labels, None)


Lines = Callable[[Random], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Run:
    lines: Lines
    open_ended: bool = False
    """The log does not state how much there is to do."""
    training: bool = True
    last_words: bool = False
    """The log itself states that it is over."""
    timed: bool = False
    """The log shows how long it still takes, or how long a step takes."""

    @property
    def name(self) -> str:
        return self.lines.__name__

    def written(self, seed: int = 1) -> list[str]:
        return list(self.lines(Random(seed)))
