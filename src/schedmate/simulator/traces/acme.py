"""Acme (Shanghai AI Laboratory, NSDI'24): `trace_seren.csv` and `trace_kalos.csv`.

The release says that `duration` is from start to end. In Kalos it is from submission to end, so
the times themselves are used wherever both are there.
"""

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
    started = cells.time_if_given(row, "start_time")
    if started is None:
        return LeftOut.NEVER_RAN
    state = cells.slurm_state(row, "state")
    if not state.ended:
        return LeftOut.STILL_RUNNING
    ended = cells.time_if_given(row, "end_time")
    return TraceJob(
        job_id=cells.text(row, "job_id"),
        user=cells.text(row, "user"),
        submit_time=cells.time(row, "submit_time"),
        duration=cells.number(row, "duration") if ended is None else ended - started,
        gpus=gpus,
        status=state,
        name=cells.text(row, "type"),
        nodes=cells.count(row, "node_num"),
        start_time=started,
    )


ACME = CsvFormat(
    "Acme",
    ("job_id", "user", "gpu_num", "type", "state", "submit_time", "start_time", "duration"),
    job_of,
)
