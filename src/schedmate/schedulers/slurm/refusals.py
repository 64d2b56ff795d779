"""What is not done to a job of Slurm, whoever asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import JobState, NotAllowed, SchedulerError
from schedmate.schedulers.slurm import parsing

if TYPE_CHECKING:
    from schedmate.model import JobId


def refuse_elsewhere(job_id: JobId, cluster: str) -> None:
    if cluster:
        raise NotAllowed(
            f"job {job_id} belongs to cluster {cluster} of the federation, and is changed there"
        )


def refuse_unless_pending(record: parsing.Record) -> None:
    if parsing.state_of(record) is not JobState.PENDING:
        state = record["State"].lower()
        raise SchedulerError(f"job {record['JobArrayID']} does not wait any more: {state}")
