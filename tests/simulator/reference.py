"""An independent, slow simulator: second by second, everything scanned, nothing clever."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedmate.simulator import TraceJob


def starts(
    jobs: Sequence[TraceJob], *, gpus: int, nice: Mapping[str, int], backfill: bool
) -> dict[str, float]:
    """The start of each job by its id; times are whole seconds, durations at least one."""
    begun: dict[str, float] = {}
    second = 0
    while len(begun) < len(jobs):
        running = [
            job for job in jobs if job.job_id in begun and second < begun[job.job_id] + job.duration
        ]
        free = gpus - sum(job.gpus for job in running)
        waiting = [job for job in jobs if job.submit_time <= second and job.job_id not in begun]
        waiting.sort(key=lambda job: (nice[job.job_id], job.submit_time, jobs.index(job)))
        for job in waiting:
            if job.gpus <= free:
                begun[job.job_id] = second
                free -= job.gpus
            elif not backfill:
                break
        second += 1
    return begun
