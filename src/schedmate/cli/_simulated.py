"""What `simulate` shows of its results."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedmate.cli._common import duration, echo, width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from schedmate.simulator import PolicyComparison, Summary
    from schedmate.simulator.report import Sensitivity
    from schedmate.simulator.sweeps import SimulationResult

    OnProgress = Callable[[str, int, int], None]

_LONG_S = 1800.0
_HEADINGS = (
    *("slowdown", "p50 JCT", "p99 JCT", "avg wait", "worst user", "worst wait", "makespan"),
    *("GPUs", "preempted", "requeued"),
)
_SPARED = (
    *("worst user", "worst wait", "requeued", "preempted", "makespan", "GPUs", "p50 JCT"),
    *("avg wait", "slowdown"),
)
"""Left out one by one where there is no room; names, whose code it is, averages and p99 stay."""
_WORDS = ("policy", "predictor", "code")
_BETWEEN = "  "


def show(compared: PolicyComparison) -> None:
    """A table of the policies of each kind, and all that was assumed."""
    from schedmate.simulator.engine.outcome import KINDS

    load = "" if compared.load is None else f", load {compared.load:.2f}"
    jobs = "1 job" if compared.jobs == 1 else f"{compared.jobs} jobs"
    gpus = "1 GPU" if compared.gpus == 1 else f"{compared.gpus} GPUs"
    echo(f"{compared.trace}: {jobs} on {gpus}{load}")
    better = compared.better_than_first()
    code = ("code",) if compared.code else ()
    headings = ("policy", *code, "avg JCT", f"vs {next(iter(compared.policies))}", *_HEADINGS)
    tables = {
        kind: [
            _row((name, *(_code_of(compared, name) for _ in code)), each, better[name])
            for name, each in policies.items()
        ]
        for kind, policies in compared.by_kind().items()
    }
    widths = _widths([headings, *(row for rows in tables.values() for row in rows)])
    for kind, rows in tables.items():
        echo(f"{KINDS[kind]}:")
        _table(headings, rows, widths)
    for name in compared.controls:
        _show_controls(compared, name)
    for assumption in compared.assumptions:
        echo(f"- {assumption}")


def _code_of(compared: PolicyComparison, name: str) -> str:
    """What SchedMate's figures go by: synthetic code, the jobs' own, or none."""
    code = compared.code.get(name, "-")
    return f"{compared.code_read} of {compared.jobs}" if code == "own" else code


def _show_controls(compared: PolicyComparison, name: str) -> None:
    """One policy with SchedMate by each predictor: the claim is what `semantic` adds."""
    base = compared.unaided(name)
    before = compared.policies[base].avg_jct_s
    rows = [
        _row((predictor,), each, before / each.avg_jct_s if each.avg_jct_s else None)
        for predictor, each in compared.controls[name].items()
    ]
    code = f" (code: {_code_of(compared, name)})"
    echo(f"{name}{code}, the same ordering by other predictors:")
    _table(("predictor", "avg JCT", f"vs {base}", *_HEADINGS), rows)


def _row(names: Sequence[str], summary: Summary, better: float | None) -> tuple[str, ...]:
    return (
        *names,
        duration(summary.avg_jct_s),
        _times(better),
        f"{summary.avg_slowdown:.2f}",
        duration(summary.p50_jct_s),
        duration(summary.p99_jct_s),
        duration(summary.avg_queue_s),
        f"{summary.worst_user_slowdown:.2f}",
        duration(summary.worst_wait_s),
        duration(summary.makespan_s),
        f"{summary.gpu_utilization:.0%}",
        str(summary.preemptions),
        str(summary.requeues),
    )


def show_sweep(found: Sensitivity) -> None:
    """What one thing that was varied changes: mean, least and most over all the rest."""
    echo(f"{found.trace}: average JCT vs {found.first}, over {found.runs} settings")
    shown = (*found.spreads, *found.controls)
    names = {
        each.policy: (each.policy, *([found.code_of(each.policy)] if found.code else []))
        for each in shown
    }
    code = ("code",) if found.code else ()
    rows = [
        (
            f"{value:g}",
            *names[each.policy],
            *map(_times, (each.mean[at], each.least[at], each.most[at])),
        )
        for at, value in enumerate(found.spreads[0].x)
        for each in shown
    ]
    _table((found.varied, "policy", *code, "mean", "least", "most"), rows)
    means = [
        (
            *names[each.policy],
            *map(_times, (each.overall.mean, each.overall.low, each.overall.high)),
        )
        for each in shown
        if each.overall is not None
    ]
    if means:
        echo(f"over {len(found.spreads[0].x)} seeds, with a 95 % interval:")
        _table(("policy", *code, "mean", "from", "to"), means)


def warn_of_hours(seconds: float) -> bool:
    """Before, not after, hours of work; whether it will be that long."""
    long = seconds >= _LONG_S
    if long:
        echo(
            f"this may take {duration(seconds)} on this machine; fewer jobs, policies or settings "
            "take less, --workers takes more cores",
            err=True,
        )
    return long


def talk_of_rows(result: SimulationResult) -> None:
    """Say which rows of a file were of no use."""
    left = result.left_out
    if left.unused:
        more = ["…"] if left.bad > len(left.first) else []
        sound = [f"rows that {why}: {count}" for why, count in left.sound.items()]
        words = "; ".join([*left.first, *more, *sound])
        echo(f"{result.task.source}: left out {left.unused} of {left.rows} rows: {words}", err=True)


def warn_of_unread_code(result: SimulationResult) -> None:
    """Where SchedMate takes part and knows no code of any job, and that was not asked for."""
    task = result.task
    if "none" in result.compared.code.values() and task.workload is None and task.error is None:
        echo(
            f"{result.compared.trace}: no code was read, so SchedMate's rows show what history "
            "alone is worth; export WorkDir and SubmitLine and say --read-code, or name the batch "
            "scripts with --scripts (schedmate history import reads code into a store); "
            "--workload gives each job synthetic code",
            err=True,
        )


@contextmanager
def progress() -> Iterator[OnProgress | None]:
    """A bar for each thing that is under way, for people who watch; it pulses where it is unknown
    how much there is (a total of 0)."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress, TaskID

    from schedmate.cli._common import console

    with Progress(console=console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def on_progress(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=None)
            bar.update(tasks[name], completed=done, total=total or None)

        yield on_progress


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}x"


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]


def _table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int] | None = None
) -> None:
    """Words to the left, numbers to the right. Plain, since a table's library would take a tenth
    of the time that a small simulation takes."""
    lines = [headings, *rows]
    widths = widths or _widths(lines)
    shown = _shown(headings, widths)
    left = {at for at, heading in enumerate(headings) if heading in _WORDS}
    for line in lines:
        cells = [
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            if at in shown
        ]
        echo(_BETWEEN.join(cells).rstrip())


def _shown(headings: Sequence[str], widths: Sequence[int]) -> dict[int, int]:
    """The columns that there is room for, with their widths."""
    shown = dict(enumerate(widths))
    room = width()
    for heading in _SPARED:
        if sum(shown.values()) + len(_BETWEEN) * (len(shown) - 1) <= room:
            break
        if heading in headings:
            del shown[headings.index(heading)]
    return shown
