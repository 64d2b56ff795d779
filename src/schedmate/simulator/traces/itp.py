"""Microsoft ITP (ElasticFlow, ASPLOS'23): one CSV a cluster, or several with a `cluster` column.

Models and batch sizes of its second table were drawn at random by its authors: they are not read.
"""

from __future__ import annotations

from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut
from schedmate.simulator.traces.separated import CsvFormat


def job_of(row: Row) -> TraceJob | LeftOut:
    gpus = cells.whole(row, "num_gpu")
    if not gpus:
        return LeftOut.NO_GPU
    return TraceJob(
        job_id=cells.text(row, "job_id"),
        user="",
        submit_time=cells.number(row, "submission_time"),
        duration=cells.number(row, "duration"),
        gpus=gpus,
        group=cells.text(row, "cluster") or None,
    )


ITP = CsvFormat("Microsoft ITP", ("job_id", "submission_time", "duration", "num_gpu"), job_of)
