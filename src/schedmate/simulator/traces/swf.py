"""The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a job.

It counts processors. How many of them come with a GPU is the reader's to say; one by default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from schedmate.model import JobState
from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import Trace, TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut, Rows, gather
from schedmate.simulator.traces.opening import head_lines, opened

_COLUMNS = (
    *("job", "submit", "wait", "run", "allocated", "cpu_time", "memory", "requested", "limit"),
    *("requested_memory", "status", "user", "group", "executable", "queue", "partition"),
    *("preceding", "think_time"),
)
_STATES = {
    "-1": JobState.COMPLETED,
    "0": JobState.FAILED,
    "1": JobState.COMPLETED,
    "5": JobState.CANCELLED,
}
_PARTS = ("2", "3", "4")
_SIZE = re.compile(r";\s*MaxProcs:\s*(\d{1,9})", re.IGNORECASE)
_JOB = re.compile(r"\s*(?:-?\d{1,20}(?:\.\d{1,20})?\s+){17}-?\d{1,20}(?:\.\d{1,20})?\s*")


@dataclass(frozen=True, slots=True)
class Swf:
    processors_per_gpu: int = 1
    name: str = "SWF"

    def sniff(self, path: Path) -> bool:
        lines = (line for line in head_lines(path) if line.strip() and not line.startswith(";"))
        return _JOB.fullmatch(next(lines, "")) is not None

    def read(self, path: Path) -> Trace:
        size = next((found for line in head_lines(path) if (found := _SIZE.match(line))), None)
        with opened(path) as file:
            return gather(
                path.name,
                _rows(file),
                self._job_of,
                gpus=self._gpus(int(size[1])) if size else None,
            )

    def _gpus(self, processors: int) -> int:
        return -(-processors // self.processors_per_gpu)

    def _job_of(self, row: Row) -> TraceJob | LeftOut:
        if row["status"] in _PARTS:
            return LeftOut.PART
        ran, wait = cells.number(row, "run"), cells.number(row, "wait")
        processors = _known(row, "allocated") or _known(row, "requested")
        if ran < 0 or (ran == 0 and row["status"] == "5"):
            return LeftOut.NEVER_RAN
        if not processors:
            return LeftOut.NO_GPU
        submitted = cells.number(row, "submit")
        return TraceJob(
            job_id=row["job"],
            user=_word(row, "user"),
            submit_time=submitted,
            duration=ran,
            gpus=self._gpus(processors),
            status=_state(row),
            name=_word(row, "executable"),
            group=_word(row, "partition") or _word(row, "queue") or None,
            time_limit=cells.seconds(row, "limit"),
            start_time=submitted + wait if wait >= 0 else None,
        )


def _rows(file: IO[str]) -> Rows:
    for line, text in enumerate(file, start=1):
        numbers = text.split()
        if not numbers or numbers[0].startswith(";"):
            continue
        if len(numbers) == len(_COLUMNS):
            yield line, dict(zip(_COLUMNS, numbers, strict=True))
        else:
            yield line, f"has {len(numbers)} numbers, SWF has {len(_COLUMNS)}"


def _known(row: Row, column: str) -> int:
    return max(0, cells.whole(row, column))


def _word(row: Row, column: str) -> str:
    """Users and the like are numbers; -1 is none."""
    return "" if row[column] == "-1" else str(row[column])


def _state(row: Row) -> JobState:
    if row["status"] not in _STATES:
        raise ValueError(f"status is {cells.shown(row['status'])}; known are -1 to 5")
    return _STATES[row["status"]]
