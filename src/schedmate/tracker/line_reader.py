"""Which format reads a line, and whether the line is of the rank that counts."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.logs import is_bare_number, stamped_at, unwrap
from schedmate.tracker.addresses import has_address
from schedmate.tracker.failure_signs import may_warn
from schedmate.tracker.formats import FORMATS, LineFormat, Sighting
from schedmate.tracker.line_signs import Signs, signs_of
from schedmate.tracker.rest_of_line import RestHints, rest_hints

_DIGITS = b"0123456789"
_MAX_SHAPES = 4096
_MAX_LENGTH = 2048


@dataclass(frozen=True, slots=True)
class Shape:
    """What lines that differ only in their digits have in common."""

    formats: tuple[LineFormat, ...]
    may_warn: bool
    signs: Signs
    rest: RestHints
    stamped: bool
    addressed: bool
    """They hold a web address or a path."""


GENERIC = frozenset(
    {
        "tqdm", "rich", "alive-progress", "jsonl", "csv", "keyvalue", "parts", "learned", "link",
        "stop", "checkpoint", "evaluation", "settings", "to do", "named",
    }
)  # fmt: skip
"""Formats that programs of any kind print."""
_OF_ADDRESSES = frozenset({"link", "checkpoint", "settings", "jsonl"})
"""Formats that read addresses and paths, or fields that never are any."""
_RANKS = {kind.name: rank for rank, kind in enumerate(FORMATS)}

_candidates: dict[bytes, Shape] = {}
"""By the line without its digits, for all logs of the process: most lines come a thousand times."""


def read(shape: Shape, text: str, bare: str) -> tuple[str, Sighting] | None:
    """The most specific format that knows the line, by name, and what it says.

    `bare` is the line without addresses, in which formats of any kind would see counts.
    """
    for kind in shape.formats:
        generic = kind.name in GENERIC and kind.name not in _OF_ADDRESSES
        sighting = kind.read(bare if generic else text)
        if sighting is not None:
            return kind.name, sighting
    return None


def more_specific(name: str, than: str | None) -> bool:
    """Whether one format identifies the framework better than another."""
    if than is None:
        return True
    return _RANKS.get(name, len(_RANKS)) < _RANKS.get(than, len(_RANKS))


def shape_of(line: bytes, text: str) -> Shape:
    """`text` is the line as formats want it, `line` the bytes it was made of."""
    if len(line) > _MAX_LENGTH:
        return _look(text)
    shape = line.translate(None, _DIGITS)
    known = _candidates.get(shape)
    if known is None:
        if len(_candidates) >= _MAX_SHAPES:
            _candidates.clear()
        known = _candidates[shape] = _look(text)
    return known


def _look(text: str) -> Shape:
    lowered = text.lower()
    formats = tuple(
        kind for kind in FORMATS if not kind.hints or any(hint in lowered for hint in kind.hints)
    )
    stamped = stamped_at(text) is not None
    return Shape(
        formats, may_warn(text), signs_of(text), rest_hints(text), stamped, has_address(text)
    )


_REPEATED = 3


@dataclass(slots=True)
class Ranks:
    """A bare number before a line is a rank only where it does not rise like a count."""

    leader: int | None = None
    numbered: int = 0
    """Lines that begin with a bare number ..."""
    changes: int = 0
    """... and how often it was another than on the line before."""
    last: int = -1

    def unwrap(self, line: str) -> tuple[int | None, str]:
        rank, text = unwrap(line)
        if rank is None or not is_bare_number(line):
            return rank, text
        self.numbered += 1
        self.changes += rank != self.last
        self.last = rank
        believed = rank == 0 or self.numbered >= _REPEATED * self.changes
        return (rank, text) if believed else (None, line)

    def counts(self, rank: int | None) -> bool:
        """Whether a count in a line of this rank is the run's; the first one decides."""
        if self.leader is None:
            self.leader = rank
        return rank is None or rank == self.leader
