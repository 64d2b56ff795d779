"""The cuts of Philly and Helios by DIR-LAB, which have the time since the job before."""

from __future__ import annotations

from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut, Rows
from schedmate.simulator.traces.separated import CsvFormat


def job_of(row: Row) -> TraceJob | LeftOut:
    gpus = cells.whole(row, "gpu_num")
    if not gpus:
        return LeftOut.NO_GPU
    return TraceJob(
        job_id=cells.text(row, "u_id"),
        user=cells.text(row, "user"),
        submit_time=row["submit_time"],
        duration=cells.number(row, "run_time"),
        gpus=gpus,
        status=cells.philly_state(row, "new_status"),
        nodes=cells.count(row, "node_num"),
        time_limit=cells.seconds(row, "wall_time"),
    )


def _with_times(rows: Rows) -> Rows:
    """A row that is left out moves the clock all the same, unless its interval is no number."""
    now = 0.0
    for line, row in rows:
        if isinstance(row, str):
            yield line, row
            continue
        try:
            now += cells.number(row, "interval")
        except ValueError as error:
            yield line, str(error)
        else:
            yield line, {**row, "submit_time": now}


DIRLAB = CsvFormat(
    "DIR-LAB cut",
    ("u_id", "user", "gpu_num", "interval", "run_time", "new_status"),
    job_of,
    _with_times,
)
