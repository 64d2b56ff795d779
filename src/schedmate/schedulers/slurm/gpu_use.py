"""What a job's GPUs did, where Slurm measured it (AutoDetect and `jobacct_gather` see to that)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model import GpuUse
from schedmate.schedulers.slurm import parsing, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from schedmate.model import JobId
    from schedmate.schedulers.slurm.parsing import Record

FIELDS = ("JobID", "NTasks", "ElapsedRaw", "TRESUsageInMax", "TRESUsageInAve")
_MEMORY, _UTILIZATION = "gres/gpumem", "gres/gpuutil"


@dataclass(frozen=True, slots=True)
class _Step:
    seconds: float
    memory_mb: float
    utilization: float | None


def measured(ask: Callable[..., str], job_id: JobId, gpus: int) -> GpuUse | None:
    """One sacct; a step that accounting has not heard of yet counts not."""
    separator, form = parsing.new_separator(), ",".join(FIELDS)
    which = ["-j", job_id, f"--delimiter={separator}", "-o", form]
    return gpu_use(parsing.table(ask("sacct", "-a", "-p", *which), FIELDS, separator), gpus)


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
