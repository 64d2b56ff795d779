"""Helios (SenseTime, SC'21): `cluster_log.csv` of one cluster, a Slurm log in local time."""

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
    state = cells.slurm_state(row, "state")
    if not state.ended:
        return LeftOut.STILL_RUNNING
    return TraceJob(
        job_id=cells.text(row, "job_id"),
        user=cells.text(row, "user"),
        submit_time=cells.time(row, "submit_time"),
        duration=cells.number(row, "duration"),
        gpus=gpus,
        status=state,
        name=cells.text(row, "jobname"),
        group=cells.text(row, "vc") or None,
        nodes=cells.count(row, "node_num"),
        start_time=cells.time_if_given(row, "start_time"),
    )


HELIOS = CsvFormat(
    "Helios", ("job_id", "user", "vc", "gpu_num", "state", "submit_time", "duration"), job_of
)
