"""Stopping a run right after its checkpoint, so that shorter jobs run first: who may be, for whom.

A run is stopped only with consent (of the site, for its partition or QOS, or of its owner by a word
in its comment) and with proof: its code says that it resumes, and runs of the same code were seen
to go on from a checkpoint here. The jobs that get its GPUs are named in the decision. It is held
until they have started, and then waits by what is left of it.

Who is shorter is measured in GPU time: the Gittins index of the predicted distribution for the time
that a job has run; of a job without a prediction, what it has run so far (least attained service).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Final

from schedmate.core.scope import SiteConsent
from schedmate.model.job import JobId

if TYPE_CHECKING:
    from schedmate.model import ActionRecord, Job, Spread

_HOUR_S: Final = 3600.0
RESTART_S: Final = 120.0
"""What a restart costs where it was never measured."""
_FRESH_S: Final = 120.0
"""Two polls and a restart: an older checkpoint costs more than waiting for the next one."""
_UNKNOWN_S: Final = 1800.0
"""A job without a prediction counts as if it had run for so long at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeProof:
    """What is known of the code of a job: whether a run of it goes on where the last one saved."""

    resumes: bool | None = None
    """What its code says; None where that is open."""
    seen: int = 0
    """Restarts of the same code that were seen here to go on."""
    started_over: int = 0
    """Those that were seen to begin anew."""
    restart_s: float | None = None
    """How long one takes until it is where it was, where that was measured."""

    @property
    def is_sure(self) -> bool:
        return bool(self.resumes) and self.seen > 0 and not self.started_over


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionLimits(SiteConsent):
    """Without a partition or QOS only jobs are stopped whose owner has said so."""

    word = "preemptible"
    allows = "make way"
    at_most: int = 3
    """How often one job is stopped."""
    after_s: float = 1800.0
    """A run is not stopped before."""
    ends_soon_s: float = 1800.0
    """Nor with less than that left to it."""
    lost_gpu_hours: float = 24.0
    """What restarts may cost one user in a day."""
    give_back_s: float = 600.0
    """Where the named jobs have not started by then, the stopped one goes first."""
    widest: float = 0.25
    """Of its partition's GPUs a run on several may hold: it costs much to gather more again."""
    worth: float = 3.0
    """So many times less GPU time than the run that makes way a job must need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preempted:
    """A run that was stopped for others; `attempt` is its restart count."""

    attempt: int
    at: float
    for_jobs: tuple[JobId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWay:
    """What a job has given up for others so far."""

    held: Preempted | None = None
    """The decision for which it waits now, or was decided to."""
    losses: tuple[tuple[float, float], ...] = ()
    """When it was stopped, and how many GPU seconds that cost it."""
    served_s: float = 0.0
    """How long it had run, all runs together, when it was last stopped."""
    left_s: float | None = None
    """What was left then, where its log showed that."""
    stopped_at: float | None = None
    """Since when it waits again."""
    waited_s: float = 0.0
    """How long it has waited each time it was stopped, its present wait not counted."""

    def held_back_s(self, at: float) -> float:
        return self.waited_s + (0.0 if self.stopped_at is None else at - self.stopped_at)

    @classmethod
    def of(cls, records: Iterable[ActionRecord], job: Job) -> MadeWay:
        """From all records of a job that is in this attempt."""
        found, gpus = cls(), max(1, job.request.gpus)
        for record in records:
            action, reason = record.action, record.action.reason
            if record.state not in ("done", "intended"):
                continue
            if action.kind == "preempt" and reason is not None:
                held = Preempted(attempt=action.attempt, at=record.at, for_jobs=action.for_jobs)
                found = MadeWay(
                    held=held if action.attempt >= job.restarts - 1 else None,
                    stopped_at=record.at if action.attempt == job.restarts - 1 else None,
                    losses=(*found.losses, (record.at, gpus * reason.lost_s)),
                    served_s=reason.served_s,
                    left_s=reason.left_s,
                )
            elif action.kind == "release" and action.attempt == job.restarts:
                found = replace(found, held=None)
        return found


NEVER_MADE_WAY = MadeWay()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A job that waits, as far as it matters who gets the GPUs."""

    job_id: JobId
    gpus: int
    left_s: float
    """Its index: the time on its GPUs that it is to be counted with."""
    limit_s: float
    fits: bool = True
    """Whether it could run on the nodes of the run that makes way, room for it given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incumbent:
    """A run that has just saved, and what else is on the same nodes."""

    gpus: int
    left_s: float
    lost_s: float
    """What stopping it now costs it: work since the checkpoint and the restart."""
    free: int = 0
    """GPUs that nobody holds."""
    pool: int
    """All GPUs there."""
    others: Sequence[tuple[float, int]] = ()
    """Of other runs: in how many seconds their limits end them, and their GPUs."""


def choose(
    run: Incumbent, waiting: Iterable[Contender], limits: PreemptionLimits
) -> tuple[JobId, ...]:
    """Those who get the GPUs of this run, of all that wait in the order in which their scheduler
    would start them; none where it is not worth it.

    Were the run first, each of them would wait for its GPU time; are they first, it waits for
    theirs and pays for the restart. A job that its scheduler would start instead is not passed
    over, and one that needs more GPUs than there are leaves to others what backfill would.
    """
    service, room, free = run.gpus * run.left_s, run.gpus, run.free + run.gpus
    by, spare = inf, free
    if run.gpus > max(1.0, limits.widest * run.pool):
        return ()
    named: list[Contender] = []
    for job in waiting:
        if not room:
            break
        if by < inf and job.gpus > spare and job.limit_s > by:
            continue
        if job.gpus > free:
            if by == inf:
                by, spare = _reservation(job.gpus, free, run.others)
            continue
        if not job.fits or job.gpus > room or limits.worth * job.gpus * job.left_s > service:
            break
        named.append(job)
        room, free = room - job.gpus, free - job.gpus
        spare -= job.gpus if job.limit_s > by else 0
    theirs = sum(job.gpus * job.left_s for job in named) + run.gpus * run.lost_s
    if 2 * room > run.gpus or limits.worth * theirs > len(named) * service:
        return ()
    return tuple(job.job_id for job in named)


def _reservation(gpus: int, free: int, others: Sequence[tuple[float, int]]) -> tuple[float, int]:
    """In how many seconds so many GPUs are planned to be free, and how many more there are."""
    for ends_in, freed in sorted(others):
        free += freed
        if free >= gpus:
            return max(0.0, ends_in), free - gpus
    return inf, free


def index_s(predicted: Spread | None, served_s: float, *, left_s: float | None = None) -> float:
    """Seconds per end that a job is worth waiting for, by the time it has run: low goes first.

    Never less than it has run: where predictions are surer than they should be, a run that has
    outlived its own would else be expected to end at any moment. `left_s` is what its log shows to
    be left, and counts where it is less.
    """
    if predicted is None or predicted.too_wide:
        found = max(served_s, _UNKNOWN_S)
    else:
        found = max(served_s, predicted.gittins_s(served_s))
    return found if left_s is None else min(found, left_s)


def lost_s(at: float, saved_at: float, proof: ResumeProof) -> float | None:
    """What stopping a run now costs it; None where its checkpoint is older than it should be."""
    restart_s = RESTART_S if proof.restart_s is None else proof.restart_s
    since = max(0.0, at - saved_at)
    return since + restart_s if since <= max(_FRESH_S, restart_s) else None
