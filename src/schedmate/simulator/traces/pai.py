"""Alibaba PAI (2020): `pai_task_table.csv`, which has no header line.

The table of jobs beside it, where it is there, has the users and the times of submission. A job's
tasks run side by side: its GPUs are the sum over their instances, parts of a GPU added up and
rounded up to whole ones.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.model import BadInput, JobState
from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import Trace, TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut, Rows, gather
from schedmate.simulator.traces.opening import head_lines, opened
from schedmate.simulator.traces.separated import csv_rows

_TASK = [
    *("job_name", "task_name", "inst_num", "status", "start_time", "end_time"),
    *("plan_cpu", "plan_mem", "plan_gpu", "gpu_type"),
]
_JOB = ["job_name", "inst_id", "user", "status", "start_time", "end_time"]
_STATES = {
    "Terminated": JobState.COMPLETED,
    "Failed": JobState.FAILED,
    "Running": JobState.RUNNING,
    "Waiting": JobState.PENDING,
}
_BESIDE = ("pai_job_table.csv", "pai_job_table.csv.gz")


@dataclass(slots=True)
class _Tasks:
    """What is known of a job so far, and the line of its first task."""

    line: int
    gpus: float = 0.0
    instances: float = 0.0
    start: float = math.inf
    end: float = -math.inf
    states: set[JobState] = field(default_factory=set)
    gpu_type: str | None = None

    def add(self, row: Row) -> None:
        state = _state(row)
        share = cells.number(row, "plan_gpu") / 100 if cells.given(row, "plan_gpu") else 0.0
        instances = cells.number(row, "inst_num") if cells.given(row, "inst_num") else 1.0
        if not share:
            return
        started = cells.time_if_given(row, "start_time")
        ended = cells.time_if_given(row, "end_time")
        self.states.add(state)
        self.gpus += share * instances
        self.instances += instances
        self.start = self.start if started is None else min(self.start, started)
        self.end = self.end if ended is None else max(self.end, ended)
        self.gpu_type = self.gpu_type or cells.text(row, "gpu_type") or None


class PaiTasks:
    name = "Alibaba PAI"

    def sniff(self, path: Path) -> bool:
        first = _first_cells(path)
        return first == _TASK or (len(first) == len(_TASK) and first[3] in _STATES)

    def read(self, path: Path) -> Trace:
        submitted = _submissions(path)
        with opened(path) as file:
            rows = csv_rows(file, _TASK)
            return gather(path.name, _jobs(rows), lambda row: _job_of(row, submitted))


class PaiJobs:
    """Recognised so that the error can name what to read instead."""

    name = "Alibaba PAI jobs"

    def sniff(self, path: Path) -> bool:
        first = _first_cells(path)
        return first == _JOB or (len(first) == len(_JOB) and first[3] in _STATES)

    def read(self, path: Path) -> Trace:
        raise BadInput(
            f"{path} has no GPUs: name pai_task_table.csv, and keep this table beside it for the "
            "users"
        )


def _first_cells(path: Path) -> list[str]:
    try:
        return next(csv.reader(head_lines(path)[:1]), [])
    except csv.Error:
        return []


def _state(row: Row) -> JobState:
    word = cells.text(row, "status")
    if word not in _STATES:
        raise ValueError(f"status is {cells.shown(word)}; known are {', '.join(_STATES)}")
    return _STATES[word]


def _jobs(rows: Rows) -> Iterator[tuple[int, Row | str]]:
    """The tasks of each job put together; a task that cannot be read spoils its job."""
    jobs: dict[str, _Tasks] = {}
    spoilt: set[str] = set()
    for line, row in rows:
        if isinstance(row, str):
            yield line, row
        elif row["job_name"] != "job_name":
            try:
                jobs.setdefault(row["job_name"], _Tasks(line)).add(row)
            except ValueError as error:
                spoilt.add(row["job_name"])
                yield line, str(error)
    for name, tasks in jobs.items():
        if name not in spoilt:
            yield tasks.line, {"job_name": name, "tasks": tasks}


def _job_of(row: Row, submitted: dict[str, tuple[str, float]]) -> TraceJob | LeftOut:
    name, tasks = row["job_name"], row["tasks"]
    if not tasks.gpus:
        return LeftOut.NO_GPU
    if not all(state.ended for state in tasks.states):
        return LeftOut.STILL_RUNNING
    if math.isinf(tasks.start) or math.isinf(tasks.end):
        return LeftOut.NEVER_RAN
    user, when = submitted.get(name, ("", tasks.start))
    return TraceJob(
        job_id=name,
        user=user,
        submit_time=min(when, tasks.start),
        duration=tasks.end - tasks.start,
        gpus=math.ceil(round(tasks.gpus, 6)),
        status=JobState.FAILED if JobState.FAILED in tasks.states else JobState.COMPLETED,
        start_time=tasks.start,
        gpu_type=tasks.gpu_type,
    )


def _submissions(path: Path) -> dict[str, tuple[str, float]]:
    """User and time of submission by job, out of the table beside this one."""
    beside = next((path.parent / name for name in _BESIDE if (path.parent / name).is_file()), None)
    if beside is None:
        return {}
    found = {}
    with opened(beside) as file:
        for _, row in csv_rows(file, _JOB):
            with suppress(ValueError):  # its tasks say when it began, if this table does not
                if not isinstance(row, str):
                    found[row["job_name"]] = (row["user"], cells.time(row, "start_time"))
    return found
