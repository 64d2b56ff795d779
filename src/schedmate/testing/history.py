"""A history and a workload cache in memory, for tests of what learns from the past."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from schedmate.model import Fingerprint, Job, JobState, PastRun, Request, Workload


@dataclass(slots=True)
class MemoryHistory:
    """Fulfils `History` and `ReadingCache`; counts what it was asked."""

    runs: list[PastRun] = field(default_factory=list)
    readings: dict[str, str] = field(default_factory=dict)
    cache_misses: int = 0
    reasons: dict[str, str] = field(default_factory=dict)
    """What failed runs died of, by job."""

    def add(self, *runs: PastRun) -> None:
        self.runs.extend(runs)

    def runs_with_fingerprint(self, fingerprint: Fingerprint) -> list[PastRun]:
        return _newest_first(run for run in self.runs if run.fingerprint == fingerprint)

    def runs_of_code(self, code: str) -> list[PastRun]:
        return _newest_first(
            run for run in self.runs if run.fingerprint is not None and run.fingerprint.code == code
        )

    def recent_runs(self, *, user: str | None = None, limit: int = 1000) -> list[PastRun]:
        found = (run for run in self.runs if user is None or run.job.user == user)
        return _newest_first(found)[:limit]

    def failure_reason(self, run: PastRun) -> str | None:
        return self.reasons.get(run.job.id)

    def cached_reading(self, key: str) -> str | None:
        found = self.readings.get(key)
        self.cache_misses += found is None
        return found

    def cache_reading(self, key: str, reading: str) -> None:
        self.readings[key] = reading


def _newest_first(runs: Iterable[PastRun]) -> list[PastRun]:
    return sorted(runs, key=lambda run: run.job.end_time or 0.0, reverse=True)


def past_run(
    job_id: str,
    duration_s: float,
    *,
    user: str = "ann",
    name: str = "train",
    state: JobState = JobState.COMPLETED,
    ended_at: float = 1000.0,
    fingerprint: Fingerprint | None = None,
    workload: Workload | None = None,
    startup_s: float | None = None,
) -> PastRun:
    """A run that has ended, with what matters to who learns from it."""
    return PastRun(
        job=Job(
            id=job_id,
            name=name,
            user=user,
            state=state,
            workdir="/",
            request=Request(),
            submit_time=ended_at - duration_s,
            start_time=ended_at - duration_s,
            end_time=ended_at,
        ),
        fingerprint=fingerprint,
        workload=workload or Workload(),
        startup_s=startup_s,
    )
