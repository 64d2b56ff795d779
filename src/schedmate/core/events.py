"""What is sent to the decision engine. Every event carries its time: the engine has no clock.

All that a decision depends on is in the events, so that a log of them can be replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from schedmate.core.attempts import Attempt, Reached
from schedmate.core.drains import SuspectNode
from schedmate.core.holds import HoldPhase
from schedmate.core.order import NEVER_ORDERED, NiceHistory
from schedmate.core.preemption import NEVER_MADE_WAY, MadeWay, ResumeProof
from schedmate.core.retry import NodeChoice
from schedmate.core.sharing import MeasuredUse
from schedmate.model import Activity, Advice, Diagnosis, Job, JobId, Progress

AdviceCause = Literal["submitted", "started", "refined", "checked"]
"""Read when it was submitted, predicted again as it started, improved by a model, or read again
while it was held."""
DiagnosedBy = Literal["handler", "model", "person"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What an engine that was not there should know of a job."""

    attempts: Mapping[int, Attempt] = field(default_factory=dict)
    nice: NiceHistory = NEVER_ORDERED
    advice: Advice | None = None
    user_limit_s: float | None = None
    """The limit that its user asked for, where we have lowered it."""
    our_limit_s: float | None = None
    hold: HoldPhase = "none"
    left_for: str | None = None
    """The failure for which its last run was left alone: that is settled, whatever settings say
    now."""
    planned: bool = False
    waited_s: float = 0.0
    """Its waits for runs that we queued again, where its scheduler no longer counts them."""
    retried: bool = False
    """Whether its present run is a retry of ours."""
    reverted: bool = False
    made_way: MadeWay = NEVER_MADE_WAY
    carried: frozenset[int] = frozenset()
    """Attempts that were queued again before their limit, to go on."""
    spared: frozenset[int] = frozenset()
    """These, and attempts that made way for others."""
    asked_limit_s: float | None = None
    """The limit that its user asked for, where we have raised it."""
    parted: bool = False
    """It was slow beside another job, and shares no GPU any more."""


@dataclass(frozen=True, slots=True)
class JobSeen:
    """The scheduler shows this job like this; sent at least whenever something changed."""

    at: float
    job: Job
    past: Past = field(default_factory=Past)


@dataclass(frozen=True, slots=True)
class JobAdvised:
    at: float
    job_id: JobId
    advice: Advice | None
    """None where the job could not be read."""
    cause: AdviceCause = "submitted"


@dataclass(frozen=True, slots=True)
class ProgressSeen:
    at: float
    job_id: JobId
    progress: Progress


@dataclass(frozen=True, slots=True)
class ActivitySeen:
    """What a job that was to be measured was found to do; `attempt` is its restart count."""

    at: float
    job_id: JobId
    attempt: int
    activity: Activity


@dataclass(frozen=True, slots=True)
class CheckpointSeen:
    """A complete checkpoint of this run has existed since `saved_at`, and it is not saving now;
    `attempt` is its restart count. Sent soon after each checkpoint of a job with a `ResumeKnown`,
    never of an interactive one."""

    at: float
    job_id: JobId
    attempt: int
    saved_at: float
    step: float | None = None


@dataclass(frozen=True, slots=True)
class ResumeKnown:
    """Whether its code goes on from a checkpoint; sent again whenever more is known of it, as when
    a run that made way has begun anew."""

    at: float
    job_id: JobId
    proof: ResumeProof


@dataclass(frozen=True, slots=True)
class GpuUseKnown:
    """What runs of the same code were measured to need."""

    at: float
    job_id: JobId
    use: MeasuredUse
    shards_a_gpu: int = 0
    """In how many parts its scheduler lends each GPU; 0 where any run can be joined."""


@dataclass(frozen=True, slots=True)
class ShareSeen:
    """The scheduler has put this run on the GPU of another one; empty: it is alone there."""

    at: float
    job_id: JobId
    beside: JobId


@dataclass(frozen=True, slots=True)
class PaceSeen:
    """How fast a run that shares its GPUs is, 1 being alone; `attempt` is its restart count."""

    at: float
    job_id: JobId
    attempt: int
    pace: float


@dataclass(frozen=True, slots=True)
class JobDiagnosed:
    """`attempt` is the restart count of the run that the diagnosis is about.

    `reached` is how far that run came; `choice` are the nodes that could run the job again;
    `submits_jobs`: its script or its code submits or requeues jobs itself; `successors` are jobs
    that waited for its end and have been let go since, before they were seen to wait; `rivals`
    those that do the same work; `children` those that it seems to have submitted itself.
    """

    at: float
    job_id: JobId
    attempt: int
    diagnosis: Diagnosis
    reached: Reached = field(default_factory=Reached)
    choice: NodeChoice | None = None
    by: DiagnosedBy = "handler"
    submits_jobs: bool = False
    successors: tuple[JobId, ...] = ()
    rivals: tuple[JobId, ...] = ()
    children: tuple[JobId, ...] = ()
    held_for_s: float | None = None
    """How long after its end it can be queued again, where that is known."""


@dataclass(frozen=True, slots=True)
class JobReverted:
    """A person has undone what was done to this job."""

    at: float
    job_id: JobId


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """Failures speak against a node; sent only where the site lets nodes be drained."""

    at: float
    suspect: SuspectNode


@dataclass(frozen=True, slots=True)
class JobForgotten:
    """The scheduler lists it no more, or it is to be met afresh."""

    at: float
    job_id: JobId


@dataclass(frozen=True, slots=True)
class Started:
    """An engine begins and knows nothing yet."""

    at: float
    settings: Mapping[str, str] = field(default_factory=dict)
    """What it decides by: names and values as `replay --set` takes them. Logs of older versions
    have none."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """A daemon ends in order: nothing may depend on it any more."""

    at: float


Event = (
    JobSeen
    | JobAdvised
    | ProgressSeen
    | ActivitySeen
    | CheckpointSeen
    | ResumeKnown
    | GpuUseKnown
    | ShareSeen
    | PaceSeen
    | JobDiagnosed
    | JobReverted
    | NodeSeen
    | JobForgotten
    | Started
    | Stopping
)
EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        JobSeen,
        JobAdvised,
        ProgressSeen,
        ActivitySeen,
        CheckpointSeen,
        ResumeKnown,
        GpuUseKnown,
        ShareSeen,
        PaceSeen,
        JobDiagnosed,
        JobReverted,
        NodeSeen,
        JobForgotten,
        Started,
        Stopping,
    )
}
"""By the name under which the event log keeps them."""


def job_of(event: Event) -> JobId:
    """Which job it is about; none for a start or an end."""
    match event:
        case JobSeen(job=job):
            return job.id
        case Started() | Stopping() | NodeSeen():
            return ""
    return event.job_id
