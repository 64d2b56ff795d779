"""What suspects do: by the scheduler, by their files, and what kind of job they are."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.core import is_interactive
from schedmate.files import files_of
from schedmate.model import Activity, JobState, SchedMateError, SchedulerUnreachable
from schedmate.schedulers.base import KnowsOpenFiles, MeasuresActivity
from schedmate.service.daemon.file_changes import Change, Writers, changes_below

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from schedmate.model import Job, JobId
    from schedmate.schedulers.base import Scheduler

_MOST_ASKED = 50
"""Scripts of runs that may be stopped, in one poll: each is a question to the scheduler."""
_log = logging.getLogger("schedmate.activity")


class Activities:
    """`own_files` is where SchedMate itself writes: that is no sign of life of a job."""

    def __init__(self, scheduler: Scheduler, own_files: Path | None = None) -> None:
        self._scheduler = scheduler
        self._own_files = None if own_files is None else str(own_files)
        self._interactive: dict[tuple[JobId, float], bool] = {}
        self._asked = 0

    def of(self, suspects: Sequence[Job], listed: Sequence[Job]) -> dict[JobId, Activity]:
        """One look at all suspects; those that cannot be looked at now are left out."""
        try:
            measured = self._measured(suspects)
            silent = [job for job in suspects if not self.interactive(job)]
            files_at = self._files_at(silent, listed)
            return {
                job.id: replace(
                    measured.get(job.id, Activity()),
                    interactive=job not in silent,
                    files_at=files_at.get(job.id),
                )
                for job in suspects
                if job.id in files_at or job not in silent
            }
        except SchedMateError as error:
            _log.warning("what the suspects do cannot be measured now: %s", error)
            return {}

    def interactive(self, job: Job) -> bool:
        """Whether its silence means nothing; one whose script is unknown is not touched either."""
        key = (job.id, job.submit_time)
        if key not in self._interactive:
            self._interactive[key] = self._is_interactive(job)
        return self._interactive[key]

    def begin_poll(self) -> None:
        self._asked = 0

    def may_be_stopped(self, job: Job) -> bool:
        """Whether it is known not to be interactive; of thousands some are asked about later."""
        if (job.id, job.submit_time) not in self._interactive:
            if self._asked >= _MOST_ASKED:
                return False
            self._asked += 1
        return not self.interactive(job)

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

    def _opened(self, listed: Sequence[Job]) -> dict[JobId, frozenset[str]]:
        if not isinstance(self._scheduler, KnowsOpenFiles):
            return {}
        return self._scheduler.written_files(
            [job for job in listed if job.state is JobState.RUNNING]
        )

    def _files_at(
        self, suspects: Sequence[Job], listed: Sequence[Job]
    ) -> dict[JobId, float | None]:
        """With one walk for all jobs of a user in a directory; one that takes too long counts for
        none of them."""
        writers = Writers(listed, self._opened(listed) if suspects else None)
        walked: dict[tuple[str, str], list[Change] | None] = {}
        found = {}
        for job in suspects:
            place = job.user, job.workdir
            if place not in walked:
                walked[place] = changes_below(files_of(job.user), job.workdir, self._own_files)
            changes = walked[place]
            if changes is not None:
                found[job.id] = writers.newest_of(job, changes)
        return found
