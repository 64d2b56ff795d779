"""The loss over time of one log, in bounded memory, for those who want to see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

from schedmate.model import Unit
from schedmate.tracker.counting.series import Series
from schedmate.tracker.forecasting.pace import sparse

_MAX_POINTS = 400
_SPEEDS = 40
_ENDS = 8
_LOSSES = ("loss", "train_loss", "training_loss", "lm_loss", "total_loss", "nll")


class CurvePoint(NamedTuple):
    at: float
    value: float


@dataclass(slots=True)
class LossCurve:
    """Every n-th value of one metric; n doubles whenever there are too many."""

    name: str = ""
    timed: bool = False
    """`at` is seconds since the beginning, else the count."""
    points: list[CurvePoint] = field(default_factory=list)
    every: int = 1
    seen: int = 0
    before: float = 0.0
    """Where the phase or the epoch began that counts anew, ..."""
    newest: float = 0.0
    """... and how far it is."""
    last: CurvePoint | None = None
    """The newest value, whether or not it is one of the points."""

    @property
    def drawn(self) -> list[CurvePoint]:
        """Up to the newest value."""
        if self.last is None or (self.points and self.points[-1].at >= self.last.at):
            return self.points
        return [*self.points, self.last]

    def add(self, metrics: Mapping[str, float], main: Series | None) -> None:
        name = self.name or _loss_in(metrics)
        if main is None or name not in metrics:
            return
        timed = main.clock is not None
        if timed != self.timed:
            self.points, self.every, self.seen = [], 1, 0
            self.before, self.newest = 0.0, 0.0
        self.name, self.timed = name, timed
        at = main.timeline.elapsed_s if timed else main.counted
        if at < self.newest:
            self.before += self.newest
        self.newest = at
        self.last = CurvePoint(self.before + at, metrics[name])
        if self.seen % self.every == 0:
            self.points.append(self.last)
        self.seen += 1
        if len(self.points) > _MAX_POINTS:
            self.points, self.every = self.points[::2], 2 * self.every


@dataclass(slots=True)
class LossEnds:
    """The first values of one metric and the newest."""

    name: str = ""
    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)

    def add(self, metrics: Mapping[str, float]) -> None:
        self.name = self.name or _loss_in(metrics)
        value = metrics.get(self.name)
        if value is not None and isfinite(value):
            self.first = [*self.first, value][:_ENDS]
            self.last = [*self.last, value][-_ENDS:]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCurves:
    """`speed` is empty where nothing shows when something was done."""

    loss: LossCurve
    speed: list[CurvePoint]
    unit: Unit


def speed_curve(main: Series) -> list[CurvePoint]:
    """Units a second between the points that are known of a count."""
    return [
        CurvePoint(after.at, (after.done - before.done) / (after.at - before.at))
        for before, after in pairwise(sparse(main.timeline.points, _SPEEDS))
        if after.at > before.at
    ]


def _loss_in(metrics: Mapping[str, float]) -> str:
    known = next((name for name in _LOSSES if name in metrics), "")
    return known or next((name for name in metrics if name.endswith("loss")), "")
