"""The GPUs of a simulated cluster: one pool, handed out by the gang."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import JobId


class Cluster:
    def __init__(self, gpus: int) -> None:
        self.gpus = gpus
        self.free = gpus
        self._held: dict[JobId, int] = {}

    def start(self, job_id: JobId, gpus: int) -> None:
        """Give a job all its GPUs at once."""
        if gpus > self.free or job_id in self._held:
            raise ValueError(f"job {job_id} cannot start on {gpus} of {self.free} free GPUs")
        self.free -= gpus
        self._held[job_id] = gpus

    def finish(self, job_id: JobId) -> None:
        self.free += self._held.pop(job_id)
