"""What a site could predict without SchedMate: the controls of a backtest.

Each control gives one figure for a run; how far off its last ones were makes a range of it, so that
coverage and pinball loss compare like with like. Nothing is learnt of a run before it has ended.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Protocol

import numpy as np

from schedmate.model import Spread

if TYPE_CHECKING:
    from schedmate.advisor.predict.jobs import EndedJob, Facts

LEVELS = (0.1, 0.5, 0.9)
_REMEMBERED = 300
"""Errors of a control that make its range, the newest ones."""
_JUDGED = 10
_FADES = 0.8
"""What a run counts for, compared to the next one of the same name: as Helios' estimate has it."""


class Control(Protocol):
    def predict(self, facts: Facts) -> float | None:
        """Seconds; None where this control knows nothing of such a run."""

    def ended(self, run: EndedJob) -> None: ...


class TimeLimit:
    """What the user asked for."""

    def predict(self, facts: Facts) -> float | None:
        return facts.limit_s

    def ended(self, run: EndedJob) -> None:
        """Limits are not learnt."""


class SiteMedian:
    """The median of all runs that have ended."""

    def __init__(self) -> None:
        self._durations: list[float] = []

    def predict(self, facts: Facts) -> float | None:  # noqa: ARG002 - the same for all runs
        return self._durations[len(self._durations) // 2] if self._durations else None

    def ended(self, run: EndedJob) -> None:
        insort(self._durations, run.duration_s)


class LastTwo:
    """The mean of the user's last two runs (Tsafrir, Etsion and Feitelson 2007)."""

    def __init__(self) -> None:
        self._of_user: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=2))

    def predict(self, facts: Facts) -> float | None:
        last = self._of_user.get(facts.user)
        return sum(last) / len(last) if last else None

    def ended(self, run: EndedJob) -> None:
        self._of_user[run.facts.user].append(run.duration_s)


class RollingMean:
    """The rolling mean of the user's runs of that name, else of the user's runs with as many GPUs,
    else of all with as many (Helios, SC'21)."""

    def __init__(self) -> None:
        self._sums: dict[tuple[object, ...], tuple[float, float]] = {}

    def predict(self, facts: Facts) -> float | None:
        for key in _keys(facts):
            if key in self._sums:
                total, weight = self._sums[key]
                return total / weight
        return None

    def ended(self, run: EndedJob) -> None:
        for key in _keys(run.facts):
            total, weight = self._sums.get(key, (0.0, 0.0))
            self._sums[key] = _FADES * total + run.duration_s, _FADES * weight + 1.0


def _keys(facts: Facts) -> list[tuple[object, ...]]:
    return [(facts.user, facts.stem, ""), (facts.user, facts.gpus), (facts.gpus,)]


class Ranged:
    """A control with the range that its own last errors give."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._off: deque[float] = deque(maxlen=_REMEMBERED)
        self._in_flight: dict[str, float] = {}

    def submitted(self, facts: Facts) -> Spread | None:
        middle = self._control.predict(facts)
        if middle is None:
            return None
        self._in_flight[facts.job_id] = middle
        if len(self._off) < _JUDGED:
            return Spread(middle, middle, middle)
        low, high = np.quantile(self._off, (LEVELS[0], LEVELS[-1]))
        return Spread(middle * math.exp(min(low, 0.0)), middle, middle * math.exp(max(high, 0.0)))

    def ended(self, run: EndedJob) -> None:
        middle = self._in_flight.pop(run.facts.job_id, None)
        if middle is not None:
            self._off.append(log_s(run.duration_s) - log_s(middle))
        self._control.ended(run)


def log_s(seconds: float) -> float:
    """Logarithm of a time; below a second counts as one."""
    return math.log(max(seconds, 1.0))


def controls() -> dict[str, Ranged]:
    """By name, the most telling first."""
    return {
        "history": Ranged(RollingMean()),
        "last_two": Ranged(LastTwo()),
        "site_median": Ranged(SiteMedian()),
        "limit": Ranged(TimeLimit()),
    }
