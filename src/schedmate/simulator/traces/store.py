"""A site's own store as a trace: real waits, limits and sizes, and what was read of jobs' code.

A store is an SQLite file with a table of ended runs. Runs of several schedulers and tables may
share an id, so each is called by its source too; every attempt of a job is a job of its own.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from schedmate.model import BadInput, PastRun
from schedmate.model.wire import loads
from schedmate.simulator.traces.base import BadRow, Trace, TraceJob
from schedmate.simulator.traces.finished import SIZE_AS_IT_WAS, from_job, most_in_use
from schedmate.simulator.traces.gathering import LeftOut
from schedmate.simulator.traces.opening import head_bytes

_MAGIC = b"SQLite format 3\x00"
_QUERY = "SELECT scheduler, job_id, attempt, body FROM runs ORDER BY end_time"


class StoreTrace:
    name = "store"

    def sniff(self, path: Path) -> bool:
        return head_bytes(path).startswith(_MAGIC)

    def read(self, path: Path) -> Trace:
        _only_its_owner(path)
        jobs: list[TraceJob] = []
        runs: dict[str, PastRun] = {}
        bad: list[BadRow] = []
        no_gpu = never_ran = 0
        for number, (named, body) in enumerate(_rows(path), start=1):
            try:
                run = loads(PastRun, body)
                if run.job.run_time_s is None:
                    never_ran += 1
                elif not run.job.request.gpus:
                    no_gpu += 1
                else:
                    jobs.append(replace(from_job(run.job), job_id=named))
                    runs[named] = run
            except (ValueError, BadInput) as error:
                bad.append(BadRow(number, str(error)))
        left_out = {LeftOut.NO_GPU.value: no_gpu, LeftOut.NEVER_RAN.value: never_ran}
        return Trace(
            name=path.name,
            jobs=tuple(jobs),
            bad_rows=tuple(bad),
            left_out={why: count for why, count in left_out.items() if count},
            gpus=most_in_use(jobs),
            notes=(SIZE_AS_IT_WAS,),
            runs=runs,
        )


def _only_its_owner(path: Path) -> None:
    if os.getuid() not in (0, path.stat().st_uid):
        raise BadInput(
            f"{path} is the store of another account; only its owner can simulate from it"
        )


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    """The name of each run, and the run."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            for scheduler, job_id, attempt, body in connection.execute(_QUERY):
                named = f"{scheduler}:{job_id}"
                yield (f"{named}#{attempt + 1}" if attempt else named), body
    except sqlite3.Error as error:
        raise BadInput(f"{path} is no store that can be read: {error}") from error
