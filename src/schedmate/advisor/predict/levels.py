"""Which quantiles to read off so that they cover what they say: conformal, the running counted.

Of each recent job we keep what share of its own predicted distribution lay below its real time.
Where a tenth of them lie below some share, that share is the level to read p10 off, and so on. Of
jobs that still run it is known that theirs lies above what has passed: to leave them out would be
to learn from the short ones only. On top, what is aimed at moves a little with every miss (adaptive
conformal inference), so that in the long run the shares are right whatever a site does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from schedmate.advisor.predict.grid import Mass, Weights, place_of, share_below
from schedmate.advisor.predict.kin import Flight
from schedmate.model import Spread

_REMEMBERED = 400
_EVERY = 20
_PRIOR = [*(each / 10 + 0.05 for each in range(10)), *[0.0] * 4, *[1.0] * 6]
"""Before anything is known: that levels mean what they say, but often miss on either side, and
above more often: what hangs, or trains for once, is rare and long."""
_PACE = 0.005

_NOTHING = Spread(0, 0, 0)


@dataclass(slots=True)
class Watched:
    """A job's predicted distribution, until it has ended; then only where it ended in it."""

    flight: Flight
    below: Mass | None
    share: float = 0.0
    said: Spread = _NOTHING
    counted: bool = False

    def passed(self, now: float) -> float:
        """The share that has passed already."""
        if self.below is None or self.flight.started_at is None:
            return 0.0
        return share_below(self.below, place_of(now - self.flight.started_at))


@dataclass(frozen=True, slots=True)
class LevelsState:
    """The shares of the jobs that have ended, oldest first, and what is aimed at by now."""

    shares: list[float] = field(default_factory=list)
    wanted: tuple[float, float] = (0.1, 0.9)


class Levels:
    def __init__(self, state: LevelsState | None = None) -> None:
        state = state or LevelsState()
        ended = (Watched(Flight(), None, share) for share in state.shares)
        self._watched = deque(ended, _REMEMBERED)
        self._since = 0
        self._wanted = state.wanted
        self.low, self.high = self._wanted
        self._read(0.0)

    def submitted(self, watched: Watched, now: float) -> None:
        self._watched.append(watched)
        self._since += 1
        if self._since >= _EVERY:
            self._since = 0
            self._read(now)

    def ended(self, watched: Watched, seconds: float) -> None:
        if watched.below is not None:
            watched.share = share_below(watched.below, place_of(seconds))
            watched.below = None
            self._count(watched, seconds)

    @property
    def state(self) -> LevelsState:
        return LevelsState(self._shares(), self._wanted)

    def _shares(self) -> list[float]:
        return [each.share for each in self._watched if each.below is None]

    def _read(self, now: float) -> None:
        for each in self._watched:
            self._note_overdue(each, now)
        ended = self._shares()
        passed = [each.passed(now) for each in self._watched if each.below is not None]
        levels, covered = _product_limit([*ended, *_PRIOR], passed)
        self.low, self.high = (float(np.interp(each, covered, levels)) for each in self._wanted)

    def _note_overdue(self, watched: Watched, now: float) -> None:
        """That p90 is missed is known long before such a job ends."""
        started = watched.flight.started_at
        if watched.counted or watched.below is None or started is None:
            return
        if now - started > watched.said.p90:
            self._count(watched, now - started)

    def _count(self, watched: Watched, seconds: float) -> None:
        """Move what is aimed at, as long as too few or too many are covered."""
        if watched.counted:
            return
        watched.counted = True
        low, high = self._wanted
        low += _PACE * ((seconds > watched.said.p10) - 0.9)
        high += _PACE * ((seconds > watched.said.p90) - 0.1)
        self._wanted = min(max(low, 0.02), 0.25), min(max(high, 0.75), 0.98)


def _product_limit(ended: Sequence[float], passed: Sequence[float]) -> tuple[Weights, Weights]:
    """Kaplan and Meier's: shares, and what part of all jobs ends below each."""
    shares = np.concatenate([ended, passed])
    is_end = np.arange(len(shares)) < len(ended)
    order = np.lexsort((~is_end, shares))
    at_risk = np.arange(len(shares), 0, -1)
    left = np.cumprod(1 - is_end[order] / (at_risk + 1))
    return np.concatenate([[0.0], shares[order], [1.0]]), np.concatenate([[0.0], 1 - left, [1.0]])
