"""The ids of Slurm's jobs: `12`, a task `12_3`, a part of a heterogeneous job `12+1`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedmate.model import NotFound

if TYPE_CHECKING:
    from schedmate.model import Job, JobId

JOB_ID = re.compile(r"[0-9]+([_+][0-9]+)?")


def whole_id(job_id: JobId) -> JobId:
    """`12` of the step `12.batch` and of the tasks `12_[3-5%2]`."""
    return job_id.partition(".")[0].partition("_[")[0]


def names_of(job_id: JobId) -> set[JobId]:
    """`12_3` answers to 12 as well."""
    return {job_id, re.split("[_+]", job_id)[0]}


def checked_id(job_id: JobId) -> JobId:
    if not JOB_ID.fullmatch(job_id):
        raise NotFound(f"{job_id!r} is no Slurm job id")
    return job_id


def only(ids: set[JobId] | None, jobs: list[Job]) -> list[Job]:
    return jobs if ids is None else [job for job in jobs if names_of(job.id) & ids]
