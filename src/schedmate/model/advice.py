"""How long a job will take, what it will need and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from schedmate.model.job import earlier_job
from schedmate.model.workload import Evidence, Workload

Basis = Literal["identical", "same_code", "similar", "history", "prior", "none"]
Level = Literal["error", "warning", "hint"]
AdviceState = Literal["reading", "preliminary", "final"]
"""Of an answer that gets better: no file was opened for a preliminary one."""


Z90 = 1.2816
"""Standard deviations from the median to the 90th percentile of a normal distribution."""
_ODDS_AT_P90 = 9.0
_NARROWEST = 1e-3
_FARTHEST = 100.0
_FAR_OFF = 1 / 7
_POINTS = tuple((each + 0.5) / 20 for each in range(20))
TOO_WIDE = 1000.0
"""Times p10 (or a second, if that is longer) from which on a p90 says next to nothing."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Three quantiles of a time in seconds."""

    p10: float
    p50: float
    p90: float

    def __post_init__(self) -> None:
        if not 0 <= self.p10 <= self.p50 <= self.p90 < math.inf:
            raise ValueError(f"not a spread of times: {self.p10}, {self.p50}, {self.p90}")

    @property
    def too_wide(self) -> bool:
        """So wide that it says next to nothing: no answer to plan by."""
        return self.p90 > TOO_WIDE * max(self.p10, 1.0)

    def left_after(self, elapsed: float) -> Spread | None:
        """What is left to a job of this duration that has run for so long: it is one of those that
        take longer. None where next to nothing is known, or where it is overdue."""
        if self.too_wide or elapsed >= self.p90:
            return None
        return Spread(*self._left((0.1, 0.5, 0.9), elapsed))

    def ends_within(self, seconds: float, elapsed: float = 0.0) -> float:
        """How likely a job that has run for so long ends within the next `seconds`."""
        parts = self._parts()
        longer, longer_still = (
            sum(share * part._share_longer(since) for share, part in parts)  # noqa: SLF001 - its own
            for since in (elapsed, elapsed + seconds)
        )
        return 1.0 - longer_still / longer

    def gittins_s(self, elapsed: float) -> float:
        """The least time that is spent for each end, over all times to stop at, on jobs that have
        run for so long: the inverse of the Gittins index, low goes first."""
        ends: list[tuple[float, float]] = []
        for share, part in self._parts():
            mass = share * part._share_longer(elapsed) / len(_POINTS)  # noqa: SLF001 - its own
            ends += [(left, mass) for left in part._left(_POINTS, elapsed)]  # noqa: SLF001
        rest, spent, ended, least = sum(mass for _, mass in ends), 0.0, 0.0, math.inf
        for left, mass in sorted(ends):
            spent, ended, rest = spent + mass * left, ended + mass, rest - mass
            if left > 0.0:  # nothing is spent on what should have ended long ago
                least = min(least, (spent + max(rest, 0.0) * left) / ended)
        return least if least < math.inf else elapsed

    def _parts(self) -> tuple[tuple[float, Spread], ...]:
        """One prediction in seven may be far off: else a job that outlives a sure one would be
        expected to end at any moment for ever."""
        middle, below, above = self._shape()
        low, high = math.expm1(middle - below - Z90), math.expm1(middle + above + Z90)
        return (1 - _FAR_OFF, self), (_FAR_OFF, Spread(max(0.0, low), self.p50, high))

    def _left(self, shares: Sequence[float], elapsed: float) -> list[float]:
        """The times within which such shares of the jobs end that have run for so long."""
        middle, below, above = self._shape()
        longer, unit = self._share_longer(elapsed), math.log(_ODDS_AT_P90)
        places = [math.log(1 / (longer * (1 - share)) - 1) / unit for share in shares]
        logs = [middle + place * (above if place > 0 else below) for place in places]
        return [max(0.0, math.expm1(each) - elapsed) for each in logs]

    def _share_longer(self, seconds: float) -> float:
        """Of jobs of this duration: log-logistic, each side of the median with its own width."""
        middle, below, above = self._shape()
        since = math.log1p(max(seconds, 0.0)) - middle
        place = min(max(since / (above if since > 0 else below), -_FARTHEST), _FARTHEST)
        return 1 / (1 + math.pow(_ODDS_AT_P90, place))

    def _shape(self) -> tuple[float, float, float]:
        middle = math.log1p(self.p50)
        below, above = middle - math.log1p(self.p10), math.log1p(self.p90) - middle
        return middle, max(below, _NARROWEST), max(above, _NARROWEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How likely the run is to end in which way."""

    completed: float
    failed: float
    cancelled: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A past job that this one resembles."""

    job_id: str
    similarity: float
    duration_s: float
    submitted_at: float | None = None
    """With it the job is known when its number is another job's."""

    @property
    def job(self) -> str:
        """By which a store finds it."""
        if self.submitted_at is None or "@" in self.job_id:
            return self.job_id
        return earlier_job(self.job_id, self.submitted_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Time to the end for whatever reason. `duration_s` is None only where nothing is known."""

    basis: Basis
    duration_s: Spread | None = None
    outcome: Outcome | None = None
    gpu_memory_mb: float | None = None
    gpu_utilization: float | None = None
    explanation: str
    matches: tuple[Match, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something the user should know before the job waits for nothing."""

    level: Level
    text: str
    evidence: tuple[Evidence, ...] = ()
    certain: bool = False
    """As it is now, the job fails: ground enough to hold it."""
    failures: int = 0
    """How many runs of it in a row have failed alike, by the scheduler's states alone."""
    by_model: bool = False
    """Whether a language model says so, and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What an answer cost."""

    seconds: float = 0.0
    llm_calls: int = 0
    llm_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            seconds=self.seconds + other.seconds,
            llm_calls=self.llm_calls + other.llm_calls,
            llm_tokens=self.llm_tokens + other.llm_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Advice:
    schema: Literal["schedmate.advice/1"] = "schedmate.advice/1"
    workload: Workload
    prediction: Prediction
    advice: tuple[Remark, ...] = ()
    summary: str = ""
    """What the job does, in a sentence of a language model that has read it."""
    cost: Cost = field(default_factory=Cost)
