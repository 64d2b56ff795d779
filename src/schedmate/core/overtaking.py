"""By how much each waiting job is late because jobs went first that its scheduler puts behind it.

Their GPU time over the GPUs of the partition: that much sooner would it have started without them,
were all GPUs always in use. A run counts from its start as predicted, and from its end as it was.
Nothing of it depends on what is predicted of the job that waits. What the scheduler alone would
have let ahead by backfill counts as well, and so does how long a job had waited when it was first
seen.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import Job, JobId

_HOUR_S = 3600.0
_UNKNOWN_S = _HOUR_S
"""Of a run of which nothing is predicted, until it has ended."""
_FEW = 64
_NOBODY = ""


@dataclass(frozen=True, slots=True)
class _Run:
    """Where its scheduler alone had put it, since when it runs, and what was counted of it."""

    key: float
    at: float
    gpus: int
    counted_s: float
    late_s: float
    """When it started; it waits on with that if it is queued again."""


class _Partition:
    """What waits, in columns; a row that nobody has has an infinite key."""

    def __init__(self) -> None:
        import numpy as np  # noqa: PLC0415 - slow to import, and most verbs order nothing

        self._np = np
        self.ids: list[JobId] = []
        self._free: list[int] = []
        self.keys = np.full(_FEW, np.inf)
        self.since = np.full(_FEW, np.inf)
        self.late_s = np.full(_FEW, -np.inf)
        self.told = np.zeros(_FEW, dtype=bool)
        self.in_use = 0
        self.gpus = 1
        """The most that were in use at once."""

    def add(self, job_id: JobId, at: float, late_s: float) -> int:
        if self._free:
            row = self._free.pop()
            self.ids[row] = job_id
        else:
            row = len(self.ids)
            self.ids.append(job_id)
            if row == len(self.keys):
                self._grow()
        self.since[row], self.late_s[row], self.told[row] = at, late_s, False
        return row

    def _grow(self) -> None:
        more, np = len(self.keys), self._np
        self.keys = np.append(self.keys, np.full(more, np.inf))
        self.since = np.append(self.since, np.full(more, np.inf))
        self.late_s = np.append(self.late_s, np.full(more, -np.inf))
        self.told = np.append(self.told, np.zeros(more, dtype=bool))

    def remove(self, row: int) -> None:
        self.keys[row] = self.since[row] = self._np.inf
        self.late_s[row], self.ids[row] = -self._np.inf, _NOBODY
        self._free.append(row)

    def charge(self, run: _Run, seconds: float) -> None:
        """To all that waited as it started and wait still."""
        ahead = (self.keys < run.key) & (self.since <= run.at)
        self.late_s[ahead] += run.gpus * seconds / self.gpus

    def beyond(self, bound_s: float) -> list[JobId]:
        """Those that have become later than that."""
        rows = self._np.flatnonzero((self.late_s >= bound_s) & ~self.told)
        self.told[rows] = True
        return [self.ids[row] for row in rows.tolist()]


class Overtaking:
    """Of all jobs; told of each whenever it is seen."""

    def __init__(self) -> None:
        self._partitions: defaultdict[str, _Partition] = defaultdict(_Partition)
        self._waiting: dict[JobId, tuple[_Partition, int]] = {}
        self._running: dict[JobId, tuple[_Partition, _Run]] = {}

    def _of(self, job: Job) -> _Partition:
        """A job that names several waits in the first of them."""
        return self._partitions[(job.request.partition or "").partition(",")[0]]

    def waits(self, job: Job, own_nice: int, at: float) -> None:
        if job.id not in self._waiting:
            late_s = self._stop(job.id, at)
            if late_s is None:
                late_s = max(0.0, at - max(job.submit_time, job.eligible_time or 0.0))
            part = self._of(job)
            self._waiting[job.id] = part, part.add(job.id, at, late_s)
        part, row = self._waiting[job.id]
        part.keys[row] = plain_key(job, own_nice, at)

    def starts(self, job: Job, expected_s: float | None, at: float) -> None:
        if job.id in self._running:
            return
        part, key, late_s = self._of(job), float("-inf"), 0.0
        if job.id in self._waiting:
            waited_in, row = self._waiting.pop(job.id)
            key, late_s = float(waited_in.keys[row]), float(waited_in.late_s[row])
            waited_in.remove(row)
        counted_s = _UNKNOWN_S if expected_s is None else expected_s
        run = _Run(key, at, max(1, job.request.gpus), counted_s, late_s)
        self._running[job.id] = part, run
        part.in_use += run.gpus
        part.gpus = max(part.gpus, part.in_use)
        part.charge(run, counted_s)

    def ends(self, job_id: JobId, at: float) -> None:
        """Or is not known any more."""
        self._stop(job_id, at)
        if job_id in self._waiting:
            part, row = self._waiting.pop(job_id)
            part.remove(row)

    def _stop(self, job_id: JobId, at: float) -> float | None:
        if job_id not in self._running:
            return None
        part, run = self._running.pop(job_id)
        part.in_use -= run.gpus
        part.charge(run, at - run.at - run.counted_s)
        return run.late_s

    def late_s(self, job_id: JobId) -> float:
        if job_id not in self._waiting:
            return 0.0
        part, row = self._waiting[job_id]
        return float(part.late_s[row])

    def all_late_s(self) -> dict[JobId, float]:
        """Of all jobs that wait."""
        return {job_id: float(part.late_s[row]) for job_id, (part, row) in self._waiting.items()}

    def beyond(self, job: Job, bound_s: float) -> list[JobId]:
        """Those of its partition that have become later than that."""
        return self._of(job).beyond(bound_s)


def plain_key(job: Job, own_nice: int, at: float) -> float:
    """By which its scheduler alone orders, smaller first, whenever it is asked: age grows alike
    for all."""
    an_hour = job.nice_an_hour
    if an_hour is None:
        return job.submit_time
    if job.priority is None:
        return own_nice + an_hour * job.submit_time / _HOUR_S
    return own_nice - job.nice - job.priority + an_hour * at / _HOUR_S
