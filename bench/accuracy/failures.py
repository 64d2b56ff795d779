"""How well failures are understood, beside what people do without SchedMate.

    python -m bench.accuracy.failures               # the cases in bench/corpora/failures/own
    python -m bench.accuracy.failures DIR... --llm  # other cases, and with the model in use
    python -m bench.accuracy.failures --behind 50   # each case again behind 50 MB of a healthy log
    python -m bench.accuracy.failures --only NAME   # the cases with NAME in their name

Public logs of finished runs and of labelled failures are counted too where the data sets are at
hand (SCHEDMATE_DATA); GPUAlert's rules are a row after `pip install gpualert==0.1.6`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.accuracy.failure_baselines import (
    GREPPED,
    Method,
    gpualert,
    grepped,
    last_traceback_line,
    schedmate,
)
from bench.accuracy.failure_score import Score, score, share
from bench.command import command_line, console, model_in_use, progress, table
from bench.corpora.failure_cases import HEALTHY, OWN, read_cases
from bench.corpora.failure_logs import finished_runs, labelled_failures
from bench.corpora.padded_failures import healthy_log, padded
from schedmate.handler import Case, Handler, NamedLog

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
    parser = command_line(__doc__, __spec__)
    parser.add_argument("dirs", nargs="*", type=Path, default=[OWN], help="where the cases are")
    parser.add_argument("--llm", action="store_true", help="and with the language model in use")
    parser.add_argument("--behind", type=int, default=0, metavar="MB", help="pad with so many MB")
    parser.add_argument("--only", default="", metavar="NAME", help="cases with NAME in their name")
    arguments = parser.parse_args()
    cases = [case for case in read_cases(*arguments.dirs) if arguments.only in case.name]
    if not cases:
        sys.exit("no cases: a case is a directory with case.toml and its logs")
    screen = console()
    methods = _methods(llm=arguments.llm)
    scores = {
        name: [score(method, case) for case in progress(cases, name)]
        for name, method in methods.items()
    }
    screen.print(_table(scores))
    if importlib.util.find_spec("gpualert") is None:
        screen.print("GPUAlert's rules: pip install gpualert==0.1.6")
    _print_by_reason(screen, scores[_OURS])
    for name in (name for name in scores if name.startswith(_OURS)):
        _print_wrong(screen, name, scores[name])
    if arguments.behind:
        _print_behind(screen, scores[_OURS], arguments.behind)
    if not arguments.only:
        _print_public(screen, methods)


def _methods(*, llm: bool) -> dict[str, Method]:
    methods = {_OURS: schedmate(Handler(), ask=False)}
    if llm:
        methods[f"{_OURS} with the model"] = schedmate(Handler(None, model_in_use()), ask=True)
    if importlib.util.find_spec("gpualert") is not None:
        methods["GPUAlert's rules"] = gpualert
    methods["last traceback's type"] = last_traceback_line
    methods[f"{len(GREPPED)} grep words"] = grepped
    return methods


def _table(scores: dict[str, list[Score]]) -> Table:
    made = table("failures, and healthy runs with alarming words", _COLUMNS)
    for name, some in scores.items():
        made.add_row(name, *_row(some))
    return made


def _row(scores: Sequence[Score]) -> list[str]:
    failed = [one for one in scores if not one.case.label.healthy]
    decides = any(one.answer.retry for one in scores)
    shows = any(one.answer.lines for one in scores)
    with_cause = [one for one in failed if one.case.label.cause]
    return [
        str(len(failed)),
        share(one.right for one in failed),
        share(one.decided for one in scores) if decides else "-",
        share(one.shown for one in with_cause) if shows else "-",
        f"{sum(one.alarmed for one in scores)} of {len(scores) - len(failed)}",
        str(sum(one.harmful for one in scores)) if decides else "-",
        f"{1000 * sum(one.seconds for one in scores) / len(scores):.1f}",
    ]


def _print_by_reason(screen: Console, scores: Sequence[Score]) -> None:
    reasons: dict[str, list[bool]] = defaultdict(list)
    for one in scores:
        reasons[one.case.label.reason].append(one.right)
    counts = (f"{reason} {sum(fine)}/{len(fine)}" for reason, fine in sorted(reasons.items()))
    screen.print("right by reason:", ", ".join(counts))


def _print_wrong(screen: Console, name: str, scores: Sequence[Score]) -> None:
    wrong = [one for one in scores if one.wrong]
    screen.print(f"{name}: {len(wrong)} not wholly right")
    for one in wrong:
        answer, label = one.answer, one.case.label
        screen.print(
            f"  {one.case.name}: {answer.named} ({answer.confidence:.2f}, {answer.source}, "
            f"{answer.retry}), expected {label.reason} ({label.retry}) [wrong: {one.wrong}]",
            markup=False,
            soft_wrap=True,
        )


def _print_behind(screen: Console, scores: Sequence[Score], megabytes: int) -> None:
    healthy, handler, other = healthy_log(megabytes << 20), Handler(), []
    for one in scores:
        with padded(one.case, healthy) as logs:
            reason = handler.diagnose(one.case.to_case(logs)).reason
        if reason != one.answer.named:
            other.append(f"  {one.case.name}: {one.answer.named}, behind the log {reason}")
    same = f"{len(scores) - len(other)} of {len(scores)}"
    screen.print(f"behind {megabytes} MB of a healthy log: {same} are answered the same")
    for line in other:
        screen.print(line)


def _print_public(screen: Console, methods: dict[str, Method]) -> None:
    runs, failures = list(finished_runs()), list(labelled_failures())
    if not runs or not failures:
        screen.print("no public logs: SCHEDMATE_DATA names the directory that has them")
        return
    for name, method in methods.items():
        answers = [
            (expected, method(Case(logs=(NamedLog(file, data),)), data.decode(errors="replace")))
            for file, data, expected in runs
        ]
        healthy = [answer for expected, answer in answers if expected == HEALTHY]
        alarms = sum(HEALTHY not in answer.reasons for answer in healthy)
        ended = [expected in answer.reasons for expected, answer in answers if expected != HEALTHY]
        smoke = share(bool(method(case, text).reasons & right) for case, text, right in failures)
        screen.print(
            f"{name}: {alarms} of {len(healthy)} public finished runs called failed, "
            f"{sum(ended)} of {len(ended)} cancelled or timed out named so, "
            f"{smoke} of GPUAlert's {len(failures)}"
        )


if __name__ == "__main__":
    main()
