"""A place to try jobs out on a real scheduler: submit, wait, look, tidy up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schedmate.model import JobState, Request, SchedulerError, Submission

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from schedmate.model import Job, JobId
    from schedmate.schedulers.base import Scheduler

_GATE = 'while [ ! -e "$0" ]; do sleep 0.1; done'


@dataclass(slots=True)
class Bench:
    """The jobs of one test. `directory` is theirs, and empty at the start."""

    scheduler: Scheduler
    directory: Path
    patience_s: float
    poll_s: float = 0.2
    submitted: list[JobId] = field(default_factory=list)

    def submit(self, *command: str, **parts: Any) -> JobId:
        """Submit a command that asks for one GPU; `parts` are those of `Submission`."""
        usual = {"name": "bench", "request": Request(gpus=1), "workdir": str(self.directory)}
        submission = Submission(command=command, **{**usual, **parts})
        job_id = self.scheduler.submit(submission)
        self.submitted.append(job_id)
        return job_id

    def shell(self, text: str, **parts: Any) -> JobId:
        return self.submit("bash", "-c", text, **parts)

    def gated(self, gate: Path, **parts: Any) -> JobId:
        """Submit a job that runs until the file `gate` is there."""
        return self.submit("bash", "-c", _GATE, str(gate), **parts)

    def occupy(self, slots: int) -> list[Path]:
        """Fill every slot; touching one of the returned files frees one of them."""
        gates = [self.directory / f"gate-{number}" for number in range(slots)]
        for job_id in [self.gated(gate) for gate in gates]:
            self.running(job_id)
        return gates

    def job(self, job_id: JobId) -> Job:
        (job,) = self.scheduler.jobs([job_id])
        return job

    def wait(self, job_id: JobId, until: Callable[[Job], bool], *, what: str) -> Job:
        deadline = time.monotonic() + self.patience_s
        while not until(job := self.job(job_id)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} did not happen in {self.patience_s:g} s: {job}")
            time.sleep(self.poll_s)
        return job

    def running(self, job_id: JobId) -> Job:
        return self.wait(job_id, lambda job: job.state is JobState.RUNNING, what="the start")

    def ended(self, job_id: JobId, *, restarts: int = 0) -> Job:
        """Wait for the end of the run with this restart count."""
        return self.wait(
            job_id,
            lambda job: job.state.ended and job.restarts == restarts,
            what=f"the end of run {restarts}",
        )

    def requeue(self, job_id: JobId, **parts: Any) -> None:
        """Queue the present run again, and see it through."""
        parts = {"run": self.job(job_id).restarts, **parts}
        deadline = time.monotonic() + self.patience_s
        while not self._waits_again(job_id, parts):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{job_id} was not requeued in {self.patience_s:g} s")
            time.sleep(self.poll_s)

    def _waits_again(self, job_id: JobId, parts: dict[str, Any]) -> bool:
        """A job that has started again between two looks, or just now, has waited too."""
        if self._went_on(job_id, parts["run"]):
            return True
        try:
            return self.scheduler.requeue(job_id, **parts)
        except SchedulerError:
            if self._went_on(job_id, parts["run"]):
                return True
            raise

    def _went_on(self, job_id: JobId, run: int) -> bool:
        job = self.job(job_id)
        return job.restarts > run and job.state is not JobState.PENDING

    def lines(self, name: str) -> list[str]:
        """What the jobs wrote into a file of the directory so far."""
        path = self.directory / name
        return path.read_text().splitlines() if path.exists() else []

    def wait_for_lines(self, name: str, count: int) -> list[str]:
        deadline = time.monotonic() + self.patience_s
        while len(lines := self.lines(name)) < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} has {lines} after {self.patience_s:g} s")
            time.sleep(self.poll_s)
        return lines

    def clear(self) -> None:
        """End every job that was submitted here."""
        known = {job.id: job for job in self.scheduler.jobs(self.submitted)}
        left = [job_id for job_id, job in known.items() if not job.state.ended]
        for job_id in left:
            self.scheduler.cancel(job_id)
        for job_id in left:
            self.wait(job_id, lambda job: job.state.ended, what="the cancellation")
