"""What stands beside a simulated scheduler, and what its adapter gives and takes.

`Steered` is the adapter's side: what a real one can show and do, and no more. `Beside` is notified
of what happens, as a daemon sees it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from schedmate.policies import JobColumns


class Steered(Protocol):
    jobs: JobColumns

    @property
    def now(self) -> float: ...

    @property
    def most_nice(self) -> int:
        """How far a waiting job may be moved."""

    def priority(self, job: int) -> int:
        """Of a waiting job, its nice number subtracted."""

    @property
    def nice_an_hour(self) -> float | None:
        """How many nice numbers an hour of waiting outweighs; None where it counts for nothing."""

    def nodes_of(self, job: int) -> Sequence[int]:
        """Those a running job is on; none on a cluster without nodes."""

    def nodes_for(self, job: int) -> Sequence[int]:
        """Those that are up and large enough for a part of the job."""

    def done_s(self, job: int) -> float:
        """Seconds of its work that are done, this run's included."""

    def reaches_at(self, job: int, done_s: float) -> float:
        """When a running job will have done so much, at its present pace."""

    def set_nice(self, job: int, nice: int) -> None: ...

    def set_time_limit(self, job: int, seconds: float | None) -> None: ...

    def requeue(self, job: int, *, exclude_nodes: Collection[int], delay_s: float) -> None:
        """Queue a running or failed job again: with the age of a new one."""

    def hold_back(self, job: int) -> None:
        """Queue a running job again, held, from its last checkpoint on."""

    def release(self, job: int, delay_s: float) -> None:
        """Let a job that is held wait for its turn, so much later at the earliest."""

    @property
    def lets_share(self) -> bool:
        """Whether jobs can share GPUs at all."""

    def share(self, job: int, host: int) -> bool:
        """Start a waiting job on the GPUs of a running one; whether that worked."""

    def cancel(self, job: int) -> None:
        """End a running job for good."""

    def pace(self, job: int) -> float:
        """Of a running job, 1 being alone."""

    def call_at(self, time: float, job: int, purpose: int) -> None:
        """`Beside.called` at that time, after all that happens then."""


class Beside(Protocol):
    def begin(self, scheduler: Steered) -> None: ...

    def submitted(self, job: int) -> None:
        """By its owner; again where it failed and its owner brings it back."""

    def started(self, job: int) -> None: ...

    def preempted(self, job: int) -> None:
        """Its scheduler took it off its GPUs, and it waits again."""

    def ended(self, job: int, *, killed: bool) -> None:
        """`killed`: by a time limit that was lowered."""

    def failed(self, job: int, nodes: Sequence[int]) -> None:
        """One of the nodes it ran on went down."""

    def called(self, job: int, purpose: int) -> None: ...


class Recovery(Protocol):
    """What becomes of work that was interrupted, and what the owner of a failed job does."""

    def restarts_with(self, job: int, done_s: float) -> tuple[float, float]:
        """All the work of the next run, and how much of it need not be done again."""

    def by_hand_s(self, job: int) -> float:
        """Seconds until the owner of a failed job has noticed and submits it again."""


class AtOnce:
    """Nothing is lost but the restart."""

    def __init__(self, work_s: Sequence[float]) -> None:
        self._work_s = work_s

    def restarts_with(self, job: int, done_s: float) -> tuple[float, float]:
        return self._work_s[job], done_s

    def by_hand_s(self, job: int) -> float:  # noqa: ARG002 - the same for every job
        return 0.0
