"""Which format reads a line: only those whose hints are in it are asked, in their order."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.tracker.alarms import may_alarm
from schedmate.tracker.formats import FORMATS, LineFormat, Sighting

_DIGITS = b"0123456789"
_MOST_SHAPES = 4096
_LONGEST = 2048


@dataclass(frozen=True, slots=True)
class Shape:
    """What lines that differ only in their digits have in common."""

    formats: tuple[LineFormat, ...]
    may_alarm: bool


_RANKS = {kind.name: rank for rank, kind in enumerate(FORMATS)}

_candidates: dict[bytes, Shape] = {}
"""By the line without its digits, for all logs of the process: most lines come a thousand times."""


def read(shape: Shape, text: str) -> tuple[str, Sighting] | None:
    """The most specific format that knows the line, by name, and what it says."""
    for kind in shape.formats:
        sighting = kind.read(text)
        if sighting is not None:
            return kind.name, sighting
    return None


def more_specific(name: str, than: str | None) -> bool:
    """Whether one format says more about who wrote a log than another."""
    if than is None:
        return True
    return _RANKS.get(name, len(_RANKS)) < _RANKS.get(than, len(_RANKS))


def shape_of(line: bytes, text: str) -> Shape:
    """`text` is the line as formats want it, `line` the bytes it was made of."""
    if len(line) > _LONGEST:
        return _look(text)
    shape = line.translate(None, _DIGITS)
    known = _candidates.get(shape)
    if known is None:
        if len(_candidates) >= _MOST_SHAPES:
            _candidates.clear()
        known = _candidates[shape] = _look(text)
    return known


def _look(text: str) -> Shape:
    lowered = text.lower()
    formats = tuple(
        kind for kind in FORMATS if not kind.hints or any(hint in lowered for hint in kind.hints)
    )
    return Shape(formats, may_alarm(text))
