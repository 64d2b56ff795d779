"""Jobs that really ran, as a trace: what else could have been done with them?"""

from __future__ import annotations

from collections.abc import Sequence

from schedmate.model import BadInput, Job, PastRun, Request
from schedmate.model.job import split_command_line
from schedmate.simulator.traces.base import TraceJob


def from_job(job: Job) -> TraceJob:
    """The last run of a job that has ended; like every scheduler here, it took a slot at least."""
    if not job.state.ended or job.run_time_s is None:
        raise BadInput(f"job {job.id} has not run to an end, so there is no duration to simulate")
    return TraceJob(
        job_id=job.id,
        user=job.user,
        submit_time=job.submit_time,
        duration=job.run_time_s,
        gpus=max(1, job.request.gpus),
        status=job.state,
        name=job.name,
        group=job.request.partition,
        nodes=job.request.nodes,
        time_limit=job.request.time_limit_s,
        script=job.script,
        workdir=job.workdir,
        start_time=job.start_time,
    )


def to_past_run(job: TraceJob) -> PastRun:
    """A row of a trace as history; where it does not say when it started, it started at once."""
    started = job.submit_time if job.start_time is None else job.start_time
    return PastRun(
        job=Job(
            id=job.job_id,
            name=job.name,
            user=job.user,
            state=job.status,
            workdir=job.workdir or "",
            script=job.script,
            command=split_command_line(job.command or ""),
            request=Request(
                gpus=job.gpus,
                gpu_type=job.gpu_type,
                nodes=job.nodes,
                time_limit_s=job.time_limit,
                partition=job.group,
            ),
            submit_time=job.submit_time,
            start_time=started,
            end_time=started + job.duration,
        )
    )


SIZE_AS_IT_WAS = "the cluster has as many GPUs as were in use at once; --gpus names another size"


def most_in_use(jobs: Sequence[TraceJob]) -> int | None:
    """GPUs in use at once at most, as the jobs really ran: what the cluster had at least. None
    where a start is unknown."""
    changes: list[tuple[float, int]] = []
    for job in jobs:
        if job.start_time is None:
            return None
        changes += [(job.start_time, job.gpus), (job.start_time + job.duration, -job.gpus)]
    most = held = 0
    for _, more in sorted(changes):
        held += more
        most = max(most, held)
    return most or None
