"""What suspects do: by the scheduler, by their files, and what kind of job they are."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.core import is_interactive
from schedmate.model import Activity, SchedMateError, SchedulerUnreachable
from schedmate.schedulers.base import MeasuresActivity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.model import Job, JobId
    from schedmate.schedulers.base import Scheduler

_MOST_FILES = 20_000
_LONGEST_WALK_S = 1.0
_log = logging.getLogger("schedmate.activity")


class Activities:
    """`own_files` is where SchedMate itself writes: that is no sign of life of a job."""

    def __init__(self, scheduler: Scheduler, own_files: Path | None = None) -> None:
        self._scheduler = scheduler
        self._own_files = own_files
        self._interactive: dict[tuple[JobId, float], bool] = {}

    def of(self, suspects: Sequence[Job], running: Sequence[Job]) -> dict[JobId, Activity]:
        """One look at all suspects; those that cannot be looked at now are left out."""
        try:
            measured = self._measured(suspects)
            return {job.id: self._whole(job, measured, running) for job in suspects}
        except SchedMateError as error:
            _log.warning("what the suspects do cannot be measured now: %s", error)
            return {}

    def interactive(self, job: Job) -> bool:
        """Whether its silence means nothing; one whose script is unknown is not touched either."""
        key = (job.id, job.submit_time)
        if key not in self._interactive:
            self._interactive[key] = self._is_interactive(job)
        return self._interactive[key]

    def forget(self, listed: set[JobId]) -> None:
        self._interactive = {
            key: known for key, known in self._interactive.items() if key[0] in listed
        }

    def _is_interactive(self, job: Job) -> bool:
        try:
            script = self._scheduler.script(job.id)
        except SchedulerUnreachable:
            raise
        except SchedMateError:  # Slurm has none of a job that is no batch job
            return True
        return is_interactive(job.name, job.command, script)

    def _measured(self, suspects: Sequence[Job]) -> dict[JobId, Activity]:
        if isinstance(self._scheduler, MeasuresActivity):
            return self._scheduler.activity(suspects)
        return {}

    def _whole(self, job: Job, measured: dict[JobId, Activity], running: Sequence[Job]) -> Activity:
        known = measured.get(job.id, Activity())
        if self.interactive(job):
            return replace(known, interactive=True)
        # files in a directory of several jobs may be anybody's; without CPU time they count
        if known.cpu_s is not None and _shared(job, running):
            return known
        return replace(known, files_at=newest_change(Path(job.workdir), self._own_files))


def _shared(job: Job, running: Sequence[Job]) -> bool:
    own = Path(job.workdir)
    others = (Path(other.workdir) for other in running if other.id != job.id)
    return any(own.is_relative_to(other) or other.is_relative_to(own) for other in others)


def newest_change(directory: Path, leave_out: Path | None = None) -> float | None:
    """When a file below it last changed, as far as a bounded look finds; hidden ones aside."""
    until = time.monotonic() + _LONGEST_WALK_S
    newest = None
    for count, entry in enumerate(_files(directory, leave_out)):
        if count >= _MOST_FILES or time.monotonic() > until:
            break
        try:
            changed = entry.stat(follow_symlinks=False).st_mtime
        except OSError:
            continue
        newest = changed if newest is None else max(newest, changed)
    return newest


def _files(directory: Path, leave_out: Path | None) -> Iterator[os.DirEntry[str]]:
    """Level by level: what a job writes lies near the top, what it reads may be deep and large."""
    level = [str(directory)]
    while level:
        below: list[str] = []
        for folder in level:
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.name.startswith(".") or Path(entry.path) == leave_out:
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            below.append(entry.path)
                        elif entry.is_file(follow_symlinks=False):
                            yield entry
            except OSError:
                continue
        level = below
