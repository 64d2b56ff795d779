"""The CSV cut of Philly that many simulators use: no users, ids or states, one row a job."""

from __future__ import annotations

from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut
from schedmate.simulator.traces.separated import CsvFormat, numbered


def job_of(row: Row) -> TraceJob | LeftOut:
    gpus = cells.whole(row, "num_gpus")
    if not gpus:
        return LeftOut.NO_GPU
    return TraceJob(
        job_id=row["job_id"],
        user="",
        submit_time=cells.time(row, "timestamp"),
        duration=cells.number(row, "duration"),
        gpus=gpus,
        group=cells.text(row, "cluster") or None,
    )


PHILLY_CSV = CsvFormat("Philly CSV", ("timestamp", "duration", "num_gpus"), job_of, numbered)
