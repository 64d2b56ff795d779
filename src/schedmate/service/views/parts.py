"""An array or a heterogeneous job as its parts, put together by how they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedmate.model import Job, JobId, JobState

_MOST_NAMED = 8
_FIRST = (JobState.PENDING, JobState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Parts of one job in the same state; `tasks` counts those that wait as one."""

    state: JobState
    tasks: int
    ids: tuple[JobId, ...]
    shown: JobId
    """The job that stands for them: one of them, or the whole where it is one job."""

    def in_words(self) -> str:
        named = ", ".join(self.ids[:_MOST_NAMED])
        return f"{self.tasks} {self.state}: {named}{', …' * (len(self.ids) > _MOST_NAMED)}"


def parts_of(job_id: JobId, jobs: Sequence[Job]) -> tuple[Parts, ...]:
    """What waits, what runs, then what has ended; empty for a job that has no parts."""
    whole = all(job.id == job_id and job.tasks == 1 for job in jobs)
    return () if whole else tuple(_by_state(jobs))


def parts_of_whole(whole: Job, components: Sequence[Job]) -> tuple[Parts, ...]:
    """Of a heterogeneous job."""
    return tuple(_by_state(components, shown=whole.id))


def _by_state(jobs: Sequence[Job], shown: JobId | None = None) -> Iterator[Parts]:
    for state in (*_FIRST, *(state for state in JobState if state not in _FIRST)):
        found = [job for job in jobs if job.state is state]
        ids = tuple(sorted((job.id for job in found), key=_by_number))
        if found:
            yield Parts(
                state=state, tasks=sum(job.tasks for job in found), ids=ids, shown=shown or ids[0]
            )


def _by_number(job_id: JobId) -> tuple[int, JobId]:
    number = job_id.replace("+", "_").rpartition("_")[2]
    return (int(number) if number.isdecimal() else 0), job_id
