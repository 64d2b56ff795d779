"""Finished runs whose end `tracker_eta.py` hides: real logs, and what is true of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench.datasets import members, rows

_STEP = re.compile(
    rb"^step:(\d{1,9})/(\d{1,9})[^\n]{0,200}train_time:(\d{1,12})ms[^\n]{0,80}(?:\n|\Z)",
    re.MULTILINE,
)
_EVALUATION = re.compile(
    rb':::MLLOG \{[^\n]{0,80}"time_ms": ?(\d{13})[^\n]{0,80}"key": ?"(\w{1,40})"[^\n]{0,2000}\n'
)
_CONSTANT = 0.03
"""A run is constant when the paces of its last and its first third differ by no more."""


@dataclass(frozen=True, slots=True)
class Truth:
    """A line of progress: where it ends in the file, when it was written and what it says."""

    offset: int
    at: float
    step: int
    total: int


@dataclass(frozen=True, slots=True)
class StepLog:
    """A log with a line a step; its clock was reset after the first ten in the early records."""

    name: str
    record: str
    track: str
    text: bytes
    lines: tuple[Truth, ...]

    @property
    def timed(self) -> tuple[Truth, ...]:
        """Since the clock was reset last."""
        resets = [n for n, (a, b) in enumerate(pairwise(self.lines), 1) if b.at < a.at]
        return self.lines[max(resets, default=0) :]

    @property
    def is_constant(self) -> bool:
        lines = self.timed
        third = len(lines) // 3
        first, last = _pace(lines[0], lines[third]), _pace(lines[-third], lines[-1])
        return abs(last / first - 1) <= _CONSTANT

    def head(self, share: float) -> tuple[bytes, Truth, float]:
        """What was written in that share of its time, its last line, and the seconds after it."""
        end = self.lines[-1].at
        newest = [line for line in self.timed if line.at <= share * end][-1]
        return self.text[: newest.offset], newest, end - newest.at


@dataclass(frozen=True, slots=True)
class MlperfRun:
    cell: tuple[str, ...]
    """Round, organisation, system, benchmark."""
    run_id: str
    seconds: float
    init_s: float
    evaluations: tuple[tuple[float, float], ...]
    """Seconds after the run began, and the epochs or samples done by then."""


def step_logs(logs: Path) -> list[StepLog]:
    """In the order of their records, each text once."""
    tracks = {row["blob"][:12]: row["track"] for row in rows(logs / "modded_nanogpt_runs.csv.gz")}
    found: dict[str, StepLog] = {}
    for path, text in members(logs / "modded_nanogpt_sample_logs.tar.gz"):
        name = Path(path).stem
        lines = tuple(
            Truth(line.end(), int(line[3]) / 1000, int(line[1]), int(line[2]))
            for line in _STEP.finditer(text)
        )
        if name not in found and lines:
            found[name] = StepLog(name, Path(path).parts[-2], tracks.get(name, ""), text, lines)
    return sorted(found.values(), key=lambda log: (log.record, log.name))


def mlperf_runs(logs: Path) -> dict[str, MlperfRun]:
    """The successful runs, by the beginning of their log's hash."""
    evaluations: dict[str, list[tuple[float, float]]] = {}
    for row in rows(logs / "mlperf_evals.csv.gz"):
        if row["t_since_run_start_s"] and row["epoch_or_samples"]:
            point = float(row["t_since_run_start_s"]), float(row["epoch_or_samples"])
            evaluations.setdefault(row["run_id"], []).append(point)
    return {
        row["run_id"]: MlperfRun(
            cell=(row["round"], row["org"], row["system"], row["benchmark"]),
            run_id=row["run_id"],
            seconds=float(row["train_seconds"]),
            init_s=float(row["init_seconds"] or 0),
            evaluations=tuple(sorted(evaluations.get(row["run_id"], []))),
        )
        for row in rows(logs / "mlperf_runs.csv.gz")
        if row["status"] == "success" and row["train_seconds"]
    }


def mlperf_logs(logs: Path) -> Iterator[tuple[str, bytes]]:
    for path, text in members(logs / "mlperf_sample_logs.tar.gz"):
        if "/success/" in path:
            yield Path(path).stem, text


def mlperf_head(text: bytes, share: float) -> tuple[bytes, float] | None:
    """What was written in that share of the time from run_start to run_stop; the seconds after."""
    events = [(int(one[1]) / 1000, one[2], one.start()) for one in _EVALUATION.finditer(text)]
    starts = [at for at, key, _ in events if key == b"run_start"]
    stops = [at for at, key, _ in events if key == b"run_stop"]
    if not starts or not stops:
        return None
    until = starts[0] + share * (stops[-1] - starts[0])
    later = min(offset for at, _, offset in events if at > until)
    return text[:later], stops[-1] - max(at for at, _, offset in events if offset < later)


def _pace(before: Truth, after: Truth) -> float:
    return (after.at - before.at) / (after.step - before.step)
