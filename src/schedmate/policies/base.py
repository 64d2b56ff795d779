"""The contract of a policy: what it declares, what it sees of a cluster and what it may do to it.

A policy never owns the loop. Jobs are numbers, in order of submission. The loop reports what
happened at one moment and then asks the policy, once, to decide. A job's true run time is not
visible here: only what was requested and what is expected.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from schedmate.model import BadInput
from schedmate.model.priority import BASIC_FLOOR, NICE_RANGE
from schedmate.policies.slurm_parameters import SlurmParameters

PLENTY = 2**31
"""Slurm's priority/basic counts down from about here."""
Kind = Literal["beside", "asking", "oracle"]
"""Where a policy stands. `beside`: an unmodified scheduler, which SchedMate can only steer with
what its adapters have (nice numbers, limits, requeue, cancel). `asking`: a scheduler that
preempts, shares GPUs or orders by predictions itself, and asks SchedMate for what it answers.
`oracle`: a reference that knows the true run times."""
OrdersBy = Literal[
    "submission",
    "priority",
    "duration",
    "service",
    "remaining_duration",
    "remaining_service",
    "attained_service",
    "fair_share",
    "goodput",
]
"""Service is duration times GPUs."""
Ask = Literal["duration", "progress", "throughput"]
"""What a policy wants to know of jobs beyond their requests: how long a job will run; what remains
of a running one; how fast it runs on other GPUs or beside another job."""
Source = Literal["oracle", "limit", "last_two", "history", "qssf", "ebm"]
"""Where expected run times come from, unless SchedMate gives them."""
Discipline = Literal["strict", "first_fit", "easy"]
"""Which jobs may overtake one that does not fit: none; those that fit; those that fit and do not
delay the head of the queue."""


def basic_priority(queue_key: float) -> int:
    """Of priority/basic, by a job's position plus its nice number."""
    return max(BASIC_FLOOR, math.floor(PLENTY - queue_key))


@dataclass(frozen=True, slots=True)
class JobColumns:
    """What a scheduler sees of its jobs, a column each; users, groups and names are numbers.

    A job that is queued again, reordered or given another limit has other values from then on: the
    loop reports it with `Policy.arrived` or `Policy.changed`.
    """

    submit: list[float]
    """When it was submitted, or queued again."""
    gpus: Sequence[int]
    user: Sequence[int]
    group: Sequence[int]
    name: Sequence[int]
    limit: Sequence[float]
    """The user's time limit; infinite where there is none."""
    expected: Sequence[float]
    """Seconds the job is expected to run, as of its submission; `nan` where unknown."""
    planned: list[float]
    """Seconds that backfill plans with: the limit, or a better figure where there is one."""
    queue_key: list[float]
    """Position in a queue in order of submission, plus the nice number, as with Slurm's
    priority/basic. Equal keys go by submission."""
    nice: list[int]
    """What is subtracted from its priority, where there are priorities."""
    log_sigma: Sequence[float]
    """Uncertainty of `expected`: the standard deviation of its logarithm; `nan` where unknown."""


class ClusterView(Protocol):
    """One cluster in one run, as a policy sees it."""

    jobs: JobColumns

    @property
    def now(self) -> float: ...

    @property
    def gpus(self) -> int:
        """GPUs that work, used or not."""

    @property
    def free(self) -> int: ...

    def running(self) -> Sequence[int]:
        """In the order in which they were last started."""

    def kinds(self) -> Sequence[int]:
        """GPUs that work, used or not, of each type; a type is its index in here."""

    def speed(self, job: int, kind: int) -> float:
        """How fast the job runs on GPUs of a type, alone and on as many as it requested, 1 being
        the type its run time is stated for: a table of measured throughputs, which Gavel and Sia
        assume. 1 where it was not measured."""

    def fits(self, job: int, gpus: int | None = None, kind: int | None = None) -> bool:
        """Whether `start` would work, fragmentation included."""

    def node_gpus(self) -> Sequence[int]:
        """GPUs that work on each node, used or not; none on a cluster without nodes."""

    def place_of(self, job: int) -> Sequence[tuple[int, int]]:
        """The nodes that a running job is on, with its GPUs on each; none without nodes."""

    def start(
        self,
        job: int,
        gpus: int | None = None,
        kind: int | None = None,
        excluded: Collection[int] = (),
    ) -> bool:
        """Give a job its GPUs, all at once: those it requested, or as many as are named; of one
        type where that is named, else of whichever is free, never of two; on none of the excluded
        nodes.

        A job that ran before resumes where it was, after the cost of a restart.
        """

    def start_beside(self, job: int, host: int) -> bool:
        """Let a job share the GPUs of a running one; both run at the resulting pace."""

    def stop(self, job: int, *, keep_work: bool = True) -> None:
        """Take a job off its GPUs; it waits again. The policy is not notified of its own stop."""

    def served(self, job: int) -> float:
        """Seconds it has held GPUs so far."""

    def remaining(self, job: int) -> float:
        """Seconds it is expected to run from here: by its log where that is tracked, else the
        expected run time less what was served; never below zero, `nan` where unknown."""

    def pace(self, job: int) -> float:
        """Measured throughput, 1 being alone on what it requested. 1 where it never ran."""

    def utilization(self, job: int) -> float:
        """The share of its GPUs' time that it uses when alone, as a profiler measures it: valid
        only for jobs that have run, or have neighbours that have."""

    def memory_share(self, job: int) -> float:
        """The share of its GPUs' memory that it needs, as a profiler measures it."""

    def wake_at(self, time: float) -> None:
        """Ask for a decision at that time even if nothing happens."""


@dataclass(frozen=True, slots=True, eq=False)
class Tracked:
    """What the jobs' logs will show: from which second of running on, and the whole run time."""

    since_s: NDArray[np.float64]
    whole_s: NDArray[np.float64]


class PaceModel(Protocol):
    """The predicted pace of a job on so many GPUs, 1 being what it requested; `nan` if unknown."""

    def __call__(self, job: int, gpus: int) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What SchedMate answers a policy that asks, beyond the columns; None where a part of
    SchedMate is absent."""

    sure: NDArray[np.bool_] | None = None
    """Jobs whose run time is predicted with little uncertainty."""
    expected_s: NDArray[np.float64] | None = None
    tracked: Tracked | None = None
    paces: PaceModel | None = None
    part_slow_pairs: bool = False
    """Whether measured paces are watched, so that jobs that slow each other down can be parted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteParameters:
    """What is configured at a site, of each kind of scheduler; None where it is not stated. A
    policy takes what it knows from here (`Policy.at_site`)."""

    slurm: SlurmParameters | None = None


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """Which compiled kernel stands in for a policy."""

    kernel: Literal["static", "preemptive"]
    discipline: Discipline = "first_fit"


class Policy(ABC):
    """One run's policy: made anew for each.

    What it declares is all that the rest of the program knows of it: no other module lists policies
    by name. The defaults are those of a plain queue; a contract test checks each declaration.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind] = "beside"
    orders_by: ClassVar[OrdersBy] = "submission"
    preempts: ClassVar[bool] = False
    """Whether a running job may be stopped."""
    needs_limits: ClassVar[bool] = False
    """Whether it plans with time limits, so that jobs must have one."""
    asks_for: ClassVar[frozenset[Ask]] = frozenset()
    source: ClassVar[Source | None] = None
    parameters: ClassVar[tuple[str, ...]] = ()
    """Numbers that may follow its name, `tiresias@3250`: arguments of its constructor, in order."""
    kernel: KernelSpec | None = None
    nice_range: int = NICE_RANGE
    """The largest nice number that it can undo by ageing."""
    nice_an_hour: float | None = None
    """How many nice numbers an hour of ageing outweighs; None where waiting counts for nothing."""
    lets_share: ClassVar[bool] = False
    """Whether a job that waits can be taken out of its queue to share the GPUs of another."""
    goes_by: str = ""
    """The parameters of a site that it goes by, in words; empty where it goes by none."""

    @classmethod
    def answered(cls, answers: Answers) -> Policy:  # noqa: ARG003 - for policies that ask
        """The policy for a run in which SchedMate answers it."""
        return cls()

    @classmethod
    def tuned(cls, values: Sequence[float]) -> Policy:
        """The policy with these values of its first `parameters`."""
        if len(values) > len(cls.parameters):
            takes = ", ".join(cls.parameters) or "no parameter"
            raise BadInput(f"{cls.name} takes {takes}, not {len(values)} numbers behind @")
        return cls(**dict(zip(cls.parameters, values, strict=False)))

    def at_site(self, site: SiteParameters) -> Policy:  # noqa: ARG002 - most know none of them
        """The policy as it is configured there."""
        return self

    @abstractmethod
    def begin(self, cluster: ClusterView) -> None: ...

    @abstractmethod
    def arrived(self, job: int) -> None:
        """It waits from now on: it was submitted, or its run failed and is to be retried."""

    @abstractmethod
    def ended(self, job: int) -> None:
        """It holds no GPU any more and will not come back."""

    @abstractmethod
    def evicted(self, job: int) -> None:
        """A fault took its GPUs away; `arrived` reports when it waits again."""

    def changed(self, job: int) -> None:  # noqa: B027 - nothing steers a scheduler that asks
        """Its nice number, queue key or planned time is another one now, while it waits or runs."""

    def withdrawn(self, job: int) -> None:
        """It waits no more: it shares the GPUs of a running job, of which it needs none more."""
        raise NotImplementedError

    def inherited(self, job: int) -> None:
        """It shared the GPUs of a job that has left, and holds them alone from now on."""
        raise NotImplementedError

    def priority(self, job: int) -> int:  # noqa: ARG002 - in a plain queue there is room for all
        """Of a waiting job, its nice number subtracted; 1 is the lowest."""
        return PLENTY

    @abstractmethod
    def decide(self) -> None: ...
