"""The times that lines are stamped with, each kind of stamp a clock of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from schedmate.logs import DAY_S, stamped_at

Kind = Literal["own", "dated", "timed"]
"""Read by the line's format only (`time_ms`), with a date, or a time of day without one.

A log may hold all three, in three time zones.
"""


@dataclass(frozen=True, slots=True)
class Stamp:
    at: float
    kind: Kind
    first: float
    """The first of this kind in the log."""


@dataclass(slots=True)
class Stamps:
    first: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    midnights: int = 0

    def read(self, text: str, own: float | None) -> Stamp | None:
        at = stamped_at(text) if own is None else own
        if at is None:
            return None
        kind: Kind = "own" if own is not None else "dated" if at >= DAY_S else "timed"
        if kind == "timed":
            at = self._with_midnights(at)
        self.last[kind] = at
        return Stamp(at, kind, self.first.setdefault(kind, at))

    def again(self, at: float | None) -> Stamp | None:
        """A stamp that was read before; None where the lines of this log are not stamped."""
        kinds: tuple[Kind, ...] = ("dated", "timed")
        kind = next((kind for kind in kinds if kind in self.first), None)
        return None if at is None or kind is None else Stamp(at, kind, self.first[kind])

    def _with_midnights(self, at: float) -> float:
        """Days are counted by the midnights between the lines."""
        at += self.midnights * DAY_S
        last = self.last.get("timed")
        if last is not None and at < last - DAY_S / 2:
            self.midnights += 1
            at += DAY_S
        return at
