"""What the code states and what the site's past predicts, joined by what has been right lately.

What is claimed of a job's time is a measurement of it, as good as it has proved to be:
`claim = a + b log(time) + c log(site's middle) + noise`, learnt online for each kind of claim
(ridge regression with forgetting). Bayes' rule joins it with what is known without it, the site's
pmf: a claim that tells nothing has b = 0 and changes nothing. There are three: the user's own time
limit; the pace of the code times the job's own length; and what its neighbours predict. Past runs
that agree may answer alone, as long as such answers were nearer than the blend of late.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from schedmate.advisor.predict.calibration import Levels
from schedmate.advisor.predict.distributions import (
    SIZE,
    STEP,
    Pmf,
    Weights,
    below_of,
    clipped,
    forget_oldest,
    place_of,
    share_below,
    spread_of,
)
from schedmate.advisor.predict.durations import Estimate
from schedmate.advisor.predict.neighbours import EDITED
from schedmate.model import Spread
from schedmate.model.sketch import Sketch

_GRID = np.arange(SIZE) * STEP
_FORGETS, _FORGETS_ERRORS, _FORGETS_USER = 0.998, 0.98, 0.9
_REPEATS = 0.8
"""Of a claim of which nothing is known yet: how far it repeats what is predicted without it. Until
it has proved to tell more, it changes nothing."""
_BELIEF, _INTERCEPT_BELIEF = 8.0, 0.2
_PRIOR_VARIANCE, _PRIOR_COUNT = 2.0, 10.0
_DEGREES = 6.0
"""Of freedom: claims are sometimes far off, and must not rule a time out."""
_LEAST_LIKELY = 1e-4
_ODD_SQUARE = 9.0
_MOST_USERS, _MOST_PACES, _MOST_FAMILIES = 5000, 50_000, 200
_ENOUGH = 30
"""Ends of jobs that had neighbours, after which it is known what neighbours are worth here."""
_LIMIT = "limit"
_ROOM = 1.5
"""How far (log) beyond what is claimed a time can lie that the site has not seen."""
_FIRST_ERRORS = (2.5, 5.0)
"""Of runs that may answer alone and of the blend, before any: they do until they prove worse."""
_VARIANCES = (9.0, 0.4, 0.1)
"""Of the logarithm of the pace: between kinds of job, between codes, between their versions."""
_NOISE, _NOISE_COUNT = 1.0, 5.0
_GPUS, _BATCH = -0.8, 0.8
_NO_CHANCE = 6.0
"""Variances of the noise beyond which what a user's jobs take more than is claimed is no chance."""


def log_work(sketch: Sketch) -> float | None:
    """Steps or else epochs, less what GPUs make of them, and of steps what a batch does; None where
    neither is stated, or where something else ends it."""
    unit = _unit(sketch)
    length = sketch.number(unit)
    if sketch.open_ended or math.isnan(length):
        return None
    gpus, batch = (np.nan_to_num(sketch.number(each)) for each in ("gpus", "batch"))
    return float(length + _GPUS * gpus + (_BATCH * batch if unit == "steps" else 0.0))


def _unit(sketch: Sketch) -> str:
    return "epochs" if math.isnan(sketch.number("steps")) else "steps"


@dataclass(slots=True)
class Paces:
    """Seconds per unit of work (log): means over ever more particular jobs (the kind of job,
    versions of its code, this very code), each drawn towards the one before by how noisy the
    site's times are: where repeats take as long, the very code counts alone."""

    sums: dict[str, tuple[float, float]] = field(default_factory=dict)
    families: dict[str, list[int]] = field(default_factory=dict)
    """Shapes of code of each kind of job, one of each family, the newest last."""
    noise: tuple[float, float] = (_NOISE * _NOISE_COUNT, _NOISE_COUNT)

    def keys(self, sketch: Sketch) -> tuple[str, ...]:
        """From the least to the most particular."""
        words = [sketch.word(each) for each in ("model", "dataset", "task", "entry_point")]
        kind = f"{_unit(sketch)} {words}"
        family = self._family(kind, sketch.shape) if sketch.shape else sketch.word("user")
        return kind, f"{kind} ~{family}", f"{kind} ~{family} {sketch.code}"

    def _family(self, kind: str, shape: int) -> int:
        """The first known shape that it differs little from; code stays in it through edits."""
        known = self.families.get(kind, [])
        nearest = min(known, key=lambda each: (each ^ shape).bit_count(), default=shape)
        return nearest if (nearest ^ shape).bit_count() <= EDITED else shape

    def of(self, keys: Sequence[str], otherwise: float) -> float | None:
        """None where even the least particular key is new."""
        if not keys or keys[0] not in self.sums:
            return None
        pace, noise = otherwise, self.noise[0] / self.noise[1]
        for key, variance in zip(keys, _VARIANCES, strict=True):
            total, count = self.sums.get(key, (0.0, 0.0))
            pace = (total + noise / variance * pace) / (count + noise / variance)
        return pace

    def beyond_chance(self, total: float, count: float) -> float:
        """The mean, where chance does not explain it."""
        noise = self.noise[0] / self.noise[1] * (1 + 1 / count)
        return total / count if (total / count) ** 2 > _NO_CHANCE * noise else 0.0

    def learn(self, keys: Sequence[str], shape: int, pace: float, expected: float | None) -> None:
        """`expected` is what it was taken for."""
        if expected is not None:
            total, count = self.noise
            square = min((pace - expected) ** 2, _ODD_SQUARE * total / count)
            self.noise = total * _FORGETS + square, count * _FORGETS + 1
        if shape and self._family(keys[0], shape) == shape:
            known = self.families.setdefault(keys[0], [])
            known += [] if shape in known else [shape]
            del known[:-_MOST_FAMILIES]
        for key in keys:
            _add(self.sums, key, pace, _FORGETS)
        forget_oldest(self.sums, _MOST_PACES)


def _add(sums: dict[str, tuple[float, float]], key: str, value: float, forgets: float) -> None:
    total, count = sums.pop(key, (0.0, 0.0))
    sums[key] = total * forgets + value, count * forgets + 1


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
    names, logs = list(found), list(found.values())
    return tuple(
        Claim(", ".join(names[: place + 1]), log_s, (middle, *logs[:place]))
        for place, log_s in enumerate(logs)
    )


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


@dataclass(slots=True)
class Blend:
    """Learns from ends in the order in which they happen."""

    paces: Paces = field(default_factory=Paces)
    kinds: dict[str, Measurement] = field(default_factory=dict)
    levels: Levels = field(default_factory=Levels)
    errors: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By kind of runs that may answer alone: how far these were off, and how far the blend."""
    offsets: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By user: sums and counts of what jobs of late took more than was claimed (log)."""
    ends: int = 0

    @property
    def is_learnt(self) -> bool:
        return self.ends >= _ENOUGH

    def lets_answer(self, estimate: Estimate | None) -> bool:
        """Whether runs of the same code with the same arguments, or those that agree, answer
        alone."""
        if estimate is None or not estimate.speaks_for_itself:
            return False
        alone, blended = self.errors.get(estimate.kind, _FIRST_ERRORS)
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
        mass = site.astype(np.float64) / site.sum()
        sketch = sketch if estimate is None else estimate.neighbours.sketch
        middle = float(mass @ _GRID)
        keys = () if sketch is None else self.paces.keys(sketch)
        work = None if sketch is None else log_work(sketch)
        pace = None if work is None else self.paces.of(keys, middle - work)
        found = {} if pace is None or work is None else {"pace": pace + work}
        claim = None if estimate is None else estimate.claim
        if claim is not None:
            found[claim[0]] = math.log1p(claim[1])
        more = self.paces.beyond_chance(*self.offsets.get(user, (0.0, 1.0)))
        chain = {_LIMIT: math.log1p(limit_s)} if limit_s else {}
        chain |= {kind: log_s + more for kind, log_s in found.items()}
        claims = _chained(chain, middle)
        for each in claims:
            mass *= self._kind(each).likelihood(each.log_s, each.given)
        below = below_of(np.asarray(mass, np.float32))
        spread = spread_of(below, *self.levels.read())
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
        self.ends += blended.had_neighbours
        missed = duration_s > blended.duration_s.p10, duration_s > blended.duration_s.p90
        self.levels.learn(share_below(blended.below, place_of(duration_s)), missed)
        for claim in blended.claims:
            self._kind(claim).learn(claim.log_s, log_s, claim.given)
        if blended.alone is not None:
            kind, alone_s = blended.alone
            self.errors[kind] = self._compared(kind, (alone_s, blended.duration_s.p50), log_s)
        if blended.claimed is not None:
            _add(self.offsets, blended.user, log_s - blended.claimed, _FORGETS_USER)
            forget_oldest(self.offsets, _MOST_USERS)
        if blended.log_work is not None:
            pace = log_s - blended.log_work
            self.paces.learn(blended.keys, blended.shape, pace, blended.log_pace)

    def _kind(self, claim: Claim) -> Measurement:
        found = self.kinds.get(claim.kind)
        if found is None:
            found = self.kinds[claim.kind] = Measurement.of(len(claim.given) - 1)
        return found

    def _compared(self, kind: str, said: tuple[float, float], log_s: float) -> tuple[float, float]:
        alone, blended = self.errors.get(kind, _FIRST_ERRORS)
        off = [abs(math.log1p(each) - log_s) for each in said]
        return _FORGETS_ERRORS * alone + off[0], _FORGETS_ERRORS * blended + off[1]
