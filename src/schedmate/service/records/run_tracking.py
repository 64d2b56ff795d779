"""The tracker of a run, with all that is known of the run and of similar ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.files import files_of
from schedmate.logs import open_regular
from schedmate.model import EarlierRun, JobState, RunCourse
from schedmate.service.records.log_files import logs_of
from schedmate.tracker import JobTracker
from schedmate.tracker.forecasting.step_schedule import schedule_of_code

if TYPE_CHECKING:
    from schedmate.model import Job, JobId, LearnedPattern, PastRun, RunProfile
    from schedmate.store import KeptAdvice, Store
    from schedmate.tracker.forecasting.step_schedule import StepSchedule

_MOST_PROFILES = 8
_MOST_CODE = 1 << 20


@dataclass(slots=True)
class TrackedRun:
    """`pattern` is how the logs of its code are read, as far as that is stored.

    The times are those of the last look, and of the last write of progress and tracker state.
    """

    job: Job
    kept: KeptAdvice | None
    logs: tuple[Path, ...]
    tracker: JobTracker
    pattern: LearnedPattern | None
    looked_at: float = 0.0
    progress_kept_at: float = 0.0
    state_kept_at: float = 0.0

    @property
    def code(self) -> str | None:
        return _code(self.kept)


def track_run(job: Job, store: Store, state: str | None = None) -> TrackedRun:
    """A tracker of this run that continues where the last one stopped."""
    kept, state = store.advice(job.id), state or store.tracking(job.id, job.restarts)
    code = _code(kept)
    given = None if code is None else store.learned_pattern(code)
    logs = logs_of(job, None if kept is None else kept.advice.workload)
    # a scheduler may let all runs of a job write to one log
    whole = not job.restarts or bool(job.earlier_logs) or state is not None
    tracker = JobTracker(
        logs,
        started_at=job.start_time,
        workload=None if kept is None else kept.advice.workload,
        prediction=None if kept is None else kept.advice.prediction,
        similar=similar_profiles(kept, store),
        limit_s=job.request.time_limit_s,
        schedule=_schedule(job, kept),
        pattern=given,
        state=state,
        reader=files_of(job.user),
        whole=whole,
        after=_run_before(job, kept, store),
    )
    return TrackedRun(job, kept, logs, tracker, given if state is None else tracker.pattern)


def _schedule(job: Job, kept: KeptAdvice | None) -> StepSchedule | None:
    """By which the steps of its code grow, where the code that the advisor read states it."""
    entry = None if kept is None else kept.advice.workload.entry_point
    if entry is None or not entry.value.endswith(".py"):
        return None
    try:
        with open_regular(Path(job.workdir, entry.value), files_of(job.user)) as source:
            text = source.read(_MOST_CODE).decode(errors="replace")
    except (OSError, ValueError):
        return None
    return schedule_of_code(text)


def _run_before(job: Job, kept: KeptAdvice | None, store: Store) -> EarlierRun | None:
    """The run that this one may go on from: the job's own, or the last of the same command in the
    same directory that was not complete."""
    if job.restarts:
        found = store.run(job.id, job.restarts - 1)
        return None if found is None else _left_by(found, same_job=True)
    if kept is None or kept.fingerprint is None:
        return None
    last = store.run_before(job, kept.fingerprint)
    return None if last is None or last.complete else _left_by(last, same_job=False)


def _left_by(run: PastRun, *, same_job: bool) -> EarlierRun:
    return EarlierRun(
        unit=run.steps_unit,
        done=run.steps_done,
        saved=run.checkpoint_step,
        saves=run.checkpoint_step is not None,
        course=run.course or RunCourse(),
        took_s=run.duration_s if same_job else 0.0,
        same_job=same_job,
    )


def similar_profiles(kept: KeptAdvice | None, store: Store) -> tuple[RunProfile, ...]:
    """Of the runs most similar to this job that completed, the most similar first.

    The same code with the same arguments, with other arguments, then the predictor's matches.
    """
    if kept is None:
        return ()
    found: dict[tuple[JobId, int, float], RunProfile] = {}
    if kept.fingerprint is not None:
        found = store.completed_profiles(kept.fingerprint, limit=_MOST_PROFILES)
    for match in kept.advice.prediction.matches:
        if len(found) >= _MOST_PROFILES:
            break
        run = store.run(match.job)
        if run is not None and run.job.state is JobState.COMPLETED and run.profile is not None:
            key = run.job.id, run.job.restarts, run.job.submit_time
            found.setdefault(key, run.profile)
    return tuple(found.values())


def _code(kept: KeptAdvice | None) -> str | None:
    return None if kept is None or kept.fingerprint is None else kept.fingerprint.code
