"""From runs of other lengths to this one's: duration = start-up + rate x units.

A unit is a step or an epoch. Nothing is assumed but that a longer training takes longer in
proportion; start-up is told apart only where runs of different lengths, or their logs, show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Literal

from schedmate.advisor.similarity import value_of
from schedmate.model import PastRun, Workload

UnitField = Literal["max_steps", "epochs"]
_NAMES: dict[UnitField, str] = {"max_steps": "steps", "epochs": "epochs"}
_MAX_POINTS = 30
_TELLING = 1.5
"""Lengths nearer to each other than this say little about start-up."""


@dataclass(frozen=True, slots=True)
class Line:
    startup_s: float
    per_unit_s: float

    def at(self, units: float) -> float:
        return self.startup_s + self.per_unit_s * units


def common_unit(workload: Workload, runs: Sequence[PastRun]) -> UnitField | None:
    """What this job and some of those state their length in.

    Steps end a run before epochs do; but where only the epochs differ, they tell the length.
    """
    shared = [unit for unit in _NAMES if has_unit(workload, unit) and with_unit(runs, unit)]
    telling = [
        unit
        for unit in shared
        if any(
            units_of(run.workload, unit) != units_of(workload, unit)
            for run in with_unit(runs, unit)
        )
    ]
    return next(iter(telling or shared), None)


def has_unit(workload: Workload, unit: UnitField) -> bool:
    return value_of(workload, unit) is not None


def with_unit(runs: Sequence[PastRun], unit: UnitField) -> list[PastRun]:
    return [run for run in runs if has_unit(run.workload, unit)]


def unit_name(unit: UnitField) -> str:
    return _NAMES[unit]


def units_of(workload: Workload, unit: UnitField) -> float:
    return float(value_of(workload, unit))


def fit(points: Sequence[tuple[float, float]], startup_s: float | None = None) -> Line:
    """A line through (units, seconds) that single odd runs do not move; never negative.

    `points` has at least one; newest first, of many only the newest count.
    """
    points = points[:_MAX_POINTS]
    lengths = [units for units, _ in points]
    if max(lengths) < _TELLING * min(lengths):
        return _proportional(points, startup_s or 0.0)
    per_unit = median(_slopes(points))
    start = median(seconds - per_unit * units for units, seconds in points)
    if per_unit <= 0:
        return Line(median(seconds for _, seconds in points), 0.0)
    return Line(start, per_unit) if start >= 0 else _proportional(points, startup_s or 0.0)


def _slopes(points: Sequence[tuple[float, float]]) -> list[float]:
    return [
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for earlier, later in combinations(points, 2)
        if later[0] != earlier[0]
    ]


def _proportional(points: Sequence[tuple[float, float]], startup_s: float) -> Line:
    startup = min(startup_s, *(seconds for _, seconds in points))
    return Line(startup, median((seconds - startup) / units for units, seconds in points))
