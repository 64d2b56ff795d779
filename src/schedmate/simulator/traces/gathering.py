"""Gathers the jobs of a table, and keeps account of the rows that are none."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from schedmate.simulator.traces.base import BadRow, Trace, TraceJob
from schedmate.simulator.traces.cells import Row

Rows = Iterable[tuple[int, Row | str]]
"""Line numbers with the row that stands there, or with what makes it unreadable."""


class LeftOut(StrEnum):
    """Why a sound row is no job for a GPU cluster."""

    NO_GPU = "ask for no GPU"
    NEVER_RAN = "never ran"
    STILL_RUNNING = "had not ended when the trace was taken"
    PART = "are parts of a job that has a row of its own"


JobOf = Callable[[Row], TraceJob | LeftOut]
"""One row of a format; a `ValueError` says what is wrong with it."""


@contextmanager
def nothing_thrown_away() -> Iterator[None]:
    """A million jobs are no garbage: to look for some among them takes a third of the time."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()


def gather(name: str, rows: Rows, job_of: JobOf, *, gpus: int | None = None) -> Trace:
    """Keep the good rows, and say of each other one where it is and what is wrong."""
    with nothing_thrown_away():
        return _gathered(name, rows, job_of, gpus)


def _gathered(name: str, rows: Rows, job_of: JobOf, gpus: int | None) -> Trace:
    jobs: dict[str, TraceJob] = {}
    bad: list[BadRow] = []
    left_out: Counter[LeftOut] = Counter()
    for line, row in rows:
        try:
            job = job_of(_readable(row))
            if isinstance(job, LeftOut):
                left_out[job] += 1
            elif job.job_id in jobs:
                bad.append(BadRow(line, f"job id {job.job_id!r} is there twice"))
            else:
                jobs[job.job_id] = job
        except ValueError as error:
            bad.append(BadRow(line, str(error)))
    reasons = {reason.value: left_out[reason] for reason in LeftOut if left_out[reason]}
    return Trace(
        name=name, jobs=tuple(jobs.values()), bad_rows=tuple(bad), left_out=reasons, gpus=gpus
    )


def _readable(row: Row | str) -> Row:
    if isinstance(row, str):
        raise ValueError(row)  # noqa: TRY004 - it is the row that is wrong, not its type
    return row
