"""How far the run is by one log, with totals from other sources where the log has none."""

from __future__ import annotations

from collections.abc import Sequence

from schedmate.model import Unit
from schedmate.tracker.counting.series import Series
from schedmate.tracker.counting.table import LEARNED, PARTS
from schedmate.tracker.formats.parts import UNEQUAL
from schedmate.tracker.joined_counts import after_others, over_epochs, over_parts
from schedmate.tracker.position import AMBIGUOUS, FROM_LOG, NO_TOTAL, RunPosition
from schedmate.tracker.scan import LogScan
from schedmate.tracker.total_sources import ANNOUNCED, TotalSources

_PHASES = 0.7
_SEVERAL = 2
_SILENT_LINES, _SILENT_LIVES = 50, 5
_BARS_OF_THE_RUN = "transformers"


def run_position(scan: LogScan, sources: TotalSources) -> RunPosition | None:
    joined = _of_phases(scan, sources) or _of_preparation(scan, sources) or over_parts(scan)
    position = joined or _of_one_count(scan, sources)
    return None if position is None else after_others(scan, position)


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
                unit=unit, current=0.0, done=0.0, total=total.value, confidence=AMBIGUOUS,
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
    joined = over_epochs(main, sources) if main is within else None
    if joined is not None:
        return joined
    inner = scan.table.inner(main) if main is within else within
    total, confidence = _total_of_phase(scan, main, sources)
    most = None
    if main.total is not None and _may_be_of_one_epoch(scan, main, inner, sources):
        confidence = AMBIGUOUS
        epochs = sources.epochs()
        most = None if epochs is None else epochs.value * main.total
    if main.preliminary and main.complete:
        total = None  # what follows is longer, and not known yet
    fine = 0.0 if inner is None else _share_of_unit(main, inner, sources)
    whole = main.done
    named = main.format == LEARNED and main.ordinal is None
    if inner is not None and named and main.current == inner.laps + 1:
        whole -= 1.0  # it names the one that goes on
    done = whole + fine if total is None else min(total, whole + fine)
    beyond = total is not None and main.current > total  # the first of half an epoch has begun
    return RunPosition(
        unit=main.unit,
        current=done if beyond else main.current,
        done=done,
        total=total,
        confidence=min(confidence, main.confidence, _most_believed(scan, main, part)),
        series=main,
        inner=inner,
        most=most,
    )


def _most_believed(scan: LogScan, main: Series, part: Series | None) -> float:
    """How far a count can be believed to be that of the whole run, by what else was counted."""
    if scan.table.repeats(main) >= _SEVERAL or _was_left(scan, main):
        return NO_TOTAL
    of_a_part = part is not None and part is not main  # their number is unknown
    of_a_phase = main.preliminary or scan.table.completed_before(main) is not None
    return AMBIGUOUS if of_a_part or of_a_phase else FROM_LOG


def _was_left(scan: LogScan, main: Series) -> bool:
    """A learnt count stopped long ago, by how long it lasted, and the log goes on without it."""
    lines = max(_SILENT_LINES, _SILENT_LIVES * (main.seen - main.born))
    return main.format == LEARNED and scan.order - main.seen > lines


def _share_of_unit(main: Series, inner: Series, sources: TotalSources) -> float:
    """How much of the unit that goes on is done, by the count inside it."""
    each, _ = _total(inner, sources)
    unequal = main.name in UNEQUAL and inner.format == LEARNED  # learnt from the one before
    if not each or unequal or inner.moved < main.moved:
        return 0.0
    return min(1.0, inner.done / each)


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
    total, confidence = _of_all_laps(scan, main, sources, each) if each else (None, NO_TOTAL)
    if total is None or current > total:
        total, confidence = None, NO_TOTAL
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
        return main.epochs * each, FROM_LOG
    if main.unit == "epoch":  # its rounds are folds or trials; their number is unknown
        return None, NO_TOTAL
    counted = scan.table.epochs_counted(main)
    if counted is not None and counted > main.laps_done:
        return counted * each, ANNOUNCED
    epochs = sources.epochs()
    if epochs is not None:
        return epochs.value * each, epochs.confidence
    stated = None if sources.stated is None else sources.stated.only_total(main.laps_done * each)
    return (None, NO_TOTAL) if stated is None or stated[0] % each else stated


def _total(main: Series, sources: TotalSources) -> tuple[float | None, float]:
    if main.total is not None:
        return main.total, FROM_LOG
    found = sources.of(main)
    return (None, NO_TOTAL) if found is None else (found.value, found.confidence)


def _total_of_phase(
    scan: LogScan, main: Series, sources: TotalSources
) -> tuple[float | None, float]:
    """A total that is not printed may be that of an earlier phase, surely if that came to it."""
    total, confidence = _total(main, sources)
    if total is None or main.total is not None:
        return total, confidence
    before = scan.table.phases_before(main)
    if any(one.reached for one in before):
        found = sources.of_section(main)
        return (None, NO_TOTAL) if found is None else (found.value, found.confidence)
    if before:
        return total, min(confidence, NO_TOTAL)
    again = main.falls > 0 and main.peak >= total
    return total, min(confidence, AMBIGUOUS) if again else confidence


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
