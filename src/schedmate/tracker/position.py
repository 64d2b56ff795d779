"""Where a run stands by one log."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import Unit
from schedmate.tracker.counting.series import Series
from schedmate.tracker.total_sources import WEAK_NAME

FROM_LOG, AMBIGUOUS, NO_TOTAL = 0.95, 0.5, 0.4
_SMALL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPosition:
    """`done` is finer than `current`, which is as printed; both in `unit`."""

    unit: Unit
    current: float
    done: float
    total: float | None
    confidence: float
    series: Series
    inner: Series | None = None
    most: float | None = None
    """The total of all epochs, where `total` may be that of the first one."""
    before: float = 0.0
    """What earlier phases had done; the series does not count it."""

    @property
    def fraction(self) -> float | None:
        return None if self.total is None else min(1.0, self.done / self.total)

    @property
    def seen_at(self) -> float | None:
        times = (one.seen_at for one in (self.series, self.inner) if one is not None)
        return max((at for at in times if at is not None), default=None)

    @property
    def complete(self) -> bool:
        """Surely at its end; not where the total may be that of the first of several rounds."""
        return self.at_end and self.confidence > AMBIGUOUS

    @property
    def may_be_complete(self) -> bool:
        return (self.at_end and self.confidence > WEAK_NAME) or self.series.at_its_last

    @property
    def at_last_unit(self) -> bool:
        """No further line of the count would be below its total."""
        return self.total is not None and self.done + self._unit >= self.total

    @property
    def last_unit_is_small(self) -> bool:
        return self.total is not None and self._unit <= _SMALL * self.total

    @property
    def _unit(self) -> float:
        """What lies between two lines of the finest count there is."""
        finer = self.inner
        if finer is not None and finer.total and finer.moved > self.series.moved:
            return finer.increment / finer.total
        return max(1.0, self.series.increment)

    @property
    def at_end(self) -> bool:
        return self.total is not None and self.done >= self.total
