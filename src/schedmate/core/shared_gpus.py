"""Letting a waiting job share the GPUs of one that leaves them mostly idle.

Both need consent, and what both need was measured on runs of the same code: never hoped for. Two
that slow each other down are parted: the younger one is queued again, at its checkpoint where it
has any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.core.reactions import act
from schedmate.model import DecisionReason, JobState

if TYPE_CHECKING:
    from schedmate.core.events import PaceSeen
    from schedmate.core.instructions import Instruction
    from schedmate.core.known_job import KnownJob
    from schedmate.core.sharing import SharingLimits
    from schedmate.model import Job, JobId

Place = tuple[str, str | None, int]
"""Partition, kind of GPU and how many: only jobs of the same place may share."""


class Sharing:
    """Of all jobs in `known`, which the engine keeps."""

    def __init__(
        self,
        limits: SharingLimits,
        known: Mapping[JobId, KnownJob],
        objection: Callable[[KnownJob], str | None],
    ) -> None:
        self._limits = limits
        self._known = known
        self._objection = objection
        self._waiting: dict[Place, dict[JobId, None]] = {}
        self._hosts: dict[Place, dict[JobId, None]] = {}
        """Runs that leave room on their GPUs and share them with nobody yet."""

    def clear(self) -> None:
        self._waiting.clear()
        self._hosts.clear()

    def forget(self, job_id: JobId) -> None:
        for jobs in (*self._waiting.values(), *self._hosts.values()):
            jobs.pop(job_id, None)

    def seen(self, known: KnownJob) -> list[Instruction]:
        """What follows from how this job is now, or from what is known of it."""
        left = self._leave(known)
        return [*self._pair(known), *([] if left is None else self._pair(left))]

    def _pair(self, known: KnownJob) -> list[Instruction]:
        """Let it join another one, or another one join it."""
        job, place = known.job, _place(known.job)
        if not self._limits.leaves_room(known.use):
            return []
        waiting = self._waiting.setdefault(place, {})
        hosts = self._hosts.setdefault(place, {})
        may = not known.parted and self._limits.consents(job) and self._objection(known) is None
        alone = may and not known.beside
        _keep(waiting, job.id, alone and job.state is JobState.PENDING and not job.held)
        _keep(hosts, job.id, alone and job.state is JobState.RUNNING)
        if job.id in waiting:
            host = next(iter(hosts), None)
            return [] if host is None else [self._join(known, self._known[host])]
        if job.id in hosts and waiting:
            first = next(iter(waiting))
            return [self._join(self._known[first], known)]
        return []

    def _join(self, guest: KnownJob, host: KnownJob) -> Instruction:
        place = _place(guest.job)
        self._waiting[place].pop(guest.job.id, None)
        self._hosts[place].pop(host.job.id, None)
        guest.beside, host.beside = host.job.id, guest.job.id
        needs = [each.use.memory for each in (guest, host) if each.use is not None]
        detail = (
            f"it fits beside job {host.job.id} and can start now: runs of both were measured to "
            f"need {' and '.join(f'{share:.0%}' for share in needs)} of a GPU's memory"
        )
        reason = DecisionReason(code="fits_beside", detail=detail)
        return act("share", guest.job, reason, beside=host.job.id)

    def _leave(self, known: KnownJob) -> KnownJob | None:
        """The one that it shared GPUs with until now."""
        job, other = known.job, self._known.get(known.beside)
        decided = job.state is JobState.PENDING and not job.restarts
        together = other is not None and other.beside == job.id
        if not known.beside or (together and (decided or job.state is JobState.RUNNING)):
            return None
        known.beside = ""
        if other is None or not together:
            return None
        other.beside = ""
        return other

    def slowed(self, known: KnownJob, event: PaceSeen) -> list[Instruction]:
        """Part two that slow each other down: the younger one is queued again, at once while it has
        hardly begun, else at its next checkpoint."""
        other = self._known.get(known.beside)
        job = known.job
        if other is None or (job.state, job.restarts) != (JobState.RUNNING, event.attempt):
            return []
        if event.pace >= self._limits.least_pace:
            return []
        younger = max((known, other), key=lambda one: one.job.start_time or 0.0)
        known.parted = other.parted = True
        ran_s = event.at - (younger.job.start_time or event.at)
        detail = f"beside job {other.job.id} job {job.id} has {event.pace:.0%} of its pace"
        reason = DecisionReason(code="slow_beside", detail=detail)
        if ran_s > self._limits.hardly_begun_s:
            younger.parts_for = reason
            return []
        return self._part(younger, reason)

    def checkpointed(self, known: KnownJob) -> list[Instruction]:
        return [] if known.parts_for is None else self._part(known, known.parts_for)

    def _part(self, known: KnownJob, reason: DecisionReason) -> list[Instruction]:
        other = self._known.get(known.beside)
        still = known.job.state is JobState.RUNNING and known.job.can_requeue
        known.parts_for, known.beside = None, ""
        if other is not None:
            other.beside = ""
        if other is None or other.job.state is not JobState.RUNNING or not still:
            return []
        known.requeued_from = known.job
        return [act("requeue", known.job, replace(reason, waited_s=known.all_waits_s))]


def _place(job: Job) -> Place:
    return (job.request.partition or "").partition(",")[0], job.request.gpu_type, job.request.gpus


def _keep(jobs: dict[JobId, None], job_id: JobId, among: bool) -> None:  # noqa: FBT001 - of two
    if among:
        jobs[job_id] = None
    else:
        jobs.pop(job_id, None)
