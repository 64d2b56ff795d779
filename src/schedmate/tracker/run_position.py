"""How far the run is by one log, with totals from other sources where the log has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from schedmate.model import RunProfile, Unit, Workload
from schedmate.tracker.counting.series import Series
from schedmate.tracker.counting.table import LEARNED, PARTS
from schedmate.tracker.scan import LogScan
from schedmate.tracker.unknown.declared import DeclaredNumbers

_FROM_LOG, _PHASES, _AMBIGUOUS, _WEAK_NAME, _NO_TOTAL = 0.95, 0.7, 0.5, 0.45, 0.4
_SMALL = 0.05
_BARS_OF_THE_RUN = "transformers"


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
        return self.at_end and self.confidence > _AMBIGUOUS

    @property
    def may_be_complete(self) -> bool:
        return (self.at_end and self.confidence > _WEAK_NAME) or self.series.at_its_last

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


def run_position(scan: LogScan, sources: TotalSources) -> RunPosition | None:
    return (
        _of_phases(scan, sources) or _of_preparation(scan, sources) or _of_one_count(scan, sources)
    )


def _of_phases(scan: LogScan, sources: TotalSources) -> RunPosition | None:
    """Where the run stands in a row of phases that the log announced, one count after the other."""
    plan = () if sources.stated is None else sources.stated.plan
    main = scan.table.newest() if plan else None
    if main is None:
        return None
    index = _phase(scan, main, plan)
    if index is None or not (index or (sources.stated and sources.stated.plan_proven)):
        return None
    before = sum(plan[:index])
    return RunPosition(
        unit=main.unit,
        current=before + main.current,
        done=before + main.done,
        total=sum(plan),
        confidence=min(_PHASES, main.confidence),
        series=main,
        before=before,
    )


def _phase(scan: LogScan, main: Series, plan: Sequence[float]) -> int | None:
    """By the total of the count; one that has none, or that of all, began anew with each phase."""
    if main.total is not None and main.total != sum(plan):
        over = sum(one.total in plan for one in scan.table.completed(main))
        over = max(over, main.falls)
        indices = [place for place, length in enumerate(plan) if length == main.total]
        return next((place for place in indices if place >= over), indices[-1] if indices else None)
    index = main.falls
    fits = index < len(plan) and main.done <= (sum(plan) if index == 0 else plan[index])
    return index if fits and main.current > 1 else None


def _of_preparation(scan: LogScan, sources: TotalSources) -> RunPosition | None:
    """Nothing is done of the run that was announced while things are made ready for it."""
    learner, main = scan.learner, scan.table.main()
    if learner is None or not learner.prepares or main is None or main.format != LEARNED:
        return None
    units: tuple[Unit, ...] = ("epoch", "step")
    announced = [(unit, sources.of_run(unit)) for unit in units if unit != main.unit]
    for unit, total in announced:
        if total is not None and not main.measured and total.value != main.total:
            run = Series(format=LEARNED, name="", unit=unit, total=total.value, born=main.born)
            return RunPosition(
                unit=unit, current=0.0, done=0.0, total=total.value, confidence=_AMBIGUOUS,
                series=run,
            )  # fmt: skip
    return None


def _of_one_count(scan: LogScan, sources: TotalSources) -> RunPosition | None:
    main = scan.table.main()
    part = scan.table.part()
    if main is None:
        return None
    within = main
    if _holds_all(part, main, sources):
        main = part or main
    if main.per_lap and main is within and not _is_all_of_it(main, sources):
        return _over_laps(scan, main, sources)
    inner = scan.table.inner(main) if main is within else within
    total, confidence = _total(main, sources)
    most = None
    if main.total is not None and _may_be_of_one_epoch(scan, main, inner, sources):
        confidence = _AMBIGUOUS
        epochs = sources.epochs()
        most = None if epochs is None else epochs.value * main.total
    if main.preliminary:
        confidence = min(confidence, _AMBIGUOUS)
        total = None if main.complete else total  # what follows is longer, and not known yet
    if scan.table.completed_before(main) is not None:
        confidence = min(confidence, _AMBIGUOUS)  # one of several phases
    if part is not None and part is not main:
        confidence = min(confidence, _AMBIGUOUS)  # this part's count, of an unknown number
    fine = 0.0
    each = None if inner is None else _total(inner, sources)[0]
    if inner is not None and each and inner.moved >= main.moved:
        fine = min(1.0, inner.done / each)
    whole = main.done
    named = main.format == LEARNED and main.ordinal is None
    if inner is not None and named and main.current == inner.laps + 1:
        whole -= 1.0  # it names the one that goes on
    done = whole + fine if total is None else min(total, whole + fine)
    return RunPosition(
        unit=main.unit,
        current=main.current,
        done=done,
        total=total,
        confidence=min(confidence, main.confidence),
        series=main,
        inner=inner,
        most=most,
    )


def _holds_all(part: Series | None, main: Series, sources: TotalSources) -> bool:
    """Whether folds, runs or chains of an announced number, one after the other, hold the count."""
    if part is None or part.total is not None or main.format == PARTS:
        return False
    return part.falls == 0 and sources.of(part) is not None


def _is_all_of_it(main: Series, sources: TotalSources) -> bool:
    """Ranks that share a log draw the bar of the whole run several times."""
    if main.per_epoch or main.unit == "epoch":
        return False
    steps, epochs = sources.of_run(main.unit), sources.epochs()
    if steps is not None and steps.value == main.total:
        return True
    return epochs is not None and epochs.value == 1


def _over_laps(scan: LogScan, main: Series, sources: TotalSources) -> RunPosition:
    """A count of one epoch becomes one of the run where the number of epochs is known."""
    each = main.total or 0.0
    current = main.laps_done * each + main.done
    total, confidence = _of_all_laps(scan, main, sources, each)
    if total is None or current > total:
        total, confidence = None, _NO_TOTAL
    return RunPosition(
        unit=main.unit,
        current=current,
        done=current,
        total=total,
        confidence=min(confidence, main.confidence),
        series=main,
    )


def _of_all_laps(
    scan: LogScan, main: Series, sources: TotalSources, each: float
) -> tuple[float | None, float]:
    if main.epochs is not None:
        return main.epochs * each, _FROM_LOG
    if main.unit == "epoch":  # its rounds are folds or trials; their number is unknown
        return None, _NO_TOTAL
    counted = scan.table.epochs_counted(main)
    if counted is not None and counted > main.laps_done:
        return counted * each, _ANNOUNCED
    epochs = sources.epochs()
    if epochs is not None:
        return epochs.value * each, epochs.confidence
    stated = None if sources.stated is None else sources.stated.only_total(main.laps_done * each)
    return (None, _NO_TOTAL) if stated is None or stated[0] % each else stated


def _total(main: Series, sources: TotalSources) -> tuple[float | None, float]:
    if main.total is not None:
        return main.total, _FROM_LOG
    found = sources.of(main)
    return (None, _NO_TOTAL) if found is None else (found.value, found.confidence)


def _may_be_of_one_epoch(
    scan: LogScan, main: Series, inner: Series | None, sources: TotalSources
) -> bool:
    """A count of steps may be of the first of several epochs as long as none has ended.

    A bar without a description is in doubt even where nothing is known of epochs.
    """
    if main.unit == "epoch" or inner is not None or scan.format == _BARS_OF_THE_RUN:
        return False
    stated = sources.of_run("step")
    if stated is not None and stated.value == main.total:
        return False
    epochs = sources.epochs()
    if epochs is not None:
        return epochs.value > 1
    return scan.format == "tqdm" and not main.name


_ANNOUNCED, _FROM_WORKLOAD, _BY_SHARE, _DERIVED = 0.85, 0.8, 0.75, 0.5


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
        return Total(found.value, min(_WEAK_NAME, found.confidence)) if found and weak else found

    def _by_elimination(self, series: Series) -> Total | None:
        if self.stated is None or series.format != LEARNED:
            return None
        found = self.stated.only_total(series.done)
        return None if found is None else Total(*found)

    def _of_parts(self, series: Series) -> Total | None:
        parts = self.announced.get("parts")
        if parts and parts >= series.current:
            return Total(parts, _ANNOUNCED)
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
            return Total(announced, _ANNOUNCED)
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
