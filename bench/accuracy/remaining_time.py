"""How well the tracker predicts the remaining time of real runs from their first part.

    python -m bench.accuracy.remaining_time

Data: bench/README.md. A log is cut at 10 % of its own
run time (25 % where it prints no total) and read as any user would; the error is that of the
remaining time. Baselines, in the same run:
  naive      time so far / steps so far, for every step left
  ten        the same without the first ten steps
  history    without a total: the median duration of the similar runs, less the time so far
A run has constant steps when the paces of its last and first third differ by 3 % at most;
scheduled steps that grow by more than 30 % are also shown apart, and once more with the line of
their code that states the schedule. "previous" is the last record
before it in the same track, "sibling" another run of the same record. Capped runs are made from
constant ones, cut off at 60 % of their time; their history is a sibling's, cut off alike.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median
from typing import Literal

from bench.command import command_line
from bench.corpora.training_logs import (
    MlperfRun,
    StepLog,
    Truth,
    mlperf_head,
    mlperf_logs,
    mlperf_runs,
    step_logs,
)
from bench.datasets import required
from schedmate.model import Evidence, Finding, Mark, RunProfile, Spread, Unit, Workload
from schedmate.tracker import profile_stream, track_stream
from schedmate.tracker.forecasting.forecast import forecast
from schedmate.tracker.forecasting.timeline import Timeline

EARLY, QUARTER, CAP = 0.1, 0.25, 0.6
HEAVY = 1.3
Choose = Callable[[StepLog], Sequence[RunProfile]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Relative errors of the remaining time; None where there was no answer."""

    ours: float | None
    covered: bool
    right: bool | None
    """Step and total as printed; None where that was not looked at."""
    baselines: tuple[float, ...]


def outcome(
    predicted: Spread | None, left: float, baselines: Iterable[float], *, right: bool | None = None
) -> Outcome:
    errors = tuple(abs(one / left - 1) for one in baselines)
    if predicted is None:
        return Outcome(None, False, right, errors)
    return Outcome(
        abs(predicted.p50 / left - 1), predicted.p10 <= left <= predicted.p90, right, errors
    )


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def show(label: str, outcomes: Sequence[Outcome], baselines: Sequence[str]) -> None:
    """One row: number, errors at the median and the 90th percentile, coverage, what was right."""
    errors = [one.ours for one in outcomes if one.ours is not None]
    if not errors:
        print(f"{label:46} {len(outcomes):4}  no answer")
        return
    columns = [_errors(errors)]
    columns += [
        f"{name} {_errors([one.baselines[index] for one in outcomes])}"
        for index, name in enumerate(baselines)
    ]
    covered = sum(one.covered for one in outcomes) / len(outcomes)
    looked_at = [one.right for one in outcomes if one.right is not None]
    right = f"{sum(looked_at)}/{len(looked_at)}" if looked_at else "-"
    print(
        f"{label:46} {len(errors):4}/{len(outcomes):<4} {columns[0]}  p10-p90 covers {covered:4.0%}"
        f"  step+total {right:9} {'   '.join(columns[1:])}"
    )


def _errors(errors: Sequence[float]) -> str:
    return f"{quantile(errors, 0.5):6.1%} /{quantile(errors, 0.9):6.1%}"


@cache
def profile(log: StepLog) -> RunProfile | None:
    return profile_stream(io.BytesIO(log.text))


def profiles(logs: Iterable[StepLog]) -> list[RunProfile]:
    return [found for log in logs if (found := profile(log)) is not None]


def simple(lines: Sequence[Truth], newest: Truth, end: float) -> tuple[float, float]:
    """What both baselines say is left until the count is `end`."""
    before = [line for line in lines if line.offset <= newest.offset]
    warm = next((line for line in before if line.step >= before[0].step + 10), before[0])
    naive = newest.at / max(1, newest.step)
    ten = (newest.at - warm.at) / max(1, newest.step - warm.step)
    return naive * (end - newest.step), ten * (end - newest.step)


SCHEDULES = {
    "track_1_short": "train_bs_schedule: tuple = (8 * 2048 * 8, 16 * 2048 * 8, 24 * 2048 * 8)",
    "track_2_medium": "train_bs_schedule: tuple = (1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4)",
}
"""What the code of these records states; their logs do not repeat it."""


def with_schedule(log: StepLog) -> Workload:
    """A workload record whose evidence is the line of the code."""
    line = Evidence("train_gpt.py", 1, SCHEDULES[log.track])
    return Workload(batch_size=Finding(value=1, source="code", evidence=(line,)))


def early(log: StepLog, similar: Sequence[RunProfile], workload: Workload | None = None) -> Outcome:
    head, newest, left = log.head(EARLY)
    progress = track_stream(io.BytesIO(head), name=log.name, similar=similar, workload=workload)
    right = (progress.current, progress.total) == (newest.step, newest.total)
    return outcome(progress.eta_s, left, simple(log.timed, newest, newest.total), right=right)


def capped(log: StepLog) -> StepLog:
    """The same run, killed at a cap without a word."""
    head, newest, _ = log.head(CAP)
    lines = tuple(line for line in log.lines if line.offset <= newest.offset)
    return replace(log, name=f"{log.name} capped", text=head, lines=lines)


def growth(log: StepLog) -> float:
    lines = log.timed
    third = len(lines) // 3
    first, last = lines[third].at - lines[0].at, lines[-1].at - lines[-third].at
    return last / first if first > 0 else 1.0


def step_rows(logs: Sequence[StepLog]) -> None:
    def siblings(log: StepLog) -> list[RunProfile]:
        return profiles(one for one in logs if one.record == log.record and one is not log)

    def previous(log: StepLog) -> list[RunProfile]:
        earlier = [one for one in logs if one.record < log.record and one.track == log.track]
        last = earlier[-1].record if earlier else ""
        return profiles(one for one in earlier if one.record == last)

    def nothing(_: StepLog) -> list[RunProfile]:
        return []

    def any_similar(log: StepLog) -> list[RunProfile]:
        return siblings(log) or previous(log)

    constant = [log for log in logs if log.is_constant]
    scheduled = [log for log in logs if not log.is_constant]
    groups: list[tuple[str, Sequence[StepLog], Choose]] = [
        ("constant steps, nothing known", constant, nothing),
        ("constant steps, a similar run", constant, any_similar),
        ("scheduled steps, a similar run", scheduled, any_similar),
        ("  a sibling run", scheduled, siblings),
        ("  the previous record", scheduled, previous),
        ("scheduled steps, nothing known", scheduled, nothing),
        ("  growing up to 30 %", [log for log in scheduled if growth(log) < HEAVY], nothing),
        ("  growing more", [log for log in scheduled if growth(log) >= HEAVY], nothing),
    ]
    for label, chosen, similar in groups:
        known = [(log, similar(log)) for log in chosen]
        found = [early(log, runs) for log, runs in known if runs or similar is nothing]
        show(label, found, ("naive", "ten"))
    growing = [log for log in scheduled if growth(log) >= HEAVY]
    known_schedule = [early(log, (), with_schedule(log)) for log in growing]
    show("  growing more, schedule of the code known", known_schedule, ("naive", "ten"))
    show("ended by a cap, a sibling run", _capped_rows(constant), ("naive", "ten"))
    ends = [track_stream(io.BytesIO(log.text), name=log.name) for log in logs]
    pairs = zip(ends, logs, strict=True)
    right = sum(
        (e.current, e.total) == (log.lines[-1].step, log.lines[-1].total) for e, log in pairs
    )
    print(f"step and total right at the end of the log: {right}/{len(logs)}")


def _capped_rows(constant: Sequence[StepLog]) -> list[Outcome]:
    cut = [capped(log) for log in constant]
    found = []
    for log in cut:
        similar = profiles(one for one in cut if one.record == log.record and one is not log)
        if similar:
            head, newest, left = log.head(EARLY)
            progress = track_stream(io.BytesIO(head), name=log.name, similar=similar)
            found.append(outcome(progress.eta_s, left, simple(log.timed, newest, newest.total)))
    return found


def mlperf_profile(
    run: MlperfRun, *, unit: Unit | Literal["line"], before: float = 0.0, counted: bool = True
) -> RunProfile:
    """Its end, and its evaluation points where they are known and counted in the same unit."""
    marks = [Mark(before, 0.0)]
    for at, done in run.evaluations if counted else ():
        if before + at > marks[-1].at and done > marks[-1].done and at <= run.seconds:
            marks.append(Mark(before + at, done))
    marks.append(Mark(max(before + run.seconds, marks[-1].at), marks[-1].done))
    return RunProfile(unit=unit, curve=tuple(marks), ends_by="early_stop")


def others(run: MlperfRun, runs: dict[str, MlperfRun]) -> list[MlperfRun]:
    return [one for one in runs.values() if one.cell == run.cell and one.run_id != run.run_id]


def mlperf_table(runs: dict[str, MlperfRun]) -> list[Outcome]:
    """The evaluation points of the table, without their log."""
    cells: dict[tuple[str, ...], list[MlperfRun]] = {}
    for run in runs.values():
        cells.setdefault(run.cell, []).append(run)
    found = []
    for run in runs.values():
        siblings = [one for one in cells[run.cell] if one.run_id != run.run_id]
        if not run.evaluations or not siblings:
            continue
        now, timeline = QUARTER * run.seconds, Timeline(began=0.0)
        for at, done in run.evaluations:
            if at <= now:
                timeline.add(at, done)
        curves = [mlperf_profile(one, unit="epoch") for one in siblings]
        predicted = forecast(timeline, total=None, similar=curves, now=now)
        guess = median(one.seconds for one in siblings) - now
        rest = None if predicted is None else predicted.remaining_s
        found.append(outcome(rest, run.seconds - now, [guess]))
    return found


def mlperf_raw(runs: dict[str, MlperfRun], texts: Iterable[tuple[str, bytes]]) -> list[Outcome]:
    """The raw logs, cut; the table's runs of the same system are their history."""
    found = []
    for name, text in texts:
        head, whole = mlperf_head(text, QUARTER), profile_stream(io.BytesIO(text))
        if name not in runs or head is None or whole is None:
            continue
        run, siblings = runs[name], others(runs[name], runs)
        counted = bool(run.evaluations) and 0.5 < whole.done / run.evaluations[-1][1] < 2  # noqa: PLR2004 - the table may count epochs where the log counts steps
        curves = [
            mlperf_profile(one, unit=whole.unit, before=one.init_s, counted=counted)
            for one in siblings
        ]
        progress = track_stream(io.BytesIO(head[0]), name=name, similar=curves)
        guess = median(one.seconds for one in siblings) - (run.seconds - head[1])
        found.append(outcome(progress.eta_s, head[1], [guess]))
    return found


def main() -> None:
    command_line(__doc__, __spec__).parse_args()
    logs = required("logs")
    print("error of the remaining time, median / 90th percentile; n answered / n")
    step_rows(step_logs(logs))
    runs = mlperf_runs(logs)
    show("no total, evaluation points (MLPerf, at 25 %)", mlperf_table(runs), ("history",))
    show("  raw logs", mlperf_raw(runs, mlperf_logs(logs)), ("history",))


if __name__ == "__main__":
    main()
