"""What a policy sees of a cluster and may do to it. A policy never owns the loop.

Jobs are numbers, in order of submission. The loop tells a policy what happened at one moment and
then asks it, once, to decide. How long a job really takes is not to be seen here: only what was
asked for and what somebody expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Discipline = Literal["strict", "first_fit", "easy", "conservative"]
"""Who may overtake a job that does not fit: nobody; who fits; who delays no head; nor anybody."""
Key = Literal["place", "expected", "expected_service"]
"""The order of waiting: by place in line, by expected run time, or by that times GPUs."""
Source = Literal["oracle", "limit", "qssf", "ebm"]
"""Who says how long a job will run, where SchedMate does not."""
PLACE_PER_NICE = 3.0
"""Seconds by which one nice number moves a job back in line: in Slurm's terms the inverse of
PriorityWeightAge / PriorityMaxAge."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a scheduler sees of its jobs; users, groups and names are numbers."""

    submit: Sequence[float]
    gpus: Sequence[int]
    user: Sequence[int]
    group: Sequence[int]
    name: Sequence[int]
    limit: Sequence[float]
    """The user's time limit; infinite where there is none."""
    expected: Sequence[float]
    """Seconds it is expected to run, told at submission; `nan` where nobody says."""
    planned: Sequence[float]
    """Seconds that backfilling plans with: the limit, or a better one where somebody says."""
    place: Sequence[float]
    """Its place in a line of first come, first served: when it was submitted, or later where
    somebody holds it back (a nice number). Equal places go by submission."""
    doubt: Sequence[float]
    """How sure `expected` is: the standard deviation of its logarithm; `nan` where nobody says."""


class World(Protocol):
    """One cluster in one run."""

    jobs: Seen

    @property
    def now(self) -> float: ...

    @property
    def gpus(self) -> int:
        """GPUs that work, used or not."""

    @property
    def free(self) -> int: ...

    def running(self) -> Sequence[int]:
        """In the order in which they were started last."""

    def kinds(self) -> Sequence[int]:
        """GPUs that work, used or not, of each type there is; a type is its number in here."""

    def speed(self, job: int, kind: int) -> float:
        """How fast it runs on GPUs of a type, alone and on as many as it asked for, 1 being the
        type its run time is meant for: a table of measured throughputs, which Gavel and Sia take
        for granted. 1 where nobody measured."""

    def fits(self, job: int, gpus: int | None = None, kind: int | None = None) -> bool:
        """Whether `start` would work, nodes and their gaps considered."""

    def start(self, job: int, gpus: int | None = None, kind: int | None = None) -> bool:
        """Give a job its GPUs, all at once: those it asked for, or as many as are named; of one
        type where that is named, else of whichever is free, never of two.

        A job that ran before goes on where it was, after the cost of a restart.
        """

    def start_beside(self, job: int, host: int) -> bool:
        """Let a job share the GPUs of one that runs; both run at the pace that gives."""

    def stop(self, job: int, *, keep_work: bool = True) -> None:
        """Take a job off its GPUs; it waits again, and the policy need not be told."""

    def served(self, job: int) -> float:
        """Seconds it has held GPUs so far."""

    def remaining(self, job: int) -> float:
        """Seconds it is expected to run from here: by its log where that is read, else what was
        expected less what was served; never below zero, `nan` where nobody says."""

    def pace(self, job: int) -> float:
        """How fast it was seen to run, 1 being alone on what it asked for (throughput measured,
        which is what a profiler or a tracked log tells). 1 where it never ran."""

    def utilization(self, job: int) -> float:
        """The share of its GPUs' time that it uses when alone, as a profiler measures it: ask
        only for jobs that have run, or have likes that have."""

    def memory_share(self, job: int) -> float:
        """The share of its GPUs' memory that it needs, as a profiler measures it."""

    def wake_at(self, time: float) -> None:
        """Be asked to decide at that time even if nothing happens."""


class Policy(Protocol):
    """One run's policy: made anew for each."""

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> Source | None:
        """Who tells it what to expect of a job, where it wants to be told."""

    def begin(self, world: World) -> None: ...

    def arrived(self, job: int) -> None:
        """It waits from now on: it was submitted, or its run failed and is to be tried again."""

    def ended(self, job: int) -> None:
        """It holds no GPU any more and will not come back."""

    def evicted(self, job: int) -> None:
        """A fault took its GPUs away; `arrived` tells when it waits again."""

    def decide(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Fast:
    """What a compiled kernel needs to know to stand in for a policy."""

    kernel: Literal["static", "preemptive", "staged"]
    discipline: Discipline = "first_fit"
    key: Key = "place"
    settings: tuple[tuple[str, Any], ...] = ()
