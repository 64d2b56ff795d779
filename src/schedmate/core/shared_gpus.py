"""Letting a waiting job share the GPUs of one that leaves them mostly idle.

Both need consent, and what both need was measured on runs of the same code: never hoped for. Two
that slow each other down are parted: the younger one is queued again, at its checkpoint where it
has any.

A simulated scheduler starts a waiting job beside a run. A real one lends GPUs in parts, and places
jobs itself: there a waiting job that asks for all parts of a GPU asks for half of them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.core.reactions import act
from schedmate.core.sharing import half_of
from schedmate.core.successors import waits_for
from schedmate.model import DecisionReason, JobState

if TYPE_CHECKING:
    from schedmate.core.events import GpuUseKnown, PaceSeen
    from schedmate.core.instructions import Instruction
    from schedmate.core.known_job import KnownJob, KnownJobs
    from schedmate.core.sharing import SharingLimits
    from schedmate.model import Job, JobId

Place = tuple[str, str | None, int]
"""Partition, kind of GPU and how many: only jobs of the same place may share."""
_UNTIL_CHANGED_S = 120.0
"""A job that was parted starts so much later: what it asks for is changed before."""


class Sharing:
    def __init__(self, limits: SharingLimits, jobs: KnownJobs) -> None:
        self._limits = limits
        self._known = jobs.by_id
        self._objection = jobs.objection
        self._waiting: defaultdict[Place, dict[JobId, None]] = defaultdict(dict)
        self._hosts: defaultdict[Place, dict[JobId, None]] = defaultdict(dict)
        """Runs that leave room on their GPUs and share them with nobody yet."""

    def clear(self) -> None:
        self._waiting.clear()
        self._hosts.clear()

    def forget(self, job_id: JobId) -> None:
        for jobs in (*self._waiting.values(), *self._hosts.values()):
            jobs.pop(job_id, None)

    def may_share(self, job: Job) -> bool:
        """Whether a run of it may ever be parted from another one."""
        return job.request.shards > 0 and self._limits.consent(job) is not None

    def use_known(self, known: KnownJob, event: GpuUseKnown) -> list[Instruction]:
        known.use, known.shards_a_gpu = event.use, event.shards_a_gpu
        return self.seen(known)

    def seen(self, known: KnownJob) -> list[Instruction]:
        """What follows from how this job is now, or from what is known of it."""
        if known.shards_a_gpu:
            self._leave(known)
            return self._ask_for_parts(known)
        left = self._leave(known)
        return [*self._pair(known), *([] if left is None else self._pair(left))]

    def _may(self, known: KnownJob) -> bool:
        allowed = self._limits.consent(known.job) is not None and self._objection(known) is None
        return allowed and not known.parted

    def _pair(self, known: KnownJob) -> list[Instruction]:
        """Let it join another one, or another one join it."""
        job, place = known.job, _place(known.job)
        if not self._limits.leaves_room(known.use):
            return []
        waiting, hosts = self._waiting[place], self._hosts[place]
        alone = self._may(known) and not known.beside
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
        detail = f"{_fits(host)} and can start now: runs of {_measured(guest, host)}"
        reason = DecisionReason(code="fits_beside", detail=detail)
        return act("share", guest.job, reason, beside=host.job.id)

    def _ask_for_parts(self, known: KnownJob) -> list[Instruction]:
        """Half of a GPU for a waiting job that may share one; all of it for one that was parted."""
        job, whole = known.job, known.shards_a_gpu
        half, hosts, waiting = half_of(whole), self._hosts[_lent(job)], self._waiting[_lent(job)]
        waits = job.state is JobState.PENDING and not job.components
        if waits and known.parted and job.request.shards == half and known.asked != whole:
            detail = "it was slow beside another job, and has a GPU to itself from now on"
            return self._ask(known, whole, DecisionReason(code="alone_again", detail=detail))
        fits = half and known.use is not None and known.use.memory <= half / whole
        room, may = fits and self._limits.leaves_room(known.use), self._may(known)
        alone = job.state is JobState.RUNNING and not known.beside
        _keep(hosts, job.id, bool(room and may and alone and job.request.shards == half))
        open_to = waits and not job.held and job.request.gpus == 1 and known.asked is None
        fitting = bool(room and open_to and job.request.shards in (0, whole))
        host = self._known[next(iter(hosts))] if hosts else None
        if fitting and may and job.request.shards == whole:
            return self._ask(known, half, _half(known, host))
        _keep(waiting, job.id, fitting)
        if host is None or not waiting:
            return []
        first = self._known[next(iter(waiting))]
        waiting.pop(first.job.id)
        first.asked = 0
        return [act("leave", first.job, self._advice(first, host, half))]

    def _ask(self, known: KnownJob, shards: int, reason: DecisionReason) -> list[Instruction]:
        known.asked = shards
        reason = replace(reason, shards=known.job.request.shards)
        return [act("share", known.job, reason, value=float(shards))]

    def _advice(self, known: KnownJob, host: KnownJob, half: int) -> DecisionReason:
        """What a job would gain that nobody lets share, or that asks for a whole GPU."""
        asks = known.job.request.shards == 0
        words = [f"--gres=shard:{half}"] if asks else []
        if self._limits.consent(known.job) is None:
            words.append(f"--comment=schedmate={self._limits.word}")
        how = f"with {' and '.join(words)} " if words else "but that nothing else is done to it, "
        detail = f"{how}it would start now: {_fits(host)}, runs of {_measured(known, host)}"
        return DecisionReason(code="could_share", detail=detail)

    def share_seen(self, known: KnownJob, beside: JobId) -> list[Instruction]:
        """The scheduler has put both on one GPU, or it is alone there again."""
        other = self._known.get(beside)
        known.beside = beside if other is not None else ""
        if other is not None:
            other.beside = known.job.id
            for one in (known.job, other.job):
                self._hosts[_lent(one)].pop(one.id, None)
        return self.seen(known)

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
        hardly begun, else at its next checkpoint. One that would begin anew is only warned of."""
        other = self._known.get(known.beside)
        job = known.job
        if other is None or (job.state, job.restarts) != (JobState.RUNNING, event.attempt):
            return []
        if event.pace >= self._limits.least_pace:
            return []
        younger = max((known, other), key=lambda one: one.job.start_time or 0.0)
        again = younger.parted
        known.parted = other.parted = True
        ran_s = event.at - (younger.job.start_time or event.at)
        detail = f"beside job {other.job.id} job {job.id} has {event.pace:.0%} of its pace"
        reason = DecisionReason(code="slow_beside", detail=detail)
        if not again and self._may_be_queued_again(younger):
            if self._limits.hardly_begun_s and ran_s <= self._limits.hardly_begun_s:
                return self._part(younger, reason)
            younger.parts_for = reason
        will = younger.parts_for is not None and younger.proof.is_sure
        return [] if will else [act("warn", younger.job, reason)]

    def _may_be_queued_again(self, known: KnownJob) -> bool:
        job = known.job
        if not job.can_requeue or job.components or self._objection(known) is not None:
            return False
        if not known.shards_a_gpu:
            return True
        awaited = any(waits_for(one.job, job) for one in self._known.values() if one.job.dependency)
        return self._limits.consent(job) is not None and not awaited

    def checkpointed(self, known: KnownJob) -> list[Instruction]:
        """Of code that is proven to go on from there."""
        if known.parts_for is None or not known.proof.is_sure:
            return []
        return self._part(known, known.parts_for)

    def _part(self, known: KnownJob, reason: DecisionReason) -> list[Instruction]:
        other = self._known.get(known.beside)
        still = known.job.state is JobState.RUNNING and known.job.can_requeue
        known.parts_for, known.beside = None, ""
        if other is not None:
            other.beside = ""
        if other is None or other.job.state is not JobState.RUNNING or not still:
            return []
        known.requeued_from = known.job
        known.spared |= {known.job.restarts} if known.shards_a_gpu else set()
        later = _UNTIL_CHANGED_S if known.shards_a_gpu else 0.0
        reason = replace(reason, waited_s=known.all_waits_s)
        return [act("requeue", known.job, reason, delay_s=later)]


def _half(known: KnownJob, host: KnownJob | None) -> DecisionReason:
    beside = "two such jobs fit on one GPU" if host is None else f"{_fits(host)} and can start now"
    detail = f"{beside}: runs of {_measured(*filter(None, (known, host)))}"
    return DecisionReason(code="fits_beside", detail=detail)


def _fits(host: KnownJob) -> str:
    return f"it fits beside job {host.job.id}"


def _measured(*jobs: KnownJob) -> str:
    needs = " and ".join(f"{one.use.memory:.0%}" for one in jobs if one.use is not None)
    whose = "both" if len(jobs) > 1 else "its code"
    return f"{whose} were measured to need {needs} of a GPU's memory"


def _place(job: Job) -> Place:
    return (job.request.partition or "").partition(",")[0], job.request.gpu_type, job.request.gpus


def _lent(job: Job) -> Place:
    """A scheduler that lends GPUs in parts does not tell of which kind they are."""
    return _place(job)[0], None, 0


def _keep(jobs: dict[JobId, None], job_id: JobId, among: bool) -> None:  # noqa: FBT001 - of two
    if among:
        jobs[job_id] = None
    else:
        jobs.pop(job_id, None)
