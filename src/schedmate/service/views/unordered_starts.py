"""Jobs that started before they were ordered, ahead of jobs that had been set back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model import array_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedmate.model import ActionRecord, Job, JobId


@dataclass(frozen=True, slots=True)
class _SetBack:
    """A job that was set back before it started."""

    submitted: float
    at: float
    started: float
    nice: int
    partitions: frozenset[str]


def count_unordered_starts(
    jobs: Iterable[Job], records: Iterable[ActionRecord], *, since: float
) -> int:
    """Of the jobs that started since then: how many stood before one that came earlier and would
    have gone first had both been ordered."""
    ordered: dict[JobId, ActionRecord] = {}
    for record in records:
        if record.action.kind == "set_nice" and record.state == "done":
            ordered.setdefault(record.action.job_id, record)
    known = list(jobs)
    waited = [one for one in (_set_back(job, ordered) for job in known) if one is not None]
    return sum(
        (job.start_time or 0.0) >= since and _goes_ahead(job, ordered, waited) for job in known
    )


def _set_back(job: Job, ordered: dict[JobId, ActionRecord]) -> _SetBack | None:
    record = _order_of(job, ordered)
    if record is None or job.held or job.dependency or job.cluster:
        return None
    started = math.inf if job.start_time is None else job.start_time
    came = max(job.submit_time, job.eligible_time or 0.0)
    nice = int(record.action.value or 0)
    return _SetBack(came, record.at, started, nice, _partitions(job))


def _goes_ahead(job: Job, ordered: dict[JobId, ActionRecord], waited: Sequence[_SetBack]) -> bool:
    start, record = job.start_time, _order_of(job, ordered)
    if start is None or job.cluster or (record is not None and record.at <= start):
        return False
    here = _partitions(job)
    return any(
        one.submitted < job.submit_time
        and one.at < start < one.started
        and job.nice < one.nice
        and not here.isdisjoint(one.partitions)
        for one in waited
    )


def _order_of(job: Job, ordered: dict[JobId, ActionRecord]) -> ActionRecord | None:
    """Its own, or that of the array that it was a part of."""
    return ordered.get(job.id) or ordered.get(array_of(job.id) or "")


def _partitions(job: Job) -> frozenset[str]:
    return frozenset((job.request.partition or "").split(","))
