"""What may be done to a job beside its place: it makes way at a checkpoint, or shares a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from schedmate.core.events import Event, GpuUseKnown, PaceSeen, ResumeKnown, ShareSeen
from schedmate.core.making_way import MakingWay
from schedmate.core.shared_gpus import Sharing

if TYPE_CHECKING:
    from schedmate.core.events import CheckpointSeen
    from schedmate.core.instructions import Instruction
    from schedmate.core.known_job import KnownJob, KnownJobs
    from schedmate.core.retry import DecisionLimits
    from schedmate.model import Job
    from schedmate.model.job import JobId


class Levers:
    def __init__(self, limits: DecisionLimits, jobs: KnownJobs) -> None:
        self._known = jobs.by_id
        self._making_way = MakingWay(limits, jobs)
        self._sharing = Sharing(limits.sharing, jobs)
        self.handlers: dict[type[Event], Callable[[Any], list[Instruction]]] = {
            ResumeKnown: self._resume_known,
            GpuUseKnown: self._use_known,
            PaceSeen: self._pace_seen,
            ShareSeen: self._share_seen,
        }

    def clear(self) -> None:
        self._making_way.clear()
        self._sharing.clear()

    def forget(self, job_id: JobId) -> None:
        self._making_way.forget(job_id)
        self._sharing.forget(job_id)

    def meet(self, known: KnownJob) -> None:
        self._making_way.meet(known)

    def seen(self, known: KnownJob, at: float) -> list[Instruction]:
        return [*self._making_way.seen(known, at), *self._sharing.seen(known)]

    def may_share(self, job: Job) -> bool:
        return self._sharing.may_share(job)

    def due(self, known: KnownJob) -> float | None:
        """When a job that made way goes back first, None where none is held for that."""
        return self._making_way.due(known)

    def checkpointed(self, known: KnownJob, event: CheckpointSeen) -> list[Instruction]:
        parted = self._sharing.checkpointed(known)
        return parted or self._making_way.checkpointed(known, event)

    def _resume_known(self, event: ResumeKnown) -> list[Instruction]:
        known = self._known.get(event.job_id)
        if known is not None:
            known.proof = event.proof
            known.goes_first |= bool(event.proof.started_over and known.made_way.losses)
        return []

    def _use_known(self, event: GpuUseKnown) -> list[Instruction]:
        known = self._known.get(event.job_id)
        return [] if known is None else self._sharing.use_known(known, event)

    def _share_seen(self, event: ShareSeen) -> list[Instruction]:
        known = self._known.get(event.job_id)
        return [] if known is None else self._sharing.share_seen(known, event.beside)

    def _pace_seen(self, event: PaceSeen) -> list[Instruction]:
        known = self._known.get(event.job_id)
        return [] if known is None else self._sharing.slowed(known, event)
