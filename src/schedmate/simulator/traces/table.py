"""The plain trace table: its columns, and how one row of them becomes a job."""

from __future__ import annotations

from collections.abc import Iterable

from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import Trace, TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut, Rows, gather

REQUIRED = ("job_id", "user", "submit_time", "duration", "gpus")
OPTIONAL = (
    "status",
    "name",
    "group",
    "nodes",
    "time_limit",
    "script",
    "workdir",
    "start_time",
    "gpu_type",
    "command",
)


def missing_columns(columns: Iterable[str]) -> list[str]:
    present = set(columns)
    return [name for name in REQUIRED if name not in present]


def from_rows(name: str, rows: Rows) -> Trace:
    return gather(name, rows, job_of)


def job_of(row: Row) -> TraceJob | LeftOut:
    gpus = cells.whole(row, "gpus")
    if not gpus:
        return LeftOut.NO_GPU
    return TraceJob(
        job_id=cells.text(row, "job_id"),
        user=cells.text(row, "user"),
        submit_time=cells.time(row, "submit_time"),
        duration=cells.number(row, "duration"),
        gpus=gpus,
        status=cells.slurm_state(row, "status"),
        name=cells.text(row, "name"),
        group=cells.text(row, "group") or None,
        nodes=cells.whole(row, "nodes") if cells.given(row, "nodes") else 1,
        time_limit=cells.number(row, "time_limit") if cells.given(row, "time_limit") else None,
        script=cells.text(row, "script") or None,
        workdir=cells.text(row, "workdir") or None,
        start_time=cells.time_if_given(row, "start_time"),
        gpu_type=cells.text(row, "gpu_type") or None,
        command=cells.text(row, "command") or None,
    )
