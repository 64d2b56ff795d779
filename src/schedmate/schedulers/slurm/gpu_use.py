"""What a job's GPUs did, where Slurm measured it (AutoDetect and `jobacct_gather` see to that)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from schedmate.model import GpuUse
from schedmate.schedulers.slurm import parsing, values
from schedmate.schedulers.slurm.job_ids import JOB_ID, checked_id, names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from schedmate.model import Job, JobId
    from schedmate.schedulers.slurm.parsing import Record

FIELDS = ("JobID", "NTasks", "ElapsedRaw", "TRESUsageInMax", "TRESUsageInAve")
_MEMORY, _UTILIZATION = "gres/gpumem", "gres/gpuutil"
_TOGETHER = 200
_Run = tuple[str, int]
"""A job's id, and how often it was started again."""


@dataclass(frozen=True, slots=True)
class _Step:
    seconds: float
    memory_mb: float
    utilization: float | None


class MeasuredRuns:
    """One sacct for many runs that have ended: a daemon that starts anew finds hundreds of them."""

    def __init__(self) -> None:
        self._ended: dict[_Run, Job] = {}
        self._asked: set[_Run] = set()
        self._found: dict[_Run, GpuUse | None] = {}

    def list(self, jobs: list[Job]) -> list[Job]:
        """All jobs that there are, as they are now."""
        ended = (job for job in jobs if job.state.ended and job.request.gpus)
        self._ended = {_run(job): job for job in ended if JOB_ID.fullmatch(job.id)}
        self._asked &= self._ended.keys()
        self._found = {run: use for run, use in self._found.items() if run in self._ended}
        return jobs

    def of(self, job: Job, ask: Callable[..., str]) -> GpuUse | None:
        """A step that accounting has not heard of yet counts not; who asks again asks anew."""
        run = _run(job)
        if run not in self._found:
            others = (other for other in self._ended.items() if other[0] not in self._asked)
            together = {run: job, **dict(islice(others, _TOGETHER))}
            self._found |= _measured(ask, together)
            self._asked |= together.keys()
        return self._found.pop(run)


def _run(job: Job) -> _Run:
    return job.id, job.restarts


def _measured(ask: Callable[..., str], jobs: Mapping[_Run, Job]) -> dict[_Run, GpuUse | None]:
    separator, form = parsing.new_separator(), ",".join(FIELDS)
    which = ["-j", ",".join(checked_id(job.id) for job in jobs.values())]
    answer = ask("sacct", "-a", "-p", *which, f"--delimiter={separator}", "-o", form)
    steps: dict[JobId, list[Record]] = {}
    for record in parsing.table(answer, FIELDS, separator):
        for name in names_of(record["JobID"].partition(".")[0]):
            steps.setdefault(name, []).append(record)
    return {run: gpu_use(steps.get(job.id, ()), job.request.gpus) for run, job in jobs.items()}


def gpu_use(steps: Iterable[Record], gpus: int) -> GpuUse | None:
    """Of a job's steps, as sacct reports them; None where nothing was measured.

    How busy the GPUs were is taken from the steps that had something in their memory, if any had:
    the batch script and what Slurm itself adds only wait.
    """
    measured = [_step(each, gpus) for each in steps]
    measured = [each for each in measured if each.memory_mb or each.utilization is not None]
    if not measured:
        return None
    memory = max(each.memory_mb for each in measured)
    telling = [each for each in measured if each.memory_mb] or measured
    busy = [(e.seconds, e.utilization) for e in telling if e.utilization is not None]
    seconds = sum(each for each, _ in busy)
    used = sum(each * share for each, share in busy) / seconds if seconds else None
    return GpuUse(memory or None, used)


def _step(record: Record, gpus: int) -> _Step:
    """Slurm measures a task: the value of one with several GPUs is their sum."""
    share = _gpus_of_a_task(record["NTasks"], gpus)
    held = values.megabytes(values.tres(record["TRESUsageInMax"]).get(_MEMORY, "")) or 0
    used = values.tres(record["TRESUsageInAve"]).get(_UTILIZATION, "")
    seconds = record["ElapsedRaw"]
    return _Step(
        float(seconds) if seconds.isdecimal() else 0.0,
        held / share,
        min(int(used) / 100 / share, 1.0) if used.isdecimal() else None,
    )


def _gpus_of_a_task(tasks: str, gpus: int) -> float:
    count = int(tasks) if tasks.isdecimal() else 1
    return max(1.0, gpus / max(count, 1))
