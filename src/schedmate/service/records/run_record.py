"""How a run went, by its tracker or by the logs it has left."""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.files import files_of
from schedmate.model import Mark, PastRun, RunProfile, SchedMateError, Workload
from schedmate.schedulers.base import MeasuresGpus
from schedmate.service.records.log_files import logs_of
from schedmate.tracker import track_and_profile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from schedmate.files import Reader
    from schedmate.model import GpuUse, Job, Progress, RunCourse, Unit
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import KeptAdvice

_MOST_LOGS = 4
_MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class EndedRun:
    """The last progress of a run that was tracked to its end, and its profile."""

    progress: Progress
    profile: RunProfile | None
    course: RunCourse | None = None


@dataclass(frozen=True, slots=True)
class ReadRun:
    """What the logs of a run that nobody tracked show of it."""

    profile: RunProfile | None
    complete: bool


def measured_gpus(scheduler: Scheduler, job: Job) -> GpuUse | None:
    """What the scheduler measured, None where it measures nothing or cannot be asked."""
    if isinstance(scheduler, MeasuresGpus):
        with suppress(SchedMateError):
            return scheduler.gpu_use(job)
    return None


def run_that_ended(
    job: Job, kept: KeptAdvice | None, ended: EndedRun | None, measured: GpuUse | None = None
) -> PastRun:
    """The record for the history; `ended` is None where the run was not tracked."""
    workload = Workload() if kept is None else kept.advice.workload
    if ended is None:
        read = read_ended(job, workload)
        profile, complete, saved = read.profile, read.complete, None
        unit, done = _counted(profile)
        course = resume = None
    else:
        progress, profile = ended.progress, ended.profile
        unit, done, saved = progress.unit, progress.current, progress.checkpoint
        complete, course, resume = progress.complete, ended.course, progress.resume
    return PastRun(
        job=job,
        fingerprint=None if kept is None else kept.fingerprint,
        workload=workload,
        steps_done=done,
        steps_unit=unit,
        checkpoint_step=None if saved is None else saved.step,
        course=course,
        resume=resume,
        complete=complete,
        profile=profile,
        gpu_memory_mb=None if measured is None else measured.memory_mb,
        gpu_utilization=None if measured is None else measured.utilization,
    )


def _counted(profile: RunProfile | None) -> tuple[Unit | None, float | None]:
    if profile is None or profile.unit == "line" or not profile.curve:
        return None, None
    return profile.unit, profile.done


def read_ended(job: Job, workload: Workload) -> ReadRun:
    """The fullest profile in its logs; None where they are gone, huge or say nothing.

    Where no line has a time, how much was done in the whole of the run is known at least.
    """
    found: list[RunProfile] = []
    complete = False
    reader = files_of(job.user)
    for path in _logs(job, workload):
        with suppress(SchedMateError, OSError):
            progress, profile = track_and_profile(path, reader)
            complete = complete or progress.complete
            if profile is None or profile.unit == "line":
                profile = _as_a_whole(progress, job.run_time_s) or profile
            found += [] if profile is None else [profile]
    return ReadRun(max(found, key=_worth, default=None), complete)


def _as_a_whole(progress: Progress, run_time_s: float | None) -> RunProfile | None:
    if not run_time_s or progress.unit is None or not progress.current:
        return None
    return RunProfile(
        unit=progress.unit,
        curve=(Mark(run_time_s, progress.current),),
        total=progress.total,
        ends_by=progress.ends_by if progress.phase == "finished" else "unknown",
    )


def _logs(job: Job, workload: Workload) -> Iterator[Path]:
    left, reader = _MOST_BYTES, files_of(job.user)
    for path in logs_of(job, workload)[:_MOST_LOGS]:
        size = _size(path, reader)
        if size is not None and size <= left:
            left -= size
            yield path


def _size(path: Path, reader: Reader) -> int | None:
    try:
        found = reader.stat(str(path))
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _worth(profile: RunProfile) -> tuple[bool, bool, int]:
    return profile.unit != "line", profile.total is not None, len(profile.curve)
