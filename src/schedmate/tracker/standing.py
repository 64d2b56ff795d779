"""Where the run stands by one log, with totals from elsewhere where the log has none."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import Finding, Unit, Workload
from schedmate.tracker.eta import Estimate, estimate, simple_estimate
from schedmate.tracker.series import Series
from schedmate.tracker.table import SeriesTable

_ENOUGH_POINTS = 8
_FROM_LOG, _FROM_WORKLOAD, _AMBIGUOUS, _NO_TOTAL = 0.95, 0.8, 0.5, 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """`done` is finer than `current`, which is as printed; both in `unit`."""

    unit: Unit
    current: float
    done: float
    total: float | None
    confidence: float
    series: Series
    inner: Series | None = None

    @property
    def fraction(self) -> float | None:
        return None if self.total is None else min(1.0, self.done / self.total)

    @property
    def seen_at(self) -> float | None:
        times = (one.seen_at for one in (self.series, self.inner) if one is not None)
        return max((at for at in times if at is not None), default=None)

    @property
    def complete(self) -> bool:
        return self.total is not None and self.done >= self.total

    def estimate(self, elapsed_s: float | None) -> Estimate | None:
        """Speed in `unit` and time to the end; None while nothing tells the speed.

        Where neither the clock nor the log timed the lines, the time since the start has to do.
        """
        remaining = 0.0 if self.total is None else max(0.0, self.total - self.done)
        found = self._timed(remaining)
        if found is not None:
            return found
        rate = self.series.rate_per_s
        if rate is None and elapsed_s and self.series.gained > 0:
            rate = self.series.gained / elapsed_s
        return simple_estimate(rate, remaining) if rate else None

    def _timed(self, remaining: float) -> Estimate | None:
        points = self.series.pace.points
        if self.inner is not None and self.inner.key.total and len(points) < _ENOUGH_POINTS:
            each = self.inner.key.total
            finer = estimate(self.inner.pace.points, remaining * each)
            if finer is not None:
                return Estimate(finer.rate_per_s / each, finer.remaining_s)
        return estimate(points, remaining)


def standing(table: SeriesTable, workload: Workload | None) -> Standing | None:
    main = table.main()
    if main is None:
        return None
    if main.per_lap:
        return _over_laps(main, workload)
    inner = table.inner(main)
    total, confidence = _total(main, workload, ambiguous=_may_be_of_one_epoch(main, workload))
    part = 0.0
    if inner is not None and inner.key.total and inner.moved > main.moved:
        part = min(1.0, inner.done / inner.key.total)
    done = main.done + part if total is None else min(total, main.done + part)
    return Standing(
        unit=main.key.unit,
        current=main.current,
        done=done,
        total=total,
        confidence=confidence,
        series=main,
        inner=inner,
    )


def _over_laps(main: Series, workload: Workload | None) -> Standing:
    """A count of one epoch becomes one of the run where the number of epochs is known."""
    each = main.key.total or 0.0
    current = main.laps_done * each + main.done
    epochs, confidence = main.epochs, _FROM_LOG
    if epochs is None and workload is not None and workload.epochs is not None:
        epochs, confidence = workload.epochs.value, _FROM_WORKLOAD
    total = None if epochs is None else epochs * each
    if total is None or current > total:
        total, confidence = None, _NO_TOTAL
    return Standing(
        unit=main.key.unit,
        current=current,
        done=current,
        total=total,
        confidence=confidence,
        series=main,
    )


def _total(
    main: Series, workload: Workload | None, *, ambiguous: bool
) -> tuple[float | None, float]:
    if main.key.total is not None:
        return main.key.total, _AMBIGUOUS if ambiguous else _FROM_LOG
    known: Finding[int] | Finding[float] | None = None
    if workload is not None and main.key.unit in ("step", "epoch"):
        known = workload.max_steps if main.key.unit == "step" else workload.epochs
    if known is None or known.value <= 0 or known.value < main.done:
        return None, _NO_TOTAL
    return float(known.value), _FROM_WORKLOAD


def _may_be_of_one_epoch(main: Series, workload: Workload | None) -> bool:
    """A count of steps may be of the first of several epochs as long as none has ended."""
    if workload is None or workload.epochs is None or main.key.unit == "epoch":
        return False
    of_run = workload.max_steps is not None and workload.max_steps.value == main.key.total
    return workload.epochs.value > 1 and not of_run
