"""ALCF's ThetaGPU as lumos has it: real waits and time limits; user 0 stands for no user."""

from __future__ import annotations

from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut
from schedmate.simulator.traces.separated import CsvFormat


def job_of(row: Row) -> TraceJob | LeftOut:
    gpus = cells.whole(row, "gpu_num")
    if not gpus:
        return LeftOut.NO_GPU
    submitted = cells.number(row, "submit_time")
    return TraceJob(
        job_id=cells.text(row, "job"),
        user=_named(row, "user") or "",
        submit_time=submitted,
        duration=cells.number(row, "run_time"),
        gpus=gpus,
        status=cells.philly_state(row, "new_status"),
        group=_named(row, "project"),
        nodes=cells.count(row, "node_num"),
        time_limit=cells.seconds(row, "wall_time"),
        start_time=submitted + cells.number(row, "wait_time"),
    )


def _named(row: Row, column: str) -> str | None:
    found = cells.text(row, column)
    return None if found in ("", "0") else found


ALCF = CsvFormat(
    "ALCF ThetaGPU",
    ("job", "user", "gpu_num", "submit_time", "wait_time", "run_time", "wall_time", "new_status"),
    job_of,
)
