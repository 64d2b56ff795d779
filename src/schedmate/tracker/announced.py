"""Totals that a log announces beside no count."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedmate.tracker.formats.base import Sighting
from schedmate.tracker.formats.parts import NUMBER_OF_PARTS

_MAX_RISES = 2


@dataclass(slots=True)
class AnnouncedTotals:
    by_unit: dict[str, float] = field(default_factory=dict)
    """`step/epoch` for those of an epoch, `step?` under a weak name, `parts` of folds or trials."""
    by_name: dict[str, float] = field(default_factory=dict)
    """Of a kind of step that has a name of its own."""
    rises: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The newest of each, and how often it rose."""

    def see(self, sighting: Sighting, total: float) -> None:
        if self._is_report(sighting, total):
            return
        known, unit = self.by_unit, sighting.unit or "step"
        if sighting.series == NUMBER_OF_PARTS:
            known["parts"] = total
        elif sighting.series:
            self.by_name[sighting.series] = total
        elif sighting.confidence < 1:
            weak = f"{unit}?"
            same = known.get(weak, total) == total  # a total that changes is none
            known[weak] = total if same else 0.0
        elif not (total == 1 and known.get(unit, 0.0) > 1):  # else an inner run's
            known[f"{unit}/epoch" if sighting.per_epoch else unit] = total

    def has_total_of(self, sighting: Sighting) -> bool:
        """Of its unit, or of one epoch and of the epochs that it names."""
        unit, known = sighting.unit or "step", self.by_unit
        of_epochs = sighting.epoch is not None and known.get(f"{unit}/epoch") and known.get("epoch")
        return bool(known.get(unit) or of_epochs)

    def _is_report(self, sighting: Sighting, total: float) -> bool:
        """What is stated again and again, each time larger, is where the run stands."""
        key = f"{sighting.unit}\t{sighting.series}"
        last, rises = self.rises.get(key, (total, 0.0))
        rises = rises + 1 if total > last else 0 if total < last else rises
        self.rises[key] = (total, rises)
        if rises >= _MAX_RISES:
            self.by_name.pop(sighting.series, None)
        return rises >= _MAX_RISES
