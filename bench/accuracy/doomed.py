"""How many runs that go on for nothing are found and stopped, and how many others are.

    python -m bench.accuracy.doomed              # labelled runs, failures, recorded and public logs
    python -m bench.accuracy.doomed --only nan   # the runs with nan in their name
    python -m bench.accuracy.doomed --show       # what was stated about which run, and when

Each log is written line by line in its own time (ten seconds a line where it has none) and read by
the real tracker; the real decision engine states and stops, for every reason. `right` and `wrong`
count runs of which a reason was stated that the label has or has not; `stopped` those that would
be. `missed` are labelled runs that went on after the sign, of which nothing was stated. The
controls: the first line that has the word, the first estimate that ends beyond the limit.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from bench.accuracy.doomed_programs import watched_programs
from bench.command import command_line, console, progress, table
from bench.corpora.doomed_runs import (
    FIRST_SIGHT,
    UNSEEN,
    DoomedRun,
    failed_runs,
    labelled_runs,
    limited_runs,
    public_runs,
    trained_runs,
)
from bench.datasets import data_dir, rows
from schedmate.core import (
    DOOMED_REASONS,
    Act,
    DecisionEngine,
    DecisionLimits,
    DoomedLimits,
    JobAdvised,
    JobSeen,
    ProgressSeen,
)
from schedmate.model import Finding, JobState, Progress, Request, Workload
from schedmate.policies import ordering
from schedmate.testing.builders import a_job, an_advice
from schedmate.tracker import JobTracker

_REASONS = ("nan", "checkpoint", "limit")
"""Those that a log alone shows."""
_MOST_POLLS = 300
_HOUR_S = 3600.0
_FAILURES, _EXITED = 3, "EXITED"
_GPUS = 8
_BEGAN = 1_000_000.0
_WORDS = {
    "nan": re.compile(rb"\b(?:nan|inf)\b", re.IGNORECASE),
    "checkpoint": re.compile(
        rb"no space left|quota exceeded|read-only file system|permission denied", re.IGNORECASE
    ),
}


@dataclass(slots=True)
class Found:
    """When each reason was first stated, and when the run was stopped for which."""

    told: dict[str, float] = field(default_factory=dict)
    stopped: dict[str, float] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)


Method = Callable[[DoomedRun], Found]


def by_schedmate(run: DoomedRun) -> Found:
    """Through tracker and engine, poll by poll."""
    engine = DecisionEngine(
        ordering("fifo"), DecisionLimits(doomed=DoomedLimits(stop=frozenset(DOOMED_REASONS)))
    )
    request = Request(gpus=_GPUS, time_limit_s=run.limit_s)
    job = a_job(state=JobState.RUNNING, start_time=_BEGAN, request=request)
    engine.handle(JobSeen(_BEGAN, job))
    record = Workload(resumes=Finding(value=False, source="code"))
    engine.handle(JobAdvised(_BEGAN, job.id, an_advice(workload=record)))
    found = Found()
    for at, seen in _polls(run):
        for wanted in engine.handle(ProgressSeen(_BEGAN + at, job.id, seen)):
            if not isinstance(wanted, Act) or wanted.action.reason is None:
                continue
            action, reason = wanted.action, wanted.action.reason
            if reason.code == "doomed":
                noted = found.stopped if action.kind == "cancel" else found.told
                noted.setdefault(reason.failure, at)
                found.lines.setdefault(reason.failure, reason.line or reason.detail)
    return found


def by_first_word(run: DoomedRun) -> Found:
    found = Found()
    for at, line in run.lines:
        for reason, pattern in _WORDS.items():
            if pattern.search(line):
                found.told.setdefault(reason, at)
                found.stopped.setdefault(reason, at)
    for at, seen in _polls(run) if run.limit_s else ():
        done = seen.work_fraction
        if done and run.limit_s and at / done > run.limit_s:
            found.told.setdefault("limit", at)
            found.stopped.setdefault("limit", at)
    return found


def _polls(run: DoomedRun) -> Iterable[tuple[float, Progress]]:
    every = max(1, len(run.lines) // _MOST_POLLS)
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory, "job.out")
        log.touch()
        tracker = JobTracker([log], started_at=_BEGAN, limit_s=run.limit_s)
        for first in range(0, len(run.lines), every):
            some = run.lines[first : first + every]
            with log.open("ab") as file:
                file.write(b"".join(line + b"\n" for _, line in some))
            at = some[-1][0]
            yield at, tracker.poll(_BEGAN + at, writing=True)


@dataclass(slots=True)
class Tally:
    labelled: int = 0
    right: int = 0
    wrong: int = 0
    stopped_right: int = 0
    stopped_wrong: int = 0
    missed: int = 0
    after_h: float = 0.0
    saved_h: float = 0.0

    def add(self, run: DoomedRun, found: Found, reason: str) -> None:
        true, told = reason in run.doomed, reason in found.told
        self.right += true and told
        self.wrong += told and not true
        self.stopped_right += true and reason in found.stopped
        self.stopped_wrong += reason in found.stopped and not true
        if not true or run.sign_s is None or run.ends_s == run.sign_s:
            return
        self.labelled += 1
        self.missed += not told
        self.after_h += _GPUS * (run.ends_s - run.sign_s) / _HOUR_S
        if told:
            self.saved_h += _GPUS * (run.ends_s - found.told[reason]) / _HOUR_S

    @property
    def cells(self) -> list[str]:
        told = self.right + self.wrong
        share = f"{100 * self.right / told:.1f} %" if told else "-"
        counts = (self.labelled, self.right, self.wrong, self.stopped_right, self.stopped_wrong)
        hours = f"{self.after_h:.1f}", f"{self.saved_h:.1f}"
        return [*map(str, counts), str(self.missed), share, *hours]


_PROGRAMS = "first sight: real programs, labelled before they were run"
_PROGRAM_COLUMNS = ("reason", "true", "right", "wrong", "stopped", "wrongly", "missed")
_COLUMNS = (
    "method, reason",
    "go on",
    "right",
    "wrong",
    "stopped",
    "wrongly",
    "missed",
    "right of stated",
    "GPU hours after the sign",
    "saved",
)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--only", default="", metavar="NAME", help="runs with NAME in their name")
    parser.add_argument(
        "--set", default="", metavar="SET", help="only sets with SET in their title"
    )
    parser.add_argument("--show", action="store_true", help="what was stated, run by run")
    arguments = parser.parse_args()
    screen = console()
    sets = {
        "labelled runs": labelled_runs,
        "mended since: labelled before they were read": lambda: labelled_runs(FIRST_SIGHT),
        "first sight: labelled before they were read": lambda: labelled_runs(UNSEEN),
        "failures and alarming words": failed_runs,
        "recorded runs, all well": trained_runs,
        "public logs": public_runs,
        "real runs with limits that they miss or make": limited_runs,
    }
    methods: dict[str, Method] = {"SchedMate": by_schedmate, "first word": by_first_word}
    for title, made in sets.items():
        if arguments.set not in title:
            continue
        runs = [run for run in made() if arguments.only in run.name and run.lines]
        tallies = {(name, reason): Tally() for name in methods for reason in _REASONS}
        for run in progress(runs, title):
            for name, method in methods.items():
                found = method(run)
                for reason in _REASONS:
                    tallies[name, reason].add(run, found, reason)
                if arguments.show and name == "SchedMate":
                    _show(run, found)
        shown = table(f"{title}: {len(runs)}", _COLUMNS)
        for (name, reason), tally in tallies.items():
            shown.add_row(f"{name}, {reason}", *tally.cells)
        screen.print(shown)
    if arguments.set in _PROGRAMS:
        screen.print(_programs(arguments.only, show=arguments.show))
    if not arguments.set or arguments.set in "repeated":
        screen.print(_repeated())


def _programs(only: str, *, show: bool) -> Table:
    programs = watched_programs(only)
    shown = table(f"{_PROGRAMS}: {len(programs)}", _PROGRAM_COLUMNS)
    for reason in ("idle", "hang"):
        true = {one.name for one in programs if reason in one.doomed}
        told = {one.name for one in programs if reason in one.told}
        ended = {one.name for one in programs if reason in one.stopped}
        waits = {one.name for one in programs if one.waits}
        if show:
            for name in sorted(true ^ told | ended & waits):
                print(f"{'missed' if name in true - told else 'WRONG':7} {name}: {reason}")
        harmed = ended - true | ended & waits
        counts = (true, true & told, told - true, ended - harmed, harmed, true - told)
        shown.add_row(reason, *(str(len(some)) for some in counts))
    return shown


def _repeated() -> str:
    """Of DTU's LSF reports: jobs whose user had run the same command before, code unknown."""
    path = data_dir() / "traces" / "lsf_dtu_jobs.csv.gz"
    if not path.exists():
        return "repeated failures: no LSF reports at hand (SCHEDMATE_DATA)"
    runs: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in sorted(rows(path), key=lambda row: row["submit"]):
        if row["submit"] and row["command"]:
            runs.setdefault((row["user"], row["repo"], row["command"]), []).append(row)
    after = [
        some[place]
        for some in runs.values()
        for place in range(_FAILURES, len(some))
        if _failed_alike(some[place - _FAILURES : place], before=some[place]["submit"])
    ]
    failed = sum(row["status"] == _EXITED for row in after)
    return (
        f"the same command after {_FAILURES} failures in a row with one exit code "
        f"(LSF reports): failed again {failed} of {len(after)}"
    )


def _failed_alike(some: Sequence[dict[str, str]], *, before: str) -> bool:
    codes = {row["exit_code"] for row in some}
    over = all(row["end"] and row["end"] <= before for row in some)
    return over and len(codes) == 1 and all(row["status"] == _EXITED for row in some)


def _show(run: DoomedRun, found: Found) -> None:
    missed = sorted(run.doomed - found.told.keys()) if run.sign_s is not None else []
    for reason in (*found.told, *missed):
        verdict = "missed" if reason in missed else "right" if reason in run.doomed else "WRONG"
        at = found.told.get(reason)
        when = "" if at is None else f" after {at:.0f} s of {run.ends_s:.0f}"
        print(f"{verdict:7} {run.name}: {reason}{when}: {found.lines.get(reason, '')[:90]}")


if __name__ == "__main__":
    main()
