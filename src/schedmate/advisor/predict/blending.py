"""What the code states and what the site's past predicts, joined by what has been right lately.

The site's pmf is the prior. What the code states is a measurement of the run time, as good as it
has proved to be: `claim = a + b log(time) + c log(site's middle) + noise`, learnt online for each
kind of claim (ridge regression with forgetting). Bayes' rule joins the two: a claim that tells
nothing has b = 0 and leaves the site's pmf as it is. There are three claims: the user's own time
limit; the pace of the same code, or else of the same kind of job, times the job's own length; and
what its neighbours predict.

The answer is a mixture of the posterior and of the site's pmf alone, weighed by exponential weights
on the logarithmic loss, for all jobs and for each user (fixed share: Herbster and Warmuth 1998).
Its loss over any stretch of jobs is at most that of the better of the two and a constant, so with
claims that tell nothing it ends where the history is. Failures and cancellations are ends, here as
everywhere in a site's pmf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from schedmate.advisor.predict.calibration import ConformalLevels, ConformalLevelsState
from schedmate.advisor.predict.distributions import (
    SIZE,
    STEP,
    Pmf,
    Weights,
    below_of,
    clipped,
    place_of,
    spread_of,
)
from schedmate.advisor.predict.neighbours import EDITED
from schedmate.model import Spread
from schedmate.model.sketch import Sketch
from schedmate.model.wire import dumps, loads

_GRID = np.arange(SIZE) * STEP
_FORGETS = 0.998
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
_SHRINKS = (0.5, 1.0, 5.0, 4.0, 4.0)
"""Runs that what is less particular counts for, at each level of particularity."""
_MOST_PACES = 50_000
_MOST_FAMILIES = 200
_MOST_USERS = 5000
_ENOUGH = 30
"""Ends of jobs that had neighbours, after which it is worth asking where there is another answer:
before, it is unknown what neighbours are worth here."""
_EVERYONE = "*"
_LIMIT = "limit"
_ROOM = 1.5
"""How far (log) beyond what is claimed a time can lie that the site has not seen."""


@dataclass(slots=True)
class Paces:
    """Seconds per unit of length (log): means over ever more particular jobs, each drawn towards
    the one before."""

    sums: dict[str, tuple[float, float]] = field(default_factory=dict)
    families: dict[str, list[int]] = field(default_factory=dict)
    """Shapes of code of each kind of job, one of each family, the newest last."""

    def keys(self, sketch: Sketch) -> tuple[str, ...]:
        """From the least to the most particular."""
        unit = "epochs" if math.isnan(sketch.number("steps")) else "steps"
        words = [sketch.word(each) for each in ("model", "dataset", "task", "entry_point")]
        kind, gpus = f"{unit} {words}", f"{sketch.number('gpus'):.2f}"
        owner = f"{kind} {sketch.word('user')}"
        family = f"{kind} ~{self._family(kind, sketch.shape)}" if sketch.shape else owner
        return kind, f"{kind} x{gpus}", owner, family, f"{family} x{gpus}"

    def _family(self, kind: str, shape: int) -> int:
        """The first known shape that it differs little from; code stays in it through edits."""
        known = self.families.get(kind, [])
        nearest = min(known, key=lambda each: (each ^ shape).bit_count(), default=None)
        if nearest is None or (nearest ^ shape).bit_count() > EDITED:
            return shape
        return nearest

    def of(self, keys: Sequence[str], otherwise: float) -> float | None:
        """None where even the least particular key is new."""
        if not keys or keys[0] not in self.sums:
            return None
        pace = otherwise
        for key, shrinks in zip(keys, _SHRINKS, strict=True):
            total, count = self.sums.get(key, (0.0, 0.0))
            pace = (total + shrinks * pace) / (count + shrinks)
        return pace

    def learn(self, keys: Sequence[str], pace: float) -> None:
        self._remember(keys[0], keys[3])
        for key in keys:
            total, count = self.sums.pop(key, (0.0, 0.0))
            self.sums[key] = total * _FORGETS + pace, count * _FORGETS + 1
        while len(self.sums) > _MOST_PACES:
            del self.sums[next(iter(self.sums))]

    def _remember(self, kind: str, family: str) -> None:
        name, coded, shape = family.rpartition(" ~")
        if not coded or name != kind:
            return
        known = self.families.setdefault(kind, [])
        if int(shape) not in known:
            known.append(int(shape))
            del known[:-_MOST_FAMILIES]


def log_length(sketch: Sketch) -> float | None:
    """Steps, or else epochs; None where neither is stated, or where something else ends it."""
    if sketch.open_ended:
        return None
    stated = (sketch.number("steps"), sketch.number("epochs"))
    return next((each for each in stated if not math.isnan(each)), None)


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


def _chained(found: dict[str, float | None], middle: float) -> tuple[Claim, ...]:
    """Each given those before it: what two claims both owe to the same runs counts once."""
    claims: list[Claim] = []
    kind = ""
    given: tuple[float, ...] = (middle,)
    for name, log_s in found.items():
        if log_s is not None:
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
    site: Pmf
    posterior: Pmf
    claims: tuple[Claim, ...]
    user: str
    keys: tuple[str, ...]
    log_length: float | None
    had_neighbours: bool

    def or_alone(self, site: Spread) -> Spread:
        """What the site's past predicts stands where nothing is claimed."""
        return self.duration_s if self.claims else site


@dataclass(frozen=True, slots=True)
class BlendState:
    paces: dict[str, tuple[float, float]] = field(default_factory=dict)
    families: dict[str, list[int]] = field(default_factory=dict)
    kinds: dict[str, Measurement] = field(default_factory=dict)
    trusted: dict[str, float] = field(default_factory=dict)
    levels: ConformalLevelsState = field(default_factory=ConformalLevelsState)
    ends: int = 0


class Blend:
    """Learns from ends in the order in which they happen."""

    def __init__(self, state: BlendState | None = None) -> None:
        state = state or BlendState()
        families = {kind: list(shapes) for kind, shapes in state.families.items()}
        self._paces = Paces(dict(state.paces), families)
        self._kinds = dict(state.kinds)
        self._trusted = dict(state.trusted)
        """The weight of the posterior, by user and for everyone."""
        self._levels = ConformalLevels(state.levels)
        self._ends = state.ends

    @property
    def is_learnt(self) -> bool:
        return self._ends >= _ENOUGH

    def dump(self) -> str:
        levels = self._levels.state
        paces, kinds = self._paces, self._kinds
        return dumps(
            BlendState(paces.sums, paces.families, kinds, self._trusted, levels, self._ends)
        )

    @classmethod
    def load(cls, text: str) -> Blend:
        return cls(loads(BlendState, text))

    def predict(
        self,
        site: Pmf,
        *,
        user: str,
        limit_s: float | None = None,
        sketch: Sketch | None = None,
        neighbours: tuple[str, float] | None = None,
        seen_s: tuple[float, float] | None = None,
    ) -> Blended:
        """`site` is the pmf of the site's past, `neighbours` the kind and the p50 of what they
        predict; without a sketch nothing is known of the code. `seen_s` are the times that the
        site has seen: only claims of code and neighbours reach beyond them."""
        site = site / site.sum()
        middle = float(site @ _GRID)
        keys = () if sketch is None else self._paces.keys(sketch)
        length = None if sketch is None else log_length(sketch)
        pace = None if length is None else self._paces.of(keys, middle - length)
        found = {
            _LIMIT: math.log1p(limit_s) if limit_s else None,
            "pace": None if pace is None or length is None else pace + length,
        }
        if neighbours is not None:
            found[neighbours[0]] = math.log1p(neighbours[1])
        claims = _chained(found, middle)
        posterior = site.astype(np.float64)
        for claim in claims:
            posterior *= self._kind(claim).likelihood(claim.log_s, claim.given)
        posterior /= posterior.sum()
        trusted = self._trust(user) if claims else 0.0
        mass = np.asarray(trusted * posterior + (1 - trusted) * site, np.float32)
        below = below_of(mass)
        spread = spread_of(below, self._levels.low, self._levels.high)
        if seen_s is not None:
            spread = clipped(spread, _reached(seen_s, claims))
        return Blended(
            duration_s=spread,
            below=below,
            site=site,
            posterior=posterior.astype(np.float32),
            claims=claims,
            user=user,
            keys=keys,
            log_length=length,
            had_neighbours=neighbours is not None,
        )

    def learn(self, blended: Blended, duration_s: float) -> None:
        """The job that this was predicted for has ended, in whatever way."""
        log_s = math.log1p(max(duration_s, 0.0))
        self._ends += blended.had_neighbours
        self._levels.observed(blended.below, blended.duration_s, duration_s)
        for claim in blended.claims:
            self._kind(claim).learn(claim.log_s, log_s, claim.given)
        if blended.claims:
            self._weigh(blended, round(place_of(duration_s)))
        if blended.log_length is not None:
            self._paces.learn(blended.keys, log_s - blended.log_length)

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
        near = slice(max(0, place - _NEAR), place + _NEAR + 1)
        joined = float(blended.posterior[near].sum()) + _LEAST_MASS
        alone = float(blended.site[near].sum()) + _LEAST_MASS
        for name in (_EVERYONE, blended.user):
            trusted = self._trusted.pop(name, self._trusted.get(_EVERYONE, 0.5))
            trusted *= joined / (trusted * joined + (1 - trusted) * alone)
            self._trusted[name] = _SHARE / 2 + (1 - _SHARE) * trusted
        while len(self._trusted) > _MOST_USERS:
            del self._trusted[next(iter(self._trusted))]
