"""A history and a workload cache in memory, for tests of what learns from the past."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from schedmate.model import Fingerprint, Job, JobState, PastRun, Request, Workload
from schedmate.model.sketch import blocks, configuration, packed, sketch_of_run


@dataclass(slots=True)
class MemoryHistory:
    """Fulfils `History` and `ReadingCache`; counts what it was asked."""

    runs: list[PastRun] = field(default_factory=list)
    readings: dict[str, str] = field(default_factory=dict)
    cache_misses: int = 0
    reasons: dict[str, str] = field(default_factory=dict)
    """What failed runs died of, by job."""
    lessons: dict[str, str] = field(default_factory=dict)

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

    def recent_jobs(self, *, limit: int) -> list[Job]:
        return [run.job for run in self.recent_runs(limit=limit)]

    def sketches(self, keys: Sequence[int], *, limit: int = 300) -> bytes:
        wanted = set(keys)
        rows: dict[int, bytes] = {}
        for number in self._numbers_newest_first():
            row, config = self._row(number)
            if wanted & set(blocks(sketch_of_run(self.runs[number]), config)):
                rows.setdefault(config, row)
        return b"".join(list(rows.values())[: limit * len(wanted)])

    def repeats(self, numbers: Sequence[int], *, limit: int) -> bytes:
        configs = {self._row(number)[1] for number in numbers}
        rows: dict[int, list[bytes]] = {config: [] for config in configs}
        for number in self._numbers_newest_first():
            row, config = self._row(number)
            if config in configs:
                rows[config].append(row)
        return b"".join(row for found in rows.values() for row in found[:limit])

    def _row(self, number: int) -> tuple[bytes, int]:
        row = packed(number, self.runs[number], sketch_of_run(self.runs[number]))
        return row, configuration(row)

    def newest_sketches(self, limit: int) -> bytes:
        numbers = self._numbers_newest_first()[:limit]
        return b"".join(self._row(number)[0] for number in numbers)

    def _numbers_newest_first(self) -> list[int]:
        ends = [run.job.end_time or 0.0 for run in self.runs]
        return sorted(range(len(ends)), key=ends.__getitem__, reverse=True)

    def runs_numbered(self, numbers: Sequence[int]) -> list[PastRun]:
        return [self.runs[number] for number in numbers]

    def learnt(self, name: str) -> str | None:
        return self.lessons.get(name)

    def keep_learnt(self, name: str, body: str, *, at: float) -> None:
        del at  # a real store uses it
        self.lessons[name] = body

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
    """A run that has ended, with what matters to learning."""
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
