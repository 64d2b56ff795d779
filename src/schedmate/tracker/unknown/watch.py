"""Later lines against a learnt pattern: a wrong one shows itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from schedmate.tracker.formats.base import Sighting

_NEAR_START: Final = 0.1
_JUMP: Final = 50.0
_SHARE: Final = 5
_STRIKES: Final = 3
_SILENT: Final = 40
_KNOWN: Final = 5
_JITTER: Final = 0.01
_OVER: Final = 2


@dataclass(slots=True)
class Watched:
    """Counts what a right pattern does not do. A return to the start is a round or a restart."""

    seen: int = 0
    first: float = 0.0
    last: float = 0.0
    order: int = 0
    pace: float = 0.0
    back: int = 0
    jumps: int = 0
    over: int = 0
    missed: int = 0
    rounds: int = 0
    odd: int = 0
    """Rounds that were not as long as the one before."""
    peak: float = 0.0
    """Where the count went round last time."""
    same_peaks: int = 0

    @property
    def wrong(self) -> bool:
        strikes = max(self.back + self.odd, self.jumps)
        return (
            (strikes >= _STRIKES and strikes * _SHARE > self.seen)
            or self.over >= _OVER
            or self.missed >= max(_SILENT, 3 * self.seen)
        )

    @property
    def lap(self) -> float | None:
        """What the count goes up to each time, where it never says so."""
        if self.same_peaks < 1:
            return None
        return self.peak + self.pace if self.first == 0 else self.peak

    def see(self, sighting: Sighting, order: int, *, with_total: bool) -> None:
        """Take in what the pattern read; `with_total`: it promised one."""
        current = sighting.current or 0.0
        self.over += with_total and sighting.total is None
        self.missed = 0
        if self.seen == 0:
            self.first = current
        else:
            self._move(current, sighting.total)
        self.seen, self.last, self.order = self.seen + 1, current, order

    def miss(self) -> None:
        """A line like those of the pattern that it did not read."""
        self.missed += 1

    def _move(self, current: float, total: float | None) -> None:
        move = current - self.last
        if move > 0:
            wide = move > _JUMP * max(self.pace, 1e-9) and (not total or _SHARE * move > total)
            self.jumps += wide and self.seen >= _KNOWN
            self.pace = move if self.pace == 0 else min(self.pace, move)
        elif move < 0:
            self._fall(current, -move, total)

    def _fall(self, current: float, fall: float, total: float | None) -> None:
        if current <= self.first + _NEAR_START * (self.last - self.first):
            self.rounds += 1
            self.odd += abs(self.last - self.peak) > _NEAR_START * self.last
            self.same_peaks = self.same_peaks + 1 if self.last == self.peak else 0
            self.peak = self.last
            self.first = min(self.first, current)
        elif fall > max(2 * self.pace, _JITTER * (total or 0.0)):
            self.back += 1
