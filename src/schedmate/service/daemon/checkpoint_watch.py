"""When a running job has just saved: a line of its log says so, or its files are whole and still.

A line in the past tense is enough; of one that says that it is saving now, or of a job that writes
nothing about it, the files have to be the same at two polls.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedmate.core import CheckpointSeen
from schedmate.files import files_of
from schedmate.model import Checkpoint, JobState
from schedmate.model.processor_budget import ProcessorBudget
from schedmate.service.daemon.checkpoint_files import SavedFiles, newest_below, saved_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.model import Job, JobId, Progress, Workload

_APART_S = 2.0
"""So long files have to be the same, ..."""
_SEARCH_EVERY_S = 10.0
"""... and so often they are searched for, where no line says that there are new ones."""
_LONGEST_LOOK_S, _LONGEST_WAIT_S = 0.1, 1.0
"""For all jobs of one poll, of the processor and by the clock."""


@dataclass(slots=True)
class _Watched:
    attempt: int
    stated: Checkpoint | None = None
    """The newest that its log told of, as far as that was handled."""
    counted: float | None = None
    """How far it was at the poll before."""
    files: SavedFiles | None = None
    seen_at: float = 0.0
    least: float | None = None
    """How far it was before these files were seen, so that this much is in them."""
    searched_at: float = float("-inf")
    saved: Checkpoint | None = None
    """The newest that is complete."""

    @property
    def is_handled(self) -> bool:
        """Whether the files that were seen last are those of the newest checkpoint."""
        if self.files is None:
            return True
        return self.saved is not None and self.saved.saved_at == self.files.newest


class CheckpointWatch:
    """`wanted` says of which jobs it matters: what others save is not looked for."""

    def __init__(self, wanted: Callable[[Job], bool]) -> None:
        self._wanted = wanted
        self._watched: dict[JobId, _Watched] = {}
        self._budget = ProcessorBudget(_LONGEST_LOOK_S, _LONGEST_WAIT_S)

    def begin_poll(self) -> None:
        self._budget = ProcessorBudget(_LONGEST_LOOK_S, _LONGEST_WAIT_S)

    def forget(self, job_id: JobId) -> None:
        self._watched.pop(job_id, None)

    def with_saved(self, job: Job, progress: Progress) -> Progress:
        """The progress with the newest checkpoint that is known of this run."""
        one = self._watched.get(job.id)
        if one is None or one.attempt != job.restarts or one.saved is None:
            return progress
        return replace(progress, checkpoint=one.saved)

    def look(
        self, job: Job, workload: Workload | None, progress: Progress, now: float
    ) -> CheckpointSeen | None:
        """Whether there is a checkpoint now that was not there at the poll before."""
        if job.state is not JobState.RUNNING or not self._wanted(job):
            return None
        one = self._watched.get(job.id)
        if one is None or one.attempt != job.restarts:
            one = self._watched[job.id] = _Watched(job.restarts)
        found = None
        if progress.phase != "checkpointing":
            found = self._complete(one, job, workload, progress, now)
        one.counted = progress.current if progress.unit == "step" else None
        if found is None:
            return None
        one.saved = found
        if found.saved_at is None:
            return None
        return CheckpointSeen(now, job.id, job.restarts, min(now, found.saved_at), found.step)

    def _complete(
        self, one: _Watched, job: Job, workload: Workload | None, progress: Progress, now: float
    ) -> Checkpoint | None:
        stated = progress.checkpoint
        news = stated if stated != one.stated else None
        every_s = _SEARCH_EVERY_S if one.is_handled else 0.0
        if self._budget.is_spent or (news is None and now - one.searched_at < every_s):
            return None
        one.searched_at, one.stated = now, stated
        files = self._files(job, workload, stated)
        if files is not None and files.newest < (job.start_time or 0.0):
            files = None  # an earlier run's
        if news is not None and not news.saving and (files is None or not files.unfinished):
            one.files, one.least = files, one.counted
            return self._known(one, news, files, news.saved_at if files is None else files.newest)
        return None if files is None else self._still(one, stated, files, now)

    def _still(
        self, one: _Watched, stated: Checkpoint | None, files: SavedFiles, now: float
    ) -> Checkpoint | None:
        """Files that were the same at the poll before, and are not handled yet."""
        if files != one.files:
            one.files, one.seen_at, one.least = files, now, one.counted
            return None
        settled = now - max(one.seen_at, files.newest) >= _APART_S
        if one.is_handled or not settled or files.unfinished or not files.size:
            return None
        of_line = stated is not None and stated.path is not None
        return self._known(one, stated if of_line else None, files, files.newest)

    def _known(
        self, one: _Watched, stated: Checkpoint | None, files: SavedFiles | None, at: float | None
    ) -> Checkpoint:
        """With the step that line or name state, else the last one that is surely in it."""
        step = None if stated is None else stated.step
        if step is None and files is not None:
            step = files.step
        if step is None and one.least is not None:
            step = int(one.least)
        path = (None if stated is None else stated.path) if files is None else files.path
        return Checkpoint(path=path, step=step, saved_at=at)

    def _files(
        self, job: Job, workload: Workload | None, stated: Checkpoint | None
    ) -> SavedFiles | None:
        reader = files_of(job.user)
        if stated is not None and stated.path is not None:
            return saved_at(reader, _within(job, stated.path))
        place = None if workload is None else workload.checkpoint_dir
        return None if place is None else newest_below(reader, _within(job, place.value))


def _within(job: Job, path: str) -> str:
    return os.path.normpath(f"{job.workdir}/{path}") if not path.startswith("/") else path
