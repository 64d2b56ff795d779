"""Ranges that cover what they state, learnt from how earlier predictions turned out.

Conformal, in two forms of one idea. Of each earlier estimate by neighbours we keep where the real
time fell, measured in the estimate's own width (0 is its p50, 1 its p90, -1 its p10); the quantiles
of those places bend the next estimate of the same kind. Of each earlier prediction by cohorts we
keep the share of its pmf below the real time; those shares are the levels to read p10 and p90 off,
and jobs that still run count as longer than they have run by now (Kaplan and Meier).

In both, the newest count, and the levels aimed at move with every miss (adaptive conformal
inference), so that in the long run the shares are right whatever a site does. A prediction is
judged as it was when its job was submitted: of a dozen seeds submitted together, the first to end
would else teach what the other eleven are then judged by.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from schedmate.advisor.predict.cohorts import InFlightJob
from schedmate.advisor.predict.distributions import Pmf, Weights, place_of, share_below
from schedmate.advisor.predict.without_runs import LONGEST_S
from schedmate.model import Spread
from schedmate.model.wire import dumps, loads

_NOMINAL = (0.1, 0.5, 0.9)
_BOUNDS = ((0.01, 0.35), (0.4, 0.6), (0.65, 0.99))
_PACES = (0.005, 0.005, 0.005)
_REMEMBERED_PAIRS = 300
_BELIEF = 10
"""How many pairs our prior is worth: that spreads are about as wide as they should be."""
_PRIOR_WIDTH = 0.8
_SURE = 1.64
"""Standard errors by which a shift of the middle must be significant."""
_BLUR = 0.05
"""Added to every width (log), so that a spread of no width can be missed by a finite lot."""
_FARTHEST = 40.0
_LONGEST_LOG = math.log(LONGEST_S)


@dataclass(frozen=True, slots=True)
class KindState:
    """What is remembered of one kind: places, newest last, and the levels that are read off."""

    places: tuple[float, ...] = ()
    levels: tuple[float, ...] = _NOMINAL
    lots: tuple[float, ...] = ()
    """The p90 predicted for each. Seeds of one configuration, submitted together, have the same."""


@dataclass(frozen=True, slots=True)
class CalibrationState:
    kinds: dict[str, KindState]


class Calibration:
    """Learns from pairs of (predicted, real) in the order in which the jobs ended."""

    def __init__(self, state: CalibrationState | None = None) -> None:
        kinds = state.kinds if state else {}
        self._kinds = {name: _Kind(each) for name, each in kinds.items()}

    def calibrated(self, kind: str, raw: Spread) -> Spread:
        """The spread that earlier ones of this kind show `raw` to mean."""
        return self._kind(kind).bent(raw)

    def observed(
        self, kind: str, raw: Spread, real_s: float, *, calibrated: Spread | None = None
    ) -> None:
        """A job ended after `real_s`, of which `raw` was predicted before it was calibrated.

        `calibrated` is what was made of it when the job was submitted; without it, what is made of
        it now.
        """
        self._kinds.setdefault(kind, _Kind(KindState())).learn(raw, real_s, calibrated)

    def pairs(self, kind: str) -> int:
        """How many it goes by."""
        return len(self._kind(kind).places)

    @property
    def state(self) -> CalibrationState:
        return CalibrationState({name: each.state for name, each in self._kinds.items()})

    def dump(self) -> str:
        return dumps(self.state)

    @classmethod
    def load(cls, text: str | bytes) -> Calibration:
        return cls(loads(CalibrationState, text))

    def _kind(self, name: str) -> _Kind:
        return self._kinds.get(name) or _Kind(KindState())


class _Kind:
    def __init__(self, state: KindState) -> None:
        self.places: deque[float] = deque(state.places, maxlen=_REMEMBERED_PAIRS)
        self._lots: deque[float] = deque(state.lots, maxlen=_REMEMBERED_PAIRS)
        self._ordered = sorted([*state.places, *_PRIOR_PLACES])
        self._levels: Sequence[float] = state.levels
        self._independent = len(set(self._lots))

    @property
    def state(self) -> KindState:
        return KindState(tuple(self.places), tuple(self._levels), tuple(self._lots))

    def bent(self, raw: Spread) -> Spread:
        middle, below, above = _shape(raw)
        logs = [middle + bend * (above if bend > 0 else below) for bend in self._bends()]
        p10, p50, p90 = (math.expm1(min(max(each, 0.0), _LONGEST_LOG)) for each in logs)
        return Spread(p10, p50, p90)

    def _bends(self) -> tuple[float, float, float]:
        """The middle is moved only as far as that is sure: raw, it is the best single answer.

        A dozen seeds of one configuration show how far off that answer was, not how far off answers
        are: they count as one.
        """
        low, middle, high = self._levels
        independent = _BELIEF + self._independent
        unsure = _SURE * 0.5 / math.sqrt(independent)
        least = _quantile(self._ordered, middle - unsure)
        most = _quantile(self._ordered, middle + unsure)
        sure = min(max(least, 0.0), most)
        beyond = (1 - low) / independent, high / independent
        outer = (
            _quantile(self._ordered, max(low - beyond[0], 0.0)),
            _quantile(self._ordered, min(high + beyond[1], 1.0)),
        )
        return min(outer[0], sure), sure, max(outer[1], sure)

    def learn(self, raw: Spread, real_s: float, calibrated: Spread | None) -> None:
        calibrated = calibrated or self.bent(raw)
        missed = [real_s > each for each in (calibrated.p10, calibrated.p50, calibrated.p90)]
        self._levels = adapted(self._levels, _NOMINAL, missed, _PACES, _BOUNDS)
        if len(self.places) == _REMEMBERED_PAIRS:
            del self._ordered[bisect_left(self._ordered, self.places[0])]
        self.places.append(_place(raw, real_s))
        self._lots.append(calibrated.p90)
        self._independent = len(set(self._lots))
        insort(self._ordered, self.places[-1])


def adapted(
    levels: Sequence[float],
    nominal: Sequence[float],
    missed: Sequence[bool],
    paces: Sequence[float],
    bounds: Sequence[tuple[float, float]],
) -> tuple[float, ...]:
    """Levels moved by one job that was longer (`missed`) than each of them predicted, or not."""
    return tuple(
        min(max(level + pace * (wanted - 1 + miss), low), high)
        for level, pace, wanted, miss, (low, high) in zip(
            levels, paces, nominal, missed, bounds, strict=True
        )
    )


def _quantile(ordered: Sequence[float], level: float) -> float:
    place = level * (len(ordered) - 1)
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


_PRIOR_PLACES = _prior()

_OUTER = (0.1, 0.9)
_OUTER_BOUNDS = ((0.02, 0.25), (0.75, 0.98))
_OUTER_PACES = (0.005, 0.005)
_REMEMBERED_SHARES = 400
_EVERY = 20
_PRIOR_SHARES = [*(each / 10 + 0.05 for each in range(10)), *[0.0] * 4, *[1.0] * 6]
"""Before anything is known: that levels mean what they say, but often miss on either side, and
above more often: what hangs, or trains for once, is rare and long."""
_NOTHING = Spread(0, 0, 0)


@dataclass(slots=True)
class Watched:
    """A job's predicted distribution, until it has ended; then only where it ended in it."""

    flight: InFlightJob
    below: Pmf | None
    share: float = 0.0
    predicted: Spread = _NOTHING
    counted: bool = False

    def passed(self, now: float) -> float:
        """The share that has passed already."""
        if self.below is None or self.flight.started_at is None:
            return 0.0
        return share_below(self.below, place_of(now - self.flight.started_at))


@dataclass(frozen=True, slots=True)
class ConformalLevelsState:
    """The shares of the jobs that have ended, oldest first, and what is aimed at by now."""

    shares: list[float] = field(default_factory=list)
    levels: tuple[float, ...] = _OUTER


class ConformalLevels:
    def __init__(self, state: ConformalLevelsState | None = None) -> None:
        state = state or ConformalLevelsState()
        ended = (Watched(InFlightJob(), None, share) for share in state.shares)
        self._watched = deque(ended, _REMEMBERED_SHARES)
        self._since = 0
        self._aimed_at = state.levels
        self.low, self.high = self._aimed_at
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

    def forget(self, watched: Watched) -> None:
        """Of one that has not ended, and of which no more will be known."""
        kept = (each for each in self._watched if each is not watched)
        self._watched = deque(kept, _REMEMBERED_SHARES)

    def observed(self, below: Pmf, predicted: Spread, seconds: float) -> None:
        """A job ended that was not watched while it ran."""
        watched = Watched(InFlightJob(), below, predicted=predicted)
        self._watched.append(watched)
        self.ended(watched, seconds)
        self._read(0.0)

    @property
    def state(self) -> ConformalLevelsState:
        return ConformalLevelsState(self._shares(), self._aimed_at)

    def _shares(self) -> list[float]:
        return [each.share for each in self._watched if each.below is None]

    def _read(self, now: float) -> None:
        for each in self._watched:
            self._note_overdue(each, now)
        ended = self._shares()
        passed = [each.passed(now) for each in self._watched if each.below is not None]
        levels, covered = _product_limit([*ended, *_PRIOR_SHARES], passed)
        self.low, self.high = (float(np.interp(each, covered, levels)) for each in self._aimed_at)

    def _note_overdue(self, watched: Watched, now: float) -> None:
        """That p90 is missed is known long before such a job ends."""
        started = watched.flight.started_at
        if watched.counted or watched.below is None or started is None:
            return
        if now - started > watched.predicted.p90:
            self._count(watched, now - started)

    def _count(self, watched: Watched, seconds: float) -> None:
        """Move what is aimed at, as long as too few or too many are covered."""
        if watched.counted:
            return
        watched.counted = True
        missed = seconds > watched.predicted.p10, seconds > watched.predicted.p90
        self._aimed_at = adapted(self._aimed_at, _OUTER, missed, _OUTER_PACES, _OUTER_BOUNDS)


def _product_limit(ended: Sequence[float], passed: Sequence[float]) -> tuple[Weights, Weights]:
    """Kaplan and Meier's: shares, and what part of all jobs ends below each."""
    shares = np.concatenate([ended, passed])
    is_end = np.arange(len(shares)) < len(ended)
    order = np.lexsort((~is_end, shares))
    at_risk = np.arange(len(shares), 0, -1)
    left = np.cumprod(1 - is_end[order] / (at_risk + 1))
    return np.concatenate([[0.0], shares[order], [1.0]]), np.concatenate([[0.0], 1 - left, [1.0]])
