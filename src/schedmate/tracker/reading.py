"""Which format reads a line: only those whose hints are in it are asked, in their order."""

from __future__ import annotations

from schedmate.tracker.formats import FORMATS, LineFormat, Sighting

_DIGITS = b"0123456789"
_MOST_SHAPES = 4096
_LONGEST = 2048
_RANKS = {kind.name: rank for rank, kind in enumerate(FORMATS)}

_candidates: dict[bytes, tuple[LineFormat, ...]] = {}
"""By the line without its digits, for all logs of the process: most lines come a thousand times."""


def read(line: bytes, text: str) -> tuple[str, Sighting] | None:
    """The most specific format that knows the line, by name, and what it says.

    `text` is the line as formats want it, `line` the bytes it was made of.
    """
    for kind in _asked(line, text):
        sighting = kind.read(text)
        if sighting is not None:
            return kind.name, sighting
    return None


def more_specific(name: str, than: str | None) -> bool:
    """Whether one format says more about who wrote a log than another."""
    if than is None:
        return True
    return _RANKS.get(name, len(_RANKS)) < _RANKS.get(than, len(_RANKS))


def _asked(line: bytes, text: str) -> tuple[LineFormat, ...]:
    if len(line) > _LONGEST:
        return _hinted(text)
    shape = line.translate(None, _DIGITS)
    known = _candidates.get(shape)
    if known is None:
        if len(_candidates) >= _MOST_SHAPES:
            _candidates.clear()
        known = _candidates[shape] = _hinted(text)
    return known


def _hinted(text: str) -> tuple[LineFormat, ...]:
    lowered = text.lower()
    return tuple(
        kind for kind in FORMATS if not kind.hints or any(hint in lowered for hint in kind.hints)
    )
