"""What the code states and what the site's past predicts, joined by what has been right lately.

What is claimed of a job's time is a measurement of it, as good as it has proved to be:
`claim = a + b log(time) + c log(site's middle) + noise`, learnt online for each kind of claim
(ridge regression with forgetting). Bayes' rule joins it with what is known without it: a claim that
tells nothing has b = 0 and changes nothing. There are three: the user's own time limit; the pace of
the code times the job's own length; and what its neighbours predict.

What is known without claims is the site's pmf. Where a site drifts, its past swings from job to job
and tells nothing, and takes away what code tells. So claims are also joined with a second prior
that gives the site's past half a vote: the geometric mean of its pmf and of that of all late ends.
The answer is a mixture of the two posteriors, weighed by exponential weights on the logarithmic
loss, for all jobs and for each user (fixed share: Herbster and Warmuth 1998). Failures and
cancellations are ends, here as everywhere in a site's pmf.

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
    blur,
    clipped,
    place_of,
    spread_of,
)
from schedmate.advisor.predict.paces import Paces, log_work
from schedmate.model import Spread
from schedmate.model.sketch import Sketch
from schedmate.model.wire import dumps, loads

if TYPE_CHECKING:
    from schedmate.advisor.predict.durations import Estimate

_GRID = np.arange(SIZE) * STEP
_FORGETS, _FORGETS_LATE, _FORGETS_ERRORS, _FORGETS_USER = 0.998, 0.99, 0.98, 0.9
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
_SHARE = 0.005
_LEAST_MASS = 1e-5
_NEAR = 1
_MOST_USERS = 5000
_ENOUGH = 30
"""Ends of jobs that had neighbours, after which it is worth asking where there is another answer:
before, it is unknown what neighbours are worth here."""
_EVERYONE = "*"
_LIMIT = "limit"
_ROOM = 1.5
"""How far (log) beyond what is claimed a time can lie that the site has not seen."""
_FIRST_ERRORS = (2.5, 5.0)
"""Of runs that may answer alone and of the blend, before any: they do until they prove worse."""
_SMOOTH = blur(0.35).astype(np.float64)


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
    """The share of the mixture below each time, which `duration_s` is read off."""
    posteriors: Pmf
    """By the site's past, and by half of it."""
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
    trusted: dict[str, float] = field(default_factory=dict)
    levels: ConformalLevelsState = field(default_factory=ConformalLevelsState)
    late: list[float] = field(default_factory=lambda: [_LEAST_MASS] * SIZE)
    errors: dict[str, tuple[float, float]] = field(default_factory=dict)
    offsets: dict[str, tuple[float, float]] = field(default_factory=dict)
    ends: int = 0


class Blend:
    """Learns from ends in the order in which they happen."""

    def __init__(self, state: BlendState | None = None) -> None:
        state = state or BlendState()
        self._paces = state.paces
        self._kinds = state.kinds
        self._trusted = state.trusted
        """The weight of the posterior by the site's past, by user and for everyone."""
        self._levels = ConformalLevels(state.levels)
        self._late: Weights = np.array(state.late)
        """Where all late jobs ended."""
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
                trusted=self._trusted,
                levels=self._levels.state,
                late=[round(float(each), 5) for each in self._late],
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
        late = self._late @ _SMOOTH
        late /= late.sum()
        keys = () if sketch is None else self._paces.keys(sketch)
        work = None if sketch is None else log_work(sketch)
        pace = None if work is None else self._paces.of(keys, float(late @ _GRID) - work)
        found = {} if pace is None or work is None else {"pace": pace + work}
        claim = None if estimate is None else estimate.claim
        if claim is not None:
            found[claim[0]] = math.log1p(claim[1])
        more = self._paces.beyond_chance(*self._offsets.get(user, (0.0, 1.0)))
        chain = {_LIMIT: math.log1p(limit_s)} if limit_s else {}
        chain |= {kind: log_s + more for kind, log_s in found.items()}
        claims = _chained(chain, float(site @ _GRID))
        priors = np.array([site, np.sqrt(site * late)], np.float64)
        for each in claims:
            priors *= self._kind(each).likelihood(each.log_s, each.given)
        posteriors = priors / priors.sum(axis=1, keepdims=True)
        trusted = self._trust(user)
        mass = trusted * posteriors[0] + (1 - trusted) * posteriors[1] if claims else site
        below = below_of(np.asarray(mass, np.float32))
        spread = spread_of(below, self._levels.low, self._levels.high)
        if seen_s is not None:
            spread = clipped(spread, _reached(seen_s, claims))
        alone = estimate is not None and estimate.speaks_for_itself
        return Blended(
            duration_s=spread,
            below=below,
            posteriors=posteriors.astype(np.float32),
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
        place = round(place_of(duration_s))
        self._ends += blended.had_neighbours
        self._levels.observed(blended.below, blended.duration_s, duration_s)
        self._late *= _FORGETS_LATE
        self._late[place] += 1
        for claim in blended.claims:
            self._kind(claim).learn(claim.log_s, log_s, claim.given)
        if blended.claims:
            self._weigh(blended, place)
        if blended.alone is not None:
            self._compare(blended, *blended.alone, log_s)
        if blended.claimed is not None:
            total, count = self._offsets.pop(blended.user, (0.0, 0.0))
            more = log_s - blended.claimed
            self._offsets[blended.user] = total * _FORGETS_USER + more, count * _FORGETS_USER + 1
        if blended.log_work is not None:
            pace = log_s - blended.log_work
            self._paces.learn(blended.keys, blended.shape, pace, blended.log_pace)

    def _kind(self, claim: Claim) -> Measurement:
        found = self._kinds.get(claim.kind)
        if found is None:
            found = self._kinds[claim.kind] = Measurement.of(len(claim.given) - 1)
        return found

    def _trust(self, user: str) -> float:
        """By what was right of this user's jobs, as soon as one has ended; else of everybody's."""
        return self._trusted.get(user, self._trusted.get(_EVERYONE, 0.5))

    def _weigh(self, blended: Blended, place: int) -> None:
        """By how much mass each of the two had where the job ended."""
        near = blended.posteriors[:, max(0, place - _NEAR) : place + _NEAR + 1].sum(axis=1)
        by_past, by_half = (near + _LEAST_MASS).tolist()
        for name in (_EVERYONE, blended.user):
            trusted = self._trusted.pop(name, self._trusted.get(_EVERYONE, 0.5))
            trusted *= by_past / (trusted * by_past + (1 - trusted) * by_half)
            self._trusted[name] = _SHARE / 2 + (1 - _SHARE) * trusted
        for known in (self._trusted, self._offsets):
            while len(known) > _MOST_USERS:
                del known[next(iter(known))]

    def _compare(self, blended: Blended, kind: str, alone_s: float, log_s: float) -> None:
        known = self._errors.get(kind, _FIRST_ERRORS)
        said = alone_s, blended.duration_s.p50
        off = [abs(math.log1p(each) - log_s) for each in said]
        alone, together = (
            _FORGETS_ERRORS * before + now for before, now in zip(known, off, strict=True)
        )
        self._errors[kind] = alone, together
