"""A run whose logs are followed, with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.files import files_of
from schedmate.service.joblogs import logs_of
from schedmate.service.likeness import profiles_like
from schedmate.tracker import JobTracker

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.model import Job, LearnedPattern
    from schedmate.store import KeptAdvice, Store


@dataclass(slots=True)
class Followed:
    job: Job
    kept: KeptAdvice | None
    logs: tuple[Path, ...]
    tracker: JobTracker
    pattern: LearnedPattern | None
    """How the logs of its code are read, as far as it is remembered."""
    looked_at: float = 0.0
    told_at: float = 0.0
    saved_at: float = 0.0

    @property
    def code(self) -> str | None:
        return _code(self.kept)


def _code(kept: KeptAdvice | None) -> str | None:
    return None if kept is None or kept.fingerprint is None else kept.fingerprint.code


def follow(job: Job, store: Store, state: str | None = None) -> Followed:
    """A tracker of this run that goes on where the last one stopped, with all that is known."""
    kept, state = store.advice(job.id), state or store.tracking(job.id, job.restarts)
    code = _code(kept)
    given = None if code is None else store.learned_pattern(code)
    logs = logs_of(job, None if kept is None else kept.advice.workload)
    tracker = JobTracker(
        logs,
        started_at=job.start_time,
        workload=None if kept is None else kept.advice.workload,
        prediction=None if kept is None else kept.advice.prediction,
        similar=profiles_like(kept, store),
        limit_s=job.request.time_limit_s,
        pattern=given,
        state=state,
        reader=files_of(job.user),
    )
    return Followed(job, kept, logs, tracker, given if state is None else tracker.pattern)
