"""Which records of Slurm are one job: an array's waiting tasks, a heterogeneous job's parts.

Pure: records in, jobs out.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.model import Job, JobId, JobState
from schedmate.schedulers.slurm.parsing import (
    IsFile,
    Record,
    aged_job,
    het_job,
    is_held,
    queued_job,
    state_of,
)
from schedmate.schedulers.slurm.site import SlurmSite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def array_record(record: Record) -> JobId | None:
    """The array's id for one of its tasks that never ran and is no record of its own yet."""
    array = record["ArrayJobID"]
    is_task = record["JobArrayID"] != array and record["ArrayTaskID"].isdecimal()
    if not is_task or record["JobID"] != array or record["RestartCnt"] != "0":
        return None
    waits = state_of(record) is JobState.PENDING
    return array if waits or (state_of(record).ended and not record["NodeList"]) else None


def task_ranges(numbers: Iterable[int]) -> str:
    """`0-3,7` of 0, 1, 2, 3 and 7."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


@dataclass(frozen=True, slots=True)
class Queue:
    """All that the controller holds."""

    jobs: list[Job]
    arrays: dict[JobId, str]
    """Under an array's id the name of all its tasks that are one record."""
    unfinished: frozenset[JobId]
    """Every record that has not ended, each task and part by itself."""
    listed: frozenset[JobId]
    heterogeneous: frozenset[JobId] = frozenset()
    elsewhere: Mapping[JobId, str] = field(default_factory=dict)
    """Jobs that another cluster of a federation has, and which."""

    def is_several(self, job_id: JobId) -> bool:
        """Whether the id stands for several records of Slurm."""
        return job_id in self.arrays or job_id in self.heterogeneous


@dataclass(slots=True)
class _Row:
    """One record, as far as it has been looked into."""

    id: JobId
    array: JobId | None
    task: int
    whole: JobId | None
    ended: bool
    priority: str
    job: Job | None = None


_AGELESS = ({"PriorityLong": ""}, {"PriorityLong": "0"})
"""What stands for a priority where records are compared; by whether the job is held."""


class QueueReader:
    """Turns records into jobs; a record that is the same as in the last poll is not read again.

    Priorities grow while jobs wait: where nothing else has changed, nothing else is read, and a job
    is the same object until its priority is another one by more than a percent.
    """

    def __init__(self, is_file: IsFile) -> None:
        self._is_file = is_file
        self._site: SlurmSite | None = None
        self._rows: dict[str, _Row] = {}

    def read(
        self,
        records: Iterable[Record],
        site: Callable[[], SlurmSite],
        apart: Container[JobId] = (),
    ) -> Queue:
        """An array's waiting tasks are one job, and so are the parts of a heterogeneous job; a
        task or a part whose own id is in `apart` is shown by itself too.
        """
        before = self._rows
        rows: dict[str, _Row] = {}
        jobs: list[Job] = []
        arrays: dict[JobId, list[int]] = {}
        parts: dict[JobId, list[Job]] = {}
        firsts: dict[JobId, Job] = {}
        for record in records:
            if not rows and (now := site()) is not self._site:
                self._site, before = now, {}
            key = "\0".join((record | _AGELESS[is_held(record)]).values())
            row = rows[key] = before.get(key) or _row(record)
            if row.job is not None and row.priority != record["PriorityLong"]:
                row.job = aged_job(row.job, record, self._site)
                row.priority = record["PriorityLong"]
            if row.array is not None:
                arrays.setdefault(row.array, []).append(row.task)
            by_itself = row.array is None or row.id in apart
            if row.job is None and (by_itself or row.array not in firsts):
                row.job = queued_job(record, self._is_file, self._site)
            if row.job is None:
                continue
            if row.array is not None:
                firsts.setdefault(row.array, row.job)
            if row.whole is not None:
                parts.setdefault(row.whole, []).append(row.job)
            if (by_itself and row.whole is None) or row.id in apart:
                jobs.append(row.job)
        self._rows = rows
        jobs += [joined(whole, found) for whole, found in parts.items()]
        jobs += [
            replace(firsts[array], id=array, tasks=len(tasks), logs=())
            for array, tasks in arrays.items()
        ]
        return Queue(
            jobs,
            {array: f"{array}_[{task_ranges(tasks)}]" for array, tasks in arrays.items()},
            frozenset(row.id for row in rows.values() if not row.ended),
            frozenset(row.id for row in rows.values()),
            frozenset(parts),
            {job.id: job.cluster for job in jobs if job.cluster},
        )


def _row(record: Record) -> _Row:
    array = array_record(record)
    return _Row(
        id=record["JobArrayID"],
        array=array,
        task=-1 if array is None else int(record["ArrayTaskID"]),
        whole=het_job(record),
        ended=state_of(record).ended,
        priority=record["PriorityLong"],
    )


def joined(whole: JobId, parts: Sequence[Job]) -> Job:
    """A heterogeneous job: what its parts have together, and all else as of the first.

    The first part runs the script, and whatever is asked of it is done to all parts.
    """
    first, *_ = ordered = sorted(parts, key=lambda job: int(job.id.partition("+")[2] or 0))
    requests = [job.request for job in ordered]
    types = {one.gpu_type for one in requests if one.gpus}
    limits = [one.time_limit_s for one in requests if one.time_limit_s is not None]
    return replace(
        first,
        id=whole,
        components=tuple(job.id for job in ordered),
        state=_joint_state(ordered),
        nodes=tuple(dict.fromkeys(node for job in ordered for node in job.nodes)),
        end_time=_latest(job.end_time for job in ordered),
        request=replace(
            first.request,
            gpus=sum(one.gpus for one in requests),
            gpu_type=types.pop() if len(types) == 1 else None,
            nodes=sum(one.nodes for one in requests),
            cpus=_sum(one.cpus for one in requests),
            memory_mb=_sum(one.memory_mb for one in requests),
            time_limit_s=min(limits, default=None),
            partition=",".join(_distinct(one.partition or "" for one in requests)) or None,
            required_nodes=tuple(
                _distinct(name for one in requests for name in one.required_nodes)
            ),
            # a node has to have what every part asks for: rather too few nodes than one too many
            features="&".join(_bracketed(_distinct(one.features for one in requests))),
        ),
    )


def _joint_state(parts: Sequence[Job]) -> JobState:
    """It runs while a part runs; it has failed where a part has."""
    states = [job.state for job in parts]
    if JobState.RUNNING in states:
        return JobState.RUNNING
    if JobState.PENDING in states:
        return JobState.PENDING
    return next((state for state in states if state.failed), states[0])


def _bracketed(expressions: list[str]) -> list[str]:
    several = len(expressions) > 1
    return [f"({one})" for one in expressions] if several else expressions


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _latest(times: Iterable[float | None]) -> float | None:
    """None while one is not known."""
    found = list(times)
    known = [time for time in found if time is not None]
    return max(known) if known and len(known) == len(found) else None


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word for word in words if word))
