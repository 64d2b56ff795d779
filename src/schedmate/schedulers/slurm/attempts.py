"""Which runs that accounting remembers are one job's. Pure: records in, jobs out.

It keeps a row for every run of a job, and the rows of all jobs that had a number.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.schedulers.slurm.grouping import joined
from schedmate.schedulers.slurm.parsing import Record, accounted_job

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedmate.model import Job, JobId


def accounted_jobs(
    rows: Iterable[Record], apart: Container[JobId] = (), *, keep_s: float
) -> list[Job]:
    """Ended jobs as accounting remembers them, of each number the last job, with its last run.

    It keeps neither the nice value nor, in Slurm 22, where the output went, and it shows an exit
    code of 137 as 9.
    """
    runs: dict[str, list[Job]] = {}
    for row in rows:
        runs.setdefault(row["JobID"], []).append(accounted_job(row, restarts=0))
    jobs: list[Job] = []
    parts: dict[JobId, list[Job]] = {}
    for job_id, found in runs.items():
        job = attempts_in(found, keep_s)[-1]
        whole, plus, _ = job_id.partition("+")
        if plus:
            parts.setdefault(whole, []).append(job)
        if not plus or job_id in apart:
            jobs.append(job)
    jobs += [joined(whole, found) for whole, found in parts.items()]
    # tasks of an array that never started have one number
    newest = {job.id: job for job in sorted(jobs, key=lambda job: job.submit_time)}
    return [job for job in newest.values() if job.state.ended]


def attempts_in(runs: Iterable[Job], keep_s: float) -> list[Job]:
    """The runs of one number in their order, each as an attempt of the job that it is of.

    A job can be queued again as long as the controller holds it, `keep_s` beyond its end, and its
    number is used again only after that.
    """
    found: list[Job] = []
    for run in sorted(runs, key=lambda run: run.submit_time):
        before = found[-1] if found else None
        if before is None or not _follows(before, run.user, run.submit_time, keep_s):
            found.append(run)
        else:
            again = run.submit_time > before.submit_time  # else it was resized
            restarts = before.restarts + again
            first = before.submitted_at if restarts else None
            found.append(replace(run, restarts=restarts, first_submit=first))
    return found


def with_attempts(
    jobs: Sequence[Job], rows: Iterable[Record], keep_s: float
) -> tuple[list[Job], list[Job]]:
    """These jobs, those that were queued again with their first submission; and the runs that
    they had before, as far as these rows of accounting go back."""
    again = {job.id for job in jobs if job.restarts}
    earlier: dict[JobId, list[Record]] = {}
    for row in rows if again else ():
        job_id = row["JobID"].removesuffix("+0")
        if job_id in again:
            earlier.setdefault(job_id, []).append(row)
    found: list[Job] = []
    attempts: list[Job] = []
    for job in jobs:
        before = _attempts_before(job, earlier[job.id], keep_s) if job.id in earlier else []
        is_whole = before and not before[0].restarts
        found.append(replace(job, first_submit=before[0].submit_time) if is_whole else job)
        attempts += before
    return found, attempts


def _attempts_before(job: Job, rows: Iterable[Record], keep_s: float) -> list[Job]:
    """The earlier runs of a job that was queued again, as far back as these rows go."""
    runs = [accounted_job(row, restarts=0) for row in rows]
    earlier = sorted(
        (run for run in runs if run.submit_time < job.submit_time), key=lambda run: run.submit_time
    )
    found: list[Job] = []
    submitted = job.submit_time
    for run in reversed(earlier):
        restarts = job.restarts - len(found) - 1
        if restarts < 0 or not _follows(run, job.user, submitted, keep_s):
            break
        found.insert(0, replace(run, id=job.id, restarts=restarts))
        submitted = run.submit_time
    if not found or found[0].restarts:
        return found
    first = found[0].submit_time
    return [replace(run, first_submit=first if run.restarts else None) for run in found]


def _follows(before: Job, user: str, submitted: float, keep_s: float) -> bool:
    """Whether what was submitted then is a run of the same job."""
    ended = before.end_time
    return before.user == user and (
        submitted == before.submit_time or (ended is not None and submitted - ended <= keep_s)
    )
