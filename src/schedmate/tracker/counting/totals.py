"""How much the run will do in all, where the count itself does not say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from schedmate.model import RunProfile, Unit, Workload
from schedmate.tracker.counting.series import Series

_ANNOUNCED, _FROM_WORKLOAD, _DERIVED = 0.85, 0.8, 0.5


@dataclass(frozen=True, slots=True)
class Total:
    value: float
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """The log's announcements, the workload record and similar finished runs, in that order."""

    announced: Mapping[str, float] = field(default_factory=dict)
    workload: Workload | None = None
    likes: Sequence[RunProfile] = ()

    def epochs(self) -> Total | None:
        return self.of_run("epoch")

    def of(self, series: Series) -> Total | None:
        """The total of a count that has none, never less than what is done."""
        for total in (self.of_run(series.unit), self._by_epochs(series), self._alike(series)):
            if total is not None and total.value >= series.done:
                return total
        return None

    def of_run(self, unit: Unit) -> Total | None:
        announced = self.announced.get(unit)
        if announced:
            return Total(announced, _ANNOUNCED)
        if self.workload is None or unit not in ("step", "epoch"):
            return None
        known = self.workload.max_steps if unit == "step" else self.workload.epochs
        if known is None or known.value <= 0:
            return None
        return Total(float(known.value), _FROM_WORKLOAD * known.confidence)

    def _by_epochs(self, series: Series) -> Total | None:
        """A step that also names its part of an epoch tells how many steps an epoch has."""
        epochs = self.epochs()
        if epochs is None or series.unit == "epoch":
            return None
        each = self.announced.get(f"{series.unit}/epoch")
        if not each and series.epoch and not series.epoch.is_integer():
            each = series.current / series.epoch
        return Total(float(round(each * epochs.value)), _DERIVED) if each else None

    def _alike(self, series: Series) -> Total | None:
        ends = [
            like.total if like.total is not None and like.ends_by == "total" else like.done
            for like in self.likes
            if like.unit == series.unit and like.ends_by in ("total", "unknown")
        ]
        if not ends or max(ends) - min(ends) > 0.02 * max(ends):
            return None
        return Total(median(ends), _DERIVED)
