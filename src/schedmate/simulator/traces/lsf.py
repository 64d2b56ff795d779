"""Jobs of an LSF cluster as a table: names, queues, limits in minutes, and why they were ended."""

from __future__ import annotations

from schedmate.model import JobState
from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut
from schedmate.simulator.traces.separated import CsvFormat

_MINUTE_S = 60.0
_ENDED_BY = {
    "TERM_RUNLIMIT": JobState.TIMEOUT,
    "TERM_MEMLIMIT": JobState.OUT_OF_MEMORY,
    "TERM_OWNER": JobState.CANCELLED,
    "TERM_ADMIN": JobState.CANCELLED,
    "TERM_PREEMPT": JobState.PREEMPTED,
}
_STATES = {"COMPLETED": JobState.COMPLETED, "EXITED": JobState.FAILED}


def job_of(row: Row) -> TraceJob | LeftOut:
    gpus = cells.whole(row, "gpus")
    if not gpus:
        return LeftOut.NO_GPU
    limit = cells.seconds(row, "walltime_req")
    return TraceJob(
        job_id=cells.text(row, "job_id"),
        user=cells.text(row, "user"),
        submit_time=cells.time(row, "submit"),
        duration=cells.number(row, "duration_s"),
        gpus=gpus,
        status=_state(row),
        name=cells.text(row, "job_name"),
        group=cells.text(row, "queue") or None,
        nodes=cells.count(row, "n_hosts"),
        time_limit=None if limit is None else limit * _MINUTE_S,
        start_time=cells.time_if_given(row, "start"),
    )


def _state(row: Row) -> JobState:
    word = cells.text(row, "status")
    state = _ENDED_BY.get(cells.text(row, "term_reason")) or _STATES.get(word)
    if state is None:
        raise ValueError(f"status is {cells.shown(word)}; known are COMPLETED and EXITED")
    return state


LSF = CsvFormat(
    "LSF table", ("job_id", "user", "queue", "gpus", "submit", "duration_s", "status"), job_of
)
