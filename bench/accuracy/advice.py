"""How well a job is understood from its script, code, configs and command line.

    python -m bench.accuracy.advice                      # the jobs in bench/corpora/advice/own
    python -m bench.accuracy.advice --clones DIR         # and the public jobs with clones in DIR
    python -m bench.accuracy.advice DIR... --llm         # other cases, and with the model in use
    python -m bench.accuracy.advice --only NAME --show   # those with NAME, field by field

A clone is DIR/owner/name or DIR/owner+name with the commit that the case names.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.accuracy.advice_score import Mark, marks_of
from bench.corpora.advice_cases import BLIND, FIELDS, OWN, PUBLIC, ExamCase, read_cases
from schedmate import config
from schedmate.advisor import Advisor, Target
from schedmate.llm import open_asker
from schedmate.model import Advice
from schedmate.testing.history import MemoryHistory
from schedmate.testing.llm import MemoryLedger

Advise = Callable[[Target], Advice]
_COLUMNS = (
    "method",
    "jobs",
    "stated fields",
    "right",
    "wrong",
    "missing",
    "invented",
    "evidence right",
    "p50 ms",
    "p90 ms",
)


def main() -> None:
    arguments = _arguments()
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    directories = arguments.dirs or [OWN, PUBLIC, BLIND]
    cases = [case for case in read_cases(*directories) if arguments.only in case.name]
    if not cases:
        sys.exit("no cases: a case is a directory with case.toml and job/, or a .toml")
    table = Table(title="fields of the workload record")
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column == "method" else "right")
    methods = {"SchedMate": _advise()}
    if arguments.llm:
        methods["SchedMate with the model"] = _advise_with_model()
    for name, advise in methods.items():
        marks, seconds, absent = _sit(cases, advise, arguments.clones)
        table.add_row(name, *_row(marks, seconds))
        _print_fields(console, name, marks)
        _print_faults(console, marks, show=arguments.show)
        if absent:
            console.print(f"{len(absent)} public jobs left out: no clone of {', '.join(absent)}")
    console.print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The exam of the Scheduling Advisor")
    parser.add_argument("dirs", nargs="*", type=Path)
    parser.add_argument("--clones", type=Path, help="where clones of public repositories are")
    parser.add_argument("--llm", action="store_true", help="and with the model in use")
    parser.add_argument("--only", default="", metavar="NAME")
    parser.add_argument("--show", action="store_true", help="every field, not the faults alone")
    return parser.parse_args()


def _advise() -> Advise:
    def advise(target: Target) -> Advice:
        memory = MemoryHistory()
        return Advisor(memory, memory).advise(target).advice

    return advise


def _advise_with_model() -> Advise:
    settings = config.load()
    asker = open_asker(settings.llm, cache_dir=settings.cache_dir, ledger=MemoryLedger())
    if asker is None:
        sys.exit("no language model is configured or installed: schedmate model install")

    def advise(target: Target) -> Advice:
        memory = MemoryHistory()
        return Advisor(memory, memory, asker).advise(target).advice

    return advise


def _sit(
    cases: Sequence[ExamCase], advise: Advise, clones: Path | None
) -> tuple[list[Mark], list[float], list[str]]:
    marks: list[Mark] = []
    seconds: list[float] = []
    absent: list[str] = []
    progress = Console(stderr=True)
    for case in track(cases, console=progress, transient=True, disable=not progress.is_terminal):
        with case.unpacked(clones) as files:
            if files is None:
                absent.append(case.label.repository or "")
                continue
            started = time.perf_counter()
            advice = advise(case.label.target(files))
            seconds.append(time.perf_counter() - started)
            marks += marks_of(case, advice.workload)
    return marks, seconds, sorted({*absent})


def _row(marks: Sequence[Mark], seconds: Sequence[float]) -> list[str]:
    count = Counter(mark.verdict for mark in marks)
    stated = count["right"] + count["wrong"] + count["missing"]
    unstated = count["invented"] + count["absent"]
    right = [mark for mark in marks if mark.verdict == "right"]
    ordered = sorted(seconds) or [0.0]
    return [
        str(len({mark.case for mark in marks})),
        str(stated),
        *(_percent(count[verdict], stated) for verdict in ("right", "wrong", "missing")),
        f"{_percent(count['invented'], unstated)} of {unstated}",
        _percent(sum(mark.shown for mark in right), len(right)),
        f"{1000 * ordered[len(ordered) // 2]:.0f}",
        f"{1000 * ordered[int(0.9 * (len(ordered) - 1))]:.0f}",
    ]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _print_fields(console: Console, name: str, marks: Sequence[Mark]) -> None:
    table = Table(title=f"{name}, by field")
    verdicts = ("right", "wrong", "missing", "invented")
    for column in ("field", *verdicts):
        table.add_column(column, justify="left" if column == "field" else "right")
    for field in FIELDS:
        count = Counter(mark.verdict for mark in marks if mark.field == field)
        table.add_row(field, *(str(count[verdict] or "") for verdict in verdicts))
    console.print(table)


def _print_faults(console: Console, marks: Sequence[Mark], *, show: bool) -> None:
    for mark in marks:
        fine = mark.verdict == "absent" or (mark.verdict == "right" and mark.shown)
        if fine and not show:
            continue
        verdict = "other line" if mark.verdict == "right" and not mark.shown else mark.verdict
        console.print(
            f"  {mark.case}: {mark.field} {verdict}: said {mark.said!r} ({mark.source}, {mark.at}),"
            f" expected {mark.expected!r}",
            markup=False,
            soft_wrap=True,
        )


if __name__ == "__main__":
    main()
