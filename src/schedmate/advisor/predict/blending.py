"""What the code states and what the site's past predicts, joined by what has been right lately.

What is claimed of a job's time is a measurement of it, as good as it has proved to be:
`claim = a + b log(time) + c log(site's middle) + noise`, learnt online for each kind of claim
(ridge regression with forgetting). Bayes' rule joins it with what is known without it: a claim that
tells nothing has b = 0 and changes nothing. There are three: the user's own time limit; the pace of
the code times the job's own length; and what its neighbours predict.

What is known without claims is the site's pmf. Failures and cancellations are ends, here as
everywhere in it.

Past runs that agree may answer alone, as long as such answers were nearer than the blend of late.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from schedmate.advisor.predict.calibration import ConformalLevels, ConformalLevelsState
from schedmate.advisor.predict.distributions import (
    SIZE,
    STEP,
    Pmf,
    Weights,
    below_of,
    clipped,
    spread_of,
)
from schedmate.advisor.predict.paces import Paces, log_work
from schedmate.model import Spread
from schedmate.model.sketch import Sketch
from schedmate.model.wire import dumps, loads

if TYPE_CHECKING:
    from schedmate.advisor.predict.durations import Estimate

_GRID = np.arange(SIZE) * STEP
_FORGETS, _FORGETS_ERRORS, _FORGETS_USER = 0.998, 0.98, 0.9
_REPEATS = 0.8
"""Of a claim of which nothing is known yet: how far it repeats what is predicted without it. Until
it has proved to tell more, it changes nothing."""
_BELIEF = 8.0
_INTERCEPT_BELIEF = 0.2
_PRIOR_VARIANCE, _PRIOR_COUNT = 2.0, 10.0
_DEGREES = 6.0
"""Of freedom: claims are sometimes far off, and must not rule a time out."""
_LEAST_LIKELY = 1e-4
_ODD_SQUARE = 9.0
_MOST_USERS = 5000
_ENOUGH = 30
"""Ends of jobs that had neighbours, after which it is worth asking where there is another answer:
before, it is unknown what neighbours are worth here."""
_LIMIT = "limit"
_ROOM = 1.5
"""How far (log) beyond what is claimed a time can lie that the site has not seen."""
_FIRST_ERRORS = (2.5, 5.0)
"""Of runs that may answer alone and of the blend, before any: they do until they prove worse."""


@dataclass(slots=True)
class Measurement:
    """One kind of claim, given those before it: how it depends on the time that a job takes."""

    gram: list[list[float]]
    moments: list[float]
    squares: float = _PRIOR_VARIANCE * _PRIOR_COUNT
    count: float = _PRIOR_COUNT

    @classmethod
    def of(cls, others: int) -> Measurement:
        """Given the site's middle and so many other claims."""
        belief = [_INTERCEPT_BELIEF, *[_BELIEF] * (2 + others)]
        means = [0.0, 0.0, *([0.0] * others), _REPEATS]
        return cls(np.diag(belief).tolist(), [b * m for b, m in zip(belief, means, strict=True)])

    def likelihood(self, claim: float, given: Sequence[float]) -> Weights:
        """Of each time of the grid."""
        weights = self._weights()
        rest = claim - weights[0] - float(weights[2:] @ np.array(given))
        off = (rest - max(weights[1], 0.0) * _GRID) ** 2 / (self.squares / self.count)
        return np.asarray((1 + off / _DEGREES) ** (-(_DEGREES + 1) / 2) + _LEAST_LIKELY)

    def learn(self, claim: float, log_s: float, given: Sequence[float]) -> None:
        row, gram = np.array([1.0, log_s, *given]), np.array(self.gram)
        off = claim - float(self._weights() @ row)
        square = off**2 / (1 + float(row @ np.linalg.solve(gram, row)))
        variance = self.squares / self.count
        self.squares = self.squares * _FORGETS + min(square, _ODD_SQUARE * variance)
        self.count = self.count * _FORGETS + 1
        self.gram = (gram * _FORGETS + np.outer(row, row)).tolist()
        self.moments = (np.array(self.moments) * _FORGETS + row * claim).tolist()

    def _weights(self) -> Weights:
        return np.linalg.solve(np.array(self.gram), np.array(self.moments))


@dataclass(frozen=True, slots=True)
class Claim:
    kind: str
    log_s: float
    given: tuple[float, ...]
    """The site's middle, and the claims before it."""


def _chained(found: dict[str, float], middle: float) -> tuple[Claim, ...]:
    """Each given those before it: what two claims both owe to the same runs counts once."""
    claims: list[Claim] = []
    kind = ""
    given: tuple[float, ...] = (middle,)
    for name, log_s in found.items():
        kind = f"{kind}, {name}" if kind else name
        claims.append(Claim(kind, log_s, given))
        given = (*given, log_s)
    return tuple(claims)


def _reached(seen_s: tuple[float, float], claims: Sequence[Claim]) -> tuple[float, float]:
    """Times that the site has seen, or that are near what code and neighbours claim."""
    claimed = [each.log_s for each in claims if each.kind != _LIMIT]
    least = min((math.expm1(max(each - _ROOM, 0.0)) for each in claimed), default=math.inf)
    most = max((math.expm1(each + _ROOM) for each in claimed), default=0.0)
    return min(seen_s[0], least), max(seen_s[1], most)


@dataclass(frozen=True, slots=True)
class Blended:
    """What is predicted of a job, and what is needed to learn from its end."""

    duration_s: Spread
    below: Pmf
    """The share of the posterior below each time, which `duration_s` is read off."""
    claims: tuple[Claim, ...]
    user: str
    keys: tuple[str, ...]
    log_work: float | None
    log_pace: float | None
    claimed: float | None
    """What code or neighbours claim, as they do."""
    shape: int
    had_neighbours: bool
    alone: tuple[str, float] | None
    """The kind and the p50 of runs that may answer alone."""

    def or_alone(self, site: Spread) -> Spread:
        """What the site's past predicts stands where nothing is claimed."""
        return self.duration_s if self.claims else site


@dataclass(frozen=True, slots=True)
class BlendState:
    paces: Paces = field(default_factory=Paces)
    kinds: dict[str, Measurement] = field(default_factory=dict)
    levels: ConformalLevelsState = field(default_factory=ConformalLevelsState)
    errors: dict[str, tuple[float, float]] = field(default_factory=dict)
    offsets: dict[str, tuple[float, float]] = field(default_factory=dict)
    ends: int = 0


class Blend:
    """Learns from ends in the order in which they happen."""

    def __init__(self, state: BlendState | None = None) -> None:
        state = state or BlendState()
        self._paces = state.paces
        self._kinds = state.kinds
        self._levels = ConformalLevels(state.levels)
        self._errors = state.errors
        """By kind of runs that may answer alone: how far these were off, and how far the blend."""
        self._offsets = state.offsets
        """By user: sums and counts of what jobs of late took more than was claimed (log)."""
        self._ends = state.ends

    @property
    def is_learnt(self) -> bool:
        return self._ends >= _ENOUGH

    def dump(self) -> str:
        return dumps(
            BlendState(
                paces=self._paces,
                kinds=self._kinds,
                levels=self._levels.state,
                errors=self._errors,
                offsets=self._offsets,
                ends=self._ends,
            )
        )

    @classmethod
    def load(cls, text: str) -> Blend:
        return cls(loads(BlendState, text))

    def lets_answer(self, estimate: Estimate | None) -> bool:
        """Whether runs of the same code with the same arguments, or those that agree, answer
        alone."""
        if estimate is None or not estimate.speaks_for_itself:
            return False
        alone, blended = self._errors.get(estimate.kind, _FIRST_ERRORS)
        return alone <= blended

    def predict(
        self,
        site: Pmf,
        *,
        user: str,
        limit_s: float | None = None,
        sketch: Sketch | None = None,
        estimate: Estimate | None = None,
        seen_s: tuple[float, float] | None = None,
    ) -> Blended:
        """`site` is the pmf of the site's past, `estimate` what its neighbours predict; without a
        sketch nothing is known of the code. `seen_s` are the times that the site has seen: only
        claims of code and neighbours reach beyond them."""
        site = site / site.sum()
        sketch = sketch if estimate is None else estimate.neighbours.sketch
        middle = float(site @ _GRID)
        keys = () if sketch is None else self._paces.keys(sketch)
        work = None if sketch is None else log_work(sketch)
        pace = None if work is None else self._paces.of(keys, middle - work)
        found = {} if pace is None or work is None else {"pace": pace + work}
        claim = None if estimate is None else estimate.claim
        if claim is not None:
            found[claim[0]] = math.log1p(claim[1])
        more = self._paces.beyond_chance(*self._offsets.get(user, (0.0, 1.0)))
        chain = {_LIMIT: math.log1p(limit_s)} if limit_s else {}
        chain |= {kind: log_s + more for kind, log_s in found.items()}
        claims = _chained(chain, middle)
        mass = site.astype(np.float64)
        for each in claims:
            mass *= self._kind(each).likelihood(each.log_s, each.given)
        below = below_of(np.asarray(mass, np.float32))
        spread = spread_of(below, self._levels.low, self._levels.high)
        if seen_s is not None:
            spread = clipped(spread, _reached(seen_s, claims))
        alone = estimate is not None and estimate.speaks_for_itself
        return Blended(
            duration_s=spread,
            below=below,
            claims=claims,
            user=user,
            keys=keys,
            log_work=work,
            log_pace=pace,
            claimed=next(iter(found.values()), None),
            shape=0 if sketch is None else sketch.shape,
            had_neighbours=claim is not None,
            alone=(estimate.kind, estimate.duration_s.p50) if estimate and alone else None,
        )

    def learn(self, blended: Blended, duration_s: float) -> None:
        """The job that this was predicted for has ended, in whatever way."""
        log_s = math.log1p(max(duration_s, 0.0))
        self._ends += blended.had_neighbours
        self._levels.observed(blended.below, blended.duration_s, duration_s)
        for claim in blended.claims:
            self._kind(claim).learn(claim.log_s, log_s, claim.given)
        if blended.alone is not None:
            self._compare(blended, *blended.alone, log_s)
        if blended.claimed is not None:
            self._note_offset(blended.user, log_s - blended.claimed)
        if blended.log_work is not None:
            pace = log_s - blended.log_work
            self._paces.learn(blended.keys, blended.shape, pace, blended.log_pace)

    def _kind(self, claim: Claim) -> Measurement:
        found = self._kinds.get(claim.kind)
        if found is None:
            found = self._kinds[claim.kind] = Measurement.of(len(claim.given) - 1)
        return found

    def _note_offset(self, user: str, more: float) -> None:
        total, count = self._offsets.pop(user, (0.0, 0.0))
        self._offsets[user] = total * _FORGETS_USER + more, count * _FORGETS_USER + 1
        while len(self._offsets) > _MOST_USERS:
            del self._offsets[next(iter(self._offsets))]

    def _compare(self, blended: Blended, kind: str, alone_s: float, log_s: float) -> None:
        known = self._errors.get(kind, _FIRST_ERRORS)
        said = alone_s, blended.duration_s.p50
        off = [abs(math.log1p(each) - log_s) for each in said]
        alone, together = (
            _FORGETS_ERRORS * before + now for before, now in zip(known, off, strict=True)
        )
        self._errors[kind] = alone, together
