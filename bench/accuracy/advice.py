"""How well a job is understood from its script, code, configs and command line.

    python -m bench.accuracy.advice                      # the jobs in bench/corpora/advice/own
    python -m bench.accuracy.advice --clones DIR         # and the public jobs with clones in DIR
    python -m bench.accuracy.advice DIR...               # other cases
    python -m bench.accuracy.advice --only NAME --show   # those with NAME, field by field

A clone is DIR/owner/name or DIR/owner+name with the commit that the case names.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.accuracy.advice_score import Score, Verdict, score_record
from bench.command import command_line, console, progress, table
from bench.corpora.advice_cases import BLIND, FIELDS, OWN, PUBLIC, LabelledJob, read_cases
from schedmate.advisor import Advisor
from schedmate.testing.history import MemoryHistory

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
    parser = command_line(__doc__, __spec__)
    parser.add_argument("dirs", nargs="*", type=Path, help="where the labelled jobs are")
    parser.add_argument("--clones", type=Path, help="where clones of public repositories are")
    parser.add_argument("--only", default="", metavar="NAME", help="jobs with NAME in their name")
    parser.add_argument("--show", action="store_true", help="every field, not the faults alone")
    arguments = parser.parse_args()
    screen = console()
    directories = arguments.dirs or [OWN, PUBLIC, BLIND]
    cases = [case for case in read_cases(*directories) if arguments.only in case.name]
    if not cases:
        sys.exit("no cases: a case is a directory with case.toml and job/, or a .toml")
    summary = table("fields of the workload record", _COLUMNS)
    scores, seconds, absent = _run(cases, arguments.clones)
    summary.add_row("SchedMate", *_row(scores, seconds))
    _print_fields(screen, "SchedMate", scores)
    _print_faults(screen, scores, show=arguments.show)
    if absent:
        screen.print(f"{len(absent)} public jobs left out: no clone of {', '.join(absent)}")
    screen.print(summary)


def _run(
    cases: Sequence[LabelledJob], clones: Path | None
) -> tuple[list[Score], list[float], list[str]]:
    scores: list[Score] = []
    seconds: list[float] = []
    absent: list[str] = []
    for case in progress(cases, "jobs"):
        with case.unpacked(clones) as files:
            if files is None:
                absent.append(case.label.repository or "")
                continue
            started = time.perf_counter()
            memory = MemoryHistory()
            advice = Advisor(memory, memory).advise(case.label.target(files)).advice
            seconds.append(time.perf_counter() - started)
            scores += score_record(case, advice.workload)
    return scores, seconds, sorted({*absent})


def _row(scores: Sequence[Score], seconds: Sequence[float]) -> list[str]:
    count = Counter(score.verdict for score in scores)
    stated = count["right"] + count["wrong"] + count["missing"]
    unstated = count["invented"] + count["absent"]
    right = [score for score in scores if score.verdict == "right"]
    ordered = sorted(seconds) or [0.0]
    return [
        str(len({score.case for score in scores})),
        str(stated),
        *(_percent(count[verdict], stated) for verdict in ("right", "wrong", "missing")),
        f"{_percent(count['invented'], unstated)} of {unstated}",
        _percent(sum(score.shown for score in right), len(right)),
        f"{1000 * ordered[len(ordered) // 2]:.0f}",
        f"{1000 * ordered[int(0.9 * (len(ordered) - 1))]:.0f}",
    ]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _print_fields(screen: Console, name: str, scores: Sequence[Score]) -> None:
    verdicts: tuple[Verdict, ...] = ("right", "wrong", "missing", "invented")
    fields = table(f"{name}, by field", ("field", *verdicts))
    for field in FIELDS:
        count = Counter(score.verdict for score in scores if score.field == field)
        fields.add_row(field, *(str(count[verdict] or "") for verdict in verdicts))
    screen.print(fields)


def _print_faults(screen: Console, scores: Sequence[Score], *, show: bool) -> None:
    for score in scores:
        fine = score.verdict == "absent" or (score.verdict == "right" and score.shown)
        if fine and not show:
            continue
        verdict = "other line" if score.verdict == "right" and not score.shown else score.verdict
        screen.print(
            f"  {score.case}: {score.field} {verdict}: {score.found!r} "
            f"({score.source}, {score.at}), expected {score.expected!r}",
            markup=False,
            soft_wrap=True,
        )


if __name__ == "__main__":
    main()
