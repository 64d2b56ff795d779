"""Where the total of a count comes from, where the log does not print it beside the count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from schedmate.model import RunProfile, Unit, Workload
from schedmate.tracker.counting.series import Series
from schedmate.tracker.counting.table import LEARNED, PARTS
from schedmate.tracker.unknown.declared import DeclaredNumbers

ANNOUNCED, WEAK_NAME = 0.85, 0.45
_FROM_WORKLOAD, _BY_SHARE, _DERIVED = 0.8, 0.75, 0.5


@dataclass(frozen=True, slots=True)
class Total:
    value: float
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalSources:
    """The log's announcements, the workload record and similar finished runs, in that order."""

    announced: Mapping[str, float] = field(default_factory=dict)
    workload: Workload | None = None
    similar: Sequence[RunProfile] = ()
    stated: DeclaredNumbers | None = None
    """Numbers that the log states by name, whatever they are of."""

    def epochs(self) -> Total | None:
        return self.of_run("epoch") or self._by_name("epoch", 0.0)

    def of(self, series: Series) -> Total | None:
        """The total of a count that has none, never less than what is done."""
        if series.format == PARTS:
            return self._of_parts(series)
        known = (
            self.of_run(series.unit),
            self._by_epochs(series),
            self._by_share(series),
            self._by_own_name(series),
            self._under_a_weak_name(series),
            self._by_similar(series),
            self._of_unnamed(series),
            self._by_elimination(series),
        )
        return next((one for one in known if one is not None and one.value >= series.done), None)

    def _by_name(self, name: str, least: float) -> Total | None:
        found = None if self.stated is None else self.stated.total_of((name,), least)
        return None if found is None else Total(*found)

    def _by_own_name(self, series: Series) -> Total | None:
        found = self._by_name(series.name, series.done)
        weak = found is not None and found.value == self.announced.get(f"{series.unit}?")
        return Total(found.value, min(WEAK_NAME, found.confidence)) if found and weak else found

    def of_section(self, series: Series) -> Total | None:
        """What is stated of the phase that the name of the count begins with: `train step`."""
        section, _, thing = series.name.partition(" ")
        found = self.stated.of_section(section, series.done) if self.stated and thing else None
        return None if found is None else Total(*found)

    def _by_elimination(self, series: Series) -> Total | None:
        if self.stated is None or series.format != LEARNED:
            return None
        found = self.stated.only_total(series.done)
        return None if found is None else Total(*found)

    def _of_parts(self, series: Series) -> Total | None:
        parts = self.announced.get("parts")
        if parts and parts >= series.current:
            return Total(parts, ANNOUNCED)
        return self._by_name(series.name, series.current)

    def _by_share(self, series: Series) -> Total | None:
        total = series.total_by_share
        return None if total is None else Total(total, _BY_SHARE)

    def _under_a_weak_name(self, series: Series) -> Total | None:
        total = self.announced.get(f"{series.unit}?")
        return None if not total else Total(total, _DERIVED)

    def _of_unnamed(self, series: Series) -> Total | None:
        """A learnt count without a name may be that of the epochs that were announced."""
        epochs = self.announced.get("epoch")
        if series.format != LEARNED or series.name or not epochs or series.unit == "epoch":
            return None
        return Total(epochs, _DERIVED)

    def of_run(self, unit: Unit) -> Total | None:
        announced = self.announced.get(unit)
        if announced:
            return Total(announced, ANNOUNCED)
        if self.workload is None or unit not in ("step", "epoch"):
            return None
        known = self.workload.max_steps if unit == "step" else self.workload.epochs
        if known is None or known.value <= 0:
            return None
        return Total(float(known.value), _FROM_WORKLOAD * known.confidence)

    def _by_epochs(self, series: Series) -> Total | None:
        """A step that also names its part of an epoch shows how many steps an epoch has."""
        epochs = self.epochs()
        if epochs is None or series.unit == "epoch":
            return None
        each = self.announced.get(f"{series.unit}/epoch")
        if not each and series.epoch and not series.epoch.is_integer():
            each = series.current / series.epoch
        return Total(float(round(each * epochs.value)), _DERIVED) if each else None

    def _by_similar(self, series: Series) -> Total | None:
        ends = [
            run.total if run.total is not None and run.ends_by == "total" else run.done
            for run in self.similar
            if run.unit == series.unit and run.ends_by in ("total", "unknown")
        ]
        if not ends or max(ends) - min(ends) > 0.02 * max(ends):
            return None
        return Total(median(ends), _DERIVED)
