"""Jobs that really ran, as a trace: what else could have been done with them?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import BadInput
from schedmate.simulator.traces.base import TraceJob

if TYPE_CHECKING:
    from schedmate.model import Job


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
