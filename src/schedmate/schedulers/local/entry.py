"""One job of the queue as its file has it, and as the other parts of SchedMate see it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from schedmate.model.job import Job, JobId, JobState, Request
from schedmate.model.priority import NICE_HOURS, NICE_RANGE
from schedmate.schedulers.local.devices import node_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schedmate.model.job import Submission

SECONDS_A_NICE = NICE_HOURS * 3600.0 / NICE_RANGE
"""How long a job waits to make up for one nice number: the whole range for a week of it."""


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """What every task of an array knows of the whole; `most` of its tasks run at once."""

    count: int
    first: int
    last: int
    step: int = 1
    most: int | None = None

    @classmethod
    def of(cls, submission: Submission) -> ArrayShape | None:
        """None where it is no array."""
        indices = [task.index for task in submission.tasks]
        if not indices:
            return None
        steps = {after - before for before, after in pairwise(indices)}
        step = steps.pop() if len(steps) == 1 else 1
        return cls(len(indices), min(indices), max(indices), step, submission.most_tasks)


@dataclass(frozen=True, slots=True)
class EndedFolders:
    """Of a job, or of all tasks of an array, whose last end was then."""

    numbers: tuple[int, ...]
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """A row of the queue. `ending` is what a running job is being ended for."""

    id: int
    name: str
    user: str
    workdir: str
    command: tuple[str, ...]
    script: str | None
    request: Request
    stdout: str
    stderr: str
    nice: int
    state: JobState
    submit_time: float
    eligible_time: float
    start_time: float | None
    end_time: float | None
    exit_code: int | None
    signal: int | None
    restarts: int
    slots: tuple[str, ...]
    """The names of the GPUs that its run has."""
    ending: str | None
    signalled_at: float | None
    reason: str
    held: bool
    array_id: int | None = None
    task: int | None = None
    shape: ArrayShape | None = None
    dependency: str = ""
    """As it was asked for, in Slurm's words."""
    options: dict[str, str] = field(default_factory=dict)
    top_at: float | None = None
    """When somebody put it before the others."""
    predicted_s: float | None = None
    """Nine of ten such jobs run no longer."""
    backfilled: bool = False
    """Whether its run was started before a job that waited for more room."""

    @property
    def job_id(self) -> JobId:
        """`12`, or `12_3` for a task of array 12."""
        return str(self.id) if self.array_id is None else f"{self.array_id}_{self.task}"

    @property
    def spool_id(self) -> int:
        """Under which its script and environment are kept: all tasks of an array share them."""
        return self.id if self.array_id is None else self.array_id

    @property
    def cores(self) -> int:
        """A job with GPUs takes cores only where it asks for some."""
        return self.request.cpus or (0 if self.request.gpus else 1)

    @property
    def memory_mb(self) -> int:
        """What is kept free for it: nothing where it does not say how much it needs."""
        return self.request.memory_mb or 0

    @property
    def is_exclusive(self) -> bool:
        """No other job runs beside it."""
        return "exclusive" in self.options

    @property
    def logs(self) -> tuple[str, str]:
        """Where this run writes; every run has files of its own, so that lines stay quotable."""
        return self._logs_of(self.restarts)

    def _logs_of(self, restarts: int) -> tuple[str, str]:
        return _of_run(self.stdout, restarts), _of_run(self.stderr, restarts)

    def as_job(self, node: str, most_nice: int, dependency: str = "") -> Job:
        """`dependency` is what it still waits for."""
        return Job(
            id=self.job_id,
            name=self.name,
            user=self.user,
            state=self.state,
            workdir=self.workdir,
            command=self.command,
            script=self.script,
            request=self.request,
            submit_time=self.submit_time,
            first_submit=self.submit_time,
            start_time=self.start_time,
            end_time=self.end_time,
            exit_code=self.exit_code,
            signal=self.signal,
            restarts=self.restarts,
            nodes=self._nodes(node),
            logs=tuple(dict.fromkeys(self.logs)),
            earlier_logs=tuple(
                dict.fromkeys(
                    log
                    for restarts in range(self.restarts - 1, -1, -1)
                    for log in self._logs_of(restarts)
                    if log != os.devnull
                )
            ),
            nice=self.nice,
            most_nice=None if self.held or self.state is not JobState.PENDING else most_nice,
            nice_an_hour=3600.0 / SECONDS_A_NICE,
            can_requeue="interactive" not in self.options,
            eligible_time=self._begins(),
            reason=self.reason,
            comment=self.options.get("comment", ""),
            held=self.held and self.state is JobState.PENDING,
            dependency=dependency,
        )

    def _nodes(self, host: str) -> tuple[str, ...]:
        """Each GPU that it has or had is a node, else the machine is."""
        if self.state is JobState.PENDING:
            return ()
        return tuple(dict.fromkeys(node_of(host, name) for name in self.slots)) or (host,)

    def _begins(self) -> float | None:
        """A job that was queued again may have to wait for a while."""
        delayed = self.state is JobState.PENDING and self.eligible_time > self.submit_time
        return self.eligible_time if delayed else None

    @property
    def never_ran(self) -> bool:
        """Whether nothing tells it from the other tasks of its array that have not run."""
        return self.restarts == 0 and self.start_time is None


def fold_tasks(entries: Iterable[QueueEntry], jobs: Iterable[Job]) -> list[Job]:
    """The jobs of these entries; tasks of an array that have not run and do not differ are one."""
    pairs = list(zip(entries, jobs, strict=True))
    alike: dict[tuple[object, ...], list[Job]] = {}
    for entry, job in pairs:
        if entry.array_id is not None and entry.never_ran:
            alike.setdefault(_common(entry.array_id, job), []).append(job)
    chosen = _one_an_array(alike)
    listed: dict[JobId, Job] = {}
    for entry, job in pairs:
        whole = chosen.get(_common(entry.array_id, job)) if entry.never_ran else None
        listed.setdefault(whole.id if whole else job.id, whole or job)
    return list(listed.values())


def _one_an_array(alike: Mapping[tuple[object, ...], list[Job]]) -> dict[tuple[object, ...], Job]:
    """Only one group of an array can have its number: one that waits, and the largest."""
    best: dict[object, tuple[object, ...]] = {}
    for key, jobs in alike.items():
        other = alike.get(best.get(key[0], ()), [])
        if len(jobs) > 1 and (not other or _weight(jobs) > _weight(other)):
            best[key[0]] = key
    return {
        key: replace(alike[key][0], id=str(array), tasks=len(alike[key]), logs=())
        for array, key in best.items()
    }


def _weight(jobs: list[Job]) -> tuple[bool, int]:
    return jobs[0].state is JobState.PENDING, len(jobs)


def _common(array_id: int | None, job: Job) -> tuple[object, ...]:
    state = (job.state, job.held, job.nice, job.eligible_time, job.dependency)
    return (array_id, *state, job.command, job.request)


def _of_run(log: str, restarts: int) -> str:
    return f"{log}.attempt-{restarts + 1}" if restarts and log != os.devnull else log
