"""Spreads that cover what they say, learnt from how earlier ones turned out.

Conformal: of each earlier prediction we keep where the real time fell, measured in the prediction's
own width (0 is its p50, 1 its p90, -1 its p10). The quantiles of those places say how to bend the
next spread of the same basis. It follows the site's drift: only the newest pairs count, and the
levels read off are moved as long as too few or too many are covered (adaptive conformal inference).
What counts as covered is what was said when the job was submitted: of a dozen seeds submitted
together, the first to end would else teach what the other eleven are then judged by.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from schedmate.advisor.predict.spread import LONGEST_S
from schedmate.model import Spread
from schedmate.model.wire import dumps, loads

_WANTED = (0.1, 0.5, 0.9)
_BOUNDS = ((0.01, 0.35), (0.4, 0.6), (0.65, 0.99))
_REMEMBERED = 300
_PACES = (0.005, 0.01, 0.005)
_BELIEF = 10
"""How many pairs our prior is worth: that spreads are half as wide again as they should be."""
_PRIOR_WIDTH = 1.5
_BLUR = 0.05
"""Added to every width (log), so that a spread of no width can be missed by a finite lot."""
_FARTHEST = 40.0
_LONGEST_LOG = math.log(LONGEST_S)


@dataclass(frozen=True, slots=True)
class BasisState:
    """What is remembered of one basis: places, newest last, and the levels that are read off."""

    places: tuple[float, ...] = ()
    levels: tuple[float, float, float] = _WANTED


@dataclass(frozen=True, slots=True)
class CalibrationState:
    bases: dict[str, BasisState]


class Calibration:
    """Learns from pairs of (predicted, real) in the order in which the jobs ended."""

    def __init__(self, state: CalibrationState | None = None) -> None:
        bases = state.bases if state else {}
        self._bases = {name: _Basis(each) for name, each in bases.items()}

    def calibrated(self, basis: str, raw: Spread) -> Spread:
        """The spread that earlier ones of this basis show `raw` to mean."""
        return self._basis(basis).bent(raw)

    def observed(
        self, basis: str, raw: Spread, real_s: float, *, said: Spread | None = None
    ) -> None:
        """A job ended after `real_s`, of which `raw` was said before it was calibrated.

        `said` is what was made of it when the job was submitted; without it, what is made of it
        now.
        """
        self._bases.setdefault(basis, _Basis(BasisState())).learn(raw, real_s, said)

    def pairs(self, basis: str) -> int:
        """How many it goes by."""
        return len(self._basis(basis).places)

    def dump(self) -> str:
        return dumps(CalibrationState({name: each.state for name, each in self._bases.items()}))

    @classmethod
    def load(cls, text: str | bytes) -> Calibration:
        return cls(loads(CalibrationState, text))

    def _basis(self, name: str) -> _Basis:
        return self._bases.get(name) or _Basis(BasisState())


class _Basis:
    def __init__(self, state: BasisState) -> None:
        self.places: deque[float] = deque(state.places, maxlen=_REMEMBERED)
        self._ordered = sorted([*state.places, *_PRIOR])
        self._levels: Sequence[float] = state.levels

    @property
    def state(self) -> BasisState:
        low, middle, high = self._levels
        return BasisState(tuple(self.places), (low, middle, high))

    def bent(self, raw: Spread) -> Spread:
        middle, below, above = _shape(raw)
        logs = [middle + bend * (above if bend > 0 else below) for bend in self._bends()]
        p10, p50, p90 = (math.expm1(min(max(each, 0.0), _LONGEST_LOG)) for each in logs)
        return Spread(p10, p50, p90)

    def _bends(self) -> tuple[float, float, float]:
        """The middle is moved only as far as that is sure: raw, it is the best single answer."""
        low, middle, high = self._levels
        unsure = 0.5 / math.sqrt(len(self._ordered))
        least = _quantile(self._ordered, middle - unsure)
        most = _quantile(self._ordered, middle + unsure)
        sure = min(max(least, 0.0), most)
        outer = _quantile(self._ordered, low), _quantile(self._ordered, high)
        return min(outer[0], sure), sure, max(outer[1], sure)

    def learn(self, raw: Spread, real_s: float, said: Spread | None) -> None:
        said = said or self.bent(raw)
        missed = [real_s > each for each in (said.p10, said.p50, said.p90)]
        self._levels = [
            min(max(level + pace * (wanted - 1 + miss), low), high)
            for level, pace, wanted, miss, (low, high) in zip(
                self._levels, _PACES, _WANTED, missed, _BOUNDS, strict=True
            )
        ]
        self._remember(_place(raw, real_s))

    def _remember(self, place: float) -> None:
        if len(self.places) == _REMEMBERED:
            del self._ordered[bisect_left(self._ordered, self.places[0])]
        self.places.append(place)
        insort(self._ordered, place)


def _quantile(ordered: Sequence[float], level: float) -> float:
    """As conformal inference has it: the next pair is one more, so a little farther out."""
    place = level * (len(ordered) + 1) - 1
    below = min(max(math.floor(place), 0), len(ordered) - 2)
    share = min(max(place - below, 0.0), 1.0)
    return ordered[below] * (1 - share) + ordered[below + 1] * share


def _shape(raw: Spread) -> tuple[float, float, float]:
    middle = math.log1p(raw.p50)
    return middle, middle - math.log1p(raw.p10) + _BLUR, math.log1p(raw.p90) - middle + _BLUR


def _place(raw: Spread, real_s: float) -> float:
    middle, below, above = _shape(raw)
    off = math.log1p(max(real_s, 0.0)) - middle
    return min(max(off / (above if off > 0 else below), -_FARTHEST), _FARTHEST)


def _prior() -> tuple[float, ...]:
    """Places as they fall when logs are normal and the spread is too narrow by our prior."""
    normal = NormalDist(0.0, _PRIOR_WIDTH / NormalDist().inv_cdf(0.9))
    return tuple(normal.inv_cdf((each + 0.5) / _BELIEF) for each in range(_BELIEF))


_PRIOR = _prior()
