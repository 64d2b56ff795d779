"""Ranges that cover what they state, learnt from how earlier predictions turned out (conformal).

Two forms of one idea. Of each earlier spread we keep where the real time fell, in the spread's own
width (0 is its p50, 1 its p90, -1 its p10); the quantiles of those places bend the next spread of
the same kind. Of each earlier distribution we keep the share below the real time; the quantiles of
those shares are the levels to read p10 and p90 off. In both, the newest count, and the levels aimed
at move with every miss (adaptive conformal inference), so that in the long run the shares are right
whatever a site does. A prediction is judged as it was when its job was submitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from schedmate.advisor.predict.without_runs import LONGEST_S
from schedmate.model import Spread
from schedmate.model.wire import dumps, loads

_PACE = 0.005
_NOMINAL, _BOUNDS = (0.1, 0.5, 0.9), ((0.01, 0.35), (0.4, 0.6), (0.65, 0.99))
_REMEMBERED_PLACES = 300
_BELIEF = 10
"""How many pairs our prior is worth: that spreads are about as wide as they should be."""
_NORMAL = NormalDist(0.0, 0.8 / NormalDist().inv_cdf(0.9))
_PRIOR_PLACES = [_NORMAL.inv_cdf((each + 0.5) / _BELIEF) for each in range(_BELIEF)]
_SURE = 1.64
"""Standard errors by which a shift of the middle must be significant."""
_BLUR = 0.05
"""Added to every width (log), so that a spread of no width can be missed by a finite lot."""
_FARTHEST = 40.0
_LONGEST_LOG = math.log(LONGEST_S)


def _adapted(
    levels: Sequence[float],
    nominal: Sequence[float],
    missed: Sequence[bool],
    bounds: Sequence[tuple[float, float]],
) -> tuple[float, ...]:
    """Levels moved by one job that was longer (`missed`) than each of them predicted, or not."""
    moved = zip(levels, nominal, missed, bounds, strict=True)
    return tuple(
        min(max(level + _PACE * (wanted - 1 + miss), low), high)
        for level, wanted, miss, (low, high) in moved
    )


@dataclass(slots=True)
class Places:
    """What is remembered of one kind of spreads, the newest last."""

    places: list[float] = field(default_factory=list)
    levels: tuple[float, ...] = _NOMINAL
    lots: list[float] = field(default_factory=list)
    """The p90 predicted for each. Seeds of one configuration, submitted together, have the same:
    they show how far off one answer was, not how far off answers are, and count as one."""

    def bend(self, raw: Spread) -> Spread:
        middle, below, above = _shape(raw)
        logs = [middle + bend * (above if bend > 0 else below) for bend in self._bends()]
        p10, p50, p90 = (math.expm1(min(max(each, 0.0), _LONGEST_LOG)) for each in logs)
        return Spread(p10, p50, p90)

    def _bends(self) -> tuple[float, float, float]:
        """The middle is moved only as far as that is sure: raw, it is the best single answer."""
        low, middle, high = self.levels
        independent = _BELIEF + len(set(self.lots))
        unsure = _SURE * 0.5 / math.sqrt(independent)
        wanted = (
            max(low - (1 - low) / independent, 0.0),
            middle - unsure,
            middle + unsure,
            min(high + high / independent, 1.0),
        )
        lowest, least, most, highest = np.quantile([*self.places, *_PRIOR_PLACES], wanted).tolist()
        sure = min(max(least, 0.0), most)
        return min(lowest, sure), sure, max(highest, sure)

    def learn(self, raw: Spread, real_s: float, given: Spread) -> None:
        missed = [real_s > each for each in (given.p10, given.p50, given.p90)]
        self.levels = _adapted(self.levels, _NOMINAL, missed, _BOUNDS)
        middle, below, above = _shape(raw)
        off = math.log1p(max(real_s, 0.0)) - middle
        place = off / (above if off > 0 else below)
        self.places.append(min(max(place, -_FARTHEST), _FARTHEST))
        self.lots.append(given.p90)
        del self.places[:-_REMEMBERED_PLACES], self.lots[:-_REMEMBERED_PLACES]


def _shape(raw: Spread) -> tuple[float, float, float]:
    middle = math.log1p(raw.p50)
    return middle, middle - math.log1p(raw.p10) + _BLUR, math.log1p(raw.p90) - middle + _BLUR


@dataclass(slots=True)
class Calibration:
    """Learns from pairs of (predicted, real) in the order in which the jobs ended."""

    kinds: dict[str, Places] = field(default_factory=dict)

    def calibrated(self, kind: str, raw: Spread) -> Spread:
        """The spread that earlier ones of this kind show `raw` to mean."""
        return self.kinds.get(kind, Places()).bend(raw)

    def observed(
        self, kind: str, raw: Spread, real_s: float, *, calibrated: Spread | None = None
    ) -> None:
        """A job ended after `real_s`, of which `raw` was predicted before it was calibrated;
        `calibrated` is what was made of it when the job was submitted, else what is made now."""
        known = self.kinds.setdefault(kind, Places())
        known.learn(raw, real_s, calibrated or known.bend(raw))

    def dump(self) -> str:
        return dumps(self)

    @classmethod
    def load(cls, text: str | bytes) -> Calibration:
        return loads(cls, text)


_OUTER, _OUTER_BOUNDS = (0.1, 0.9), ((0.02, 0.25), (0.75, 0.98))
_REMEMBERED_SHARES = 400
_PRIOR_SHARES = [*(each / 10 + 0.05 for each in range(10)), *[0.0] * 4, *[1.0] * 6]
"""Before anything is known: that levels mean what they say, but often miss on either side, and
above more often: what hangs, or trains for once, is rare and long."""


@dataclass(slots=True)
class Levels:
    """The levels at which p10 and p90 are read off a distribution."""

    shares: list[float] = field(default_factory=list)
    """Of the newest jobs that have ended, the share of their distribution that was below."""
    aimed: tuple[float, ...] = _OUTER

    def read(self, passed: Sequence[float] = ()) -> tuple[float, float]:
        """`passed` are the shares that jobs which still run have passed already: they end above
        (Kaplan and Meier)."""
        shares = np.array([*self.shares, *_PRIOR_SHARES, *passed])
        is_end = np.arange(len(shares)) < len(shares) - len(passed)
        order = np.lexsort((~is_end, shares))
        left = np.cumprod(1 - is_end[order] / np.arange(len(shares) + 1, 1, -1))
        covered, levels = [0.0, *(1 - left), 1.0], [0.0, *shares[order], 1.0]
        low, high = np.interp(self.aimed, covered, levels).tolist()
        return low, high

    def learn(self, share: float, missed: Sequence[bool]) -> None:
        """`missed`: whether the job took longer than p10 and than p90."""
        self.shares.append(share)
        del self.shares[:-_REMEMBERED_SHARES]
        self.aimed = _adapted(self.aimed, _OUTER, missed, _OUTER_BOUNDS)
