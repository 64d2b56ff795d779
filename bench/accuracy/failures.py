"""How well failures are understood, beside what people do without SchedMate.

    python -m bench.accuracy.failures               # the cases in bench/corpora/failures/own
    python -m bench.accuracy.failures DIR... --llm  # other cases, and with the model in use
    python -m bench.accuracy.failures --behind 50   # each case again behind 50 MB of a healthy log
    python -m bench.accuracy.failures --only NAME   # the cases with NAME in their name

Finished runs and labelled failures of SCHEDMATE_DATA are counted too where they are there
(`failure_data.py`); GPUAlert's rules are a row where `pip install gpualert==0.1.6` was done.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.accuracy.failure_baselines import (
    GREPPED,
    Asked,
    gpualert,
    grepped,
    last_traceback_line,
    schedmate,
)
from bench.accuracy.failure_score import Mark, mark, share
from bench.corpora.failure_cases import HEALTHY, OWN, ExamCase, read_cases
from bench.corpora.failure_logs import finished_runs, labelled_failures
from bench.corpora.padded_failures import behind_healthy_log, healthy_log
from schedmate import config
from schedmate.handler import Case, Handler, NamedLog
from schedmate.llm import open_asker
from schedmate.testing.llm import MemoryLedger

_OURS = "SchedMate"
_COLUMNS = (
    "method",
    "failures",
    "right reason",
    "right decision",
    "cause shown",
    "healthy called failed",
    "elsewhere for a user's error",
    "ms a case",
)


def main() -> None:
    arguments = _arguments()
    exams = [exam for exam in read_cases(*arguments.dirs) if arguments.only in exam.name]
    if not exams:
        sys.exit("no cases: a case is a directory with case.toml and its logs")
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    methods = _methods(llm=arguments.llm)
    marks = {name: [mark(method, exam) for exam in exams] for name, method in methods.items()}
    console.print(_table(marks))
    if importlib.util.find_spec("gpualert") is None:
        console.print("GPUAlert's rules: pip install gpualert==0.1.6")
    _print_by_reason(console, marks[_OURS])
    for name in (name for name in marks if name.startswith(_OURS)):
        _print_wrong(console, name, marks[name])
    if arguments.behind:
        _print_behind(console, marks[_OURS], arguments.behind)
    if not arguments.only:
        _print_public(console, methods)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The exam of the Failure Handler")
    parser.add_argument("dirs", nargs="*", type=Path, default=[OWN])
    parser.add_argument("--llm", action="store_true", help="and with the model in use")
    parser.add_argument("--behind", type=int, default=0, metavar="MB")
    parser.add_argument("--only", default="", metavar="NAME")
    return parser.parse_args()


def _methods(*, llm: bool) -> dict[str, Asked]:
    methods = {_OURS: schedmate(Handler(), ask=False)}
    if llm:
        settings = config.load()
        asker = open_asker(settings.llm, cache_dir=settings.cache_dir, ledger=MemoryLedger())
        if asker is None:
            sys.exit("no language model is configured or installed: schedmate model install")
        methods[f"{_OURS} with the model"] = schedmate(Handler(None, asker), ask=True)
    if importlib.util.find_spec("gpualert") is not None:
        methods["GPUAlert's rules"] = gpualert
    methods["last traceback's type"] = last_traceback_line
    methods[f"{len(GREPPED)} grep words"] = grepped
    return methods


def _table(marks: dict[str, list[Mark]]) -> Table:
    table = Table(title="failures, and healthy runs with alarming words")
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column == "method" else "right")
    for name, some in marks.items():
        table.add_row(name, *_row(some))
    return table


def _row(marks: Sequence[Mark]) -> list[str]:
    failed = [one for one in marks if not one.exam.label.healthy]
    decides = any(one.answer.retry for one in marks)
    shows = any(one.answer.lines for one in marks)
    with_cause = [one for one in failed if one.exam.label.cause]
    return [
        str(len(failed)),
        share(one.right for one in failed),
        share(one.decided for one in marks) if decides else "-",
        share(one.shown for one in with_cause) if shows else "-",
        f"{sum(one.alarmed for one in marks)} of {len(marks) - len(failed)}",
        str(sum(one.harmful for one in marks)) if decides else "-",
        f"{1000 * sum(one.seconds for one in marks) / len(marks):.1f}",
    ]


def _print_by_reason(console: Console, marks: Sequence[Mark]) -> None:
    reasons: dict[str, list[bool]] = defaultdict(list)
    for one in marks:
        reasons[one.exam.label.reason].append(one.right)
    counts = (f"{reason} {sum(fine)}/{len(fine)}" for reason, fine in sorted(reasons.items()))
    console.print("right by reason:", ", ".join(counts))


def _print_wrong(console: Console, name: str, marks: Sequence[Mark]) -> None:
    wrong = [one for one in marks if one.wrong]
    console.print(f"{name}: {len(wrong)} not wholly right")
    for one in wrong:
        answer, label = one.answer, one.exam.label
        console.print(
            f"  {one.exam.name}: said {answer.said} ({answer.confidence:.2f}, {answer.source}, "
            f"{answer.retry}), expected {label.reason} ({label.retry}) [wrong: {one.wrong}]",
            markup=False,
            soft_wrap=True,
        )


def _print_behind(console: Console, marks: Sequence[Mark], megabytes: int) -> None:
    healthy, handler, other = healthy_log(megabytes << 20), Handler(), []
    for one in marks:
        said = _said_behind(handler, one.exam, healthy)
        if said != one.answer.said:
            other.append(f"  {one.exam.name}: {one.answer.said}, behind the log {said}")
    same = f"{len(marks) - len(other)} of {len(marks)}"
    console.print(f"behind {megabytes} MB of a healthy log: {same} are answered the same")
    for line in other:
        console.print(line)


def _said_behind(handler: Handler, exam: ExamCase, healthy: bytes) -> str:
    with behind_healthy_log(exam, healthy) as logs:
        return handler.diagnose(exam.to_case(logs)).reason


def _print_public(console: Console, methods: dict[str, Asked]) -> None:
    runs, failures = list(finished_runs()), list(labelled_failures())
    if not runs or not failures:
        console.print("no public logs: SCHEDMATE_DATA names the directory that has them")
        return
    for name, method in methods.items():
        said = [
            (expected, method(Case(logs=(NamedLog(file, data),)), data.decode(errors="replace")))
            for file, data, expected in runs
        ]
        healthy = [answer for expected, answer in said if expected == HEALTHY]
        alarms = sum(HEALTHY not in answer.reasons for answer in healthy)
        ended = [expected in answer.reasons for expected, answer in said if expected != HEALTHY]
        smoke = share(bool(method(case, text).reasons & right) for case, text, right in failures)
        console.print(
            f"{name}: {alarms} of {len(healthy)} public finished runs called failed, "
            f"{sum(ended)} of {len(ended)} cancelled or timed out told as such, "
            f"{smoke} of GPUAlert's {len(failures)}"
        )


if __name__ == "__main__":
    main()
