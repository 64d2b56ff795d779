"""The contract of a trace reader, and what it hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from schedmate.model import JobId, JobState, PastRun

if TYPE_CHECKING:
    from pathlib import Path

# far beyond any cluster, and small enough that no sum over a trace overflows
_MOST_GPUS = 1_000_000
_LONGEST_S = 1e10
_LATEST_S = 1e13
_NOT_ENDED = tuple(state for state in JobState if not state.ended)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceJob:
    """A job that once ran somewhere. Times are seconds, from the epoch or any other zero."""

    job_id: JobId
    user: str
    submit_time: float
    duration: float
    gpus: int
    status: JobState = JobState.COMPLETED
    name: str = ""
    group: str | None = None
    nodes: int = 1
    time_limit: float | None = None
    script: str | None = None
    workdir: str | None = None
    start_time: float | None = None
    gpu_type: str | None = None
    command: str | None = None
    """As it was submitted: `sbatch --gpus=2 train.sh 3`, or what the job ran."""

    def __post_init__(self) -> None:
        if not self.job_id:
            raise ValueError("the job id is empty")
        if not abs(self.submit_time) <= _LATEST_S:
            raise ValueError(f"the submit time is {self.submit_time:g}")
        if not 0 <= self.duration <= _LONGEST_S:
            raise ValueError(f"the duration is {self.duration:g}")
        if not 1 <= self.gpus <= _MOST_GPUS:
            raise ValueError(f"asks for {self.gpus} GPUs")
        if self.status in _NOT_ENDED:
            raise ValueError(f"has not ended: {self.status}")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was left out: the line it stands on and what is wrong with it."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    name: str
    jobs: tuple[TraceJob, ...]
    bad_rows: tuple[BadRow, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many sound rows are no job for a GPU cluster, by the reason in words."""
    gpus: int | None = None
    """Of the cluster it ran on, where the file says."""
    notes: tuple[str, ...] = ()
    """What a figure from this trace rests on, in words."""
    runs: Mapping[JobId, PastRun] = field(default_factory=dict)
    """Where a store has them: each job with what was read of its code."""


class TraceReader(Protocol):
    """One file format. `sniff` looks at the first bytes only and never raises on odd content."""

    @property
    def name(self) -> str: ...

    def sniff(self, path: Path) -> bool: ...

    def read(self, path: Path) -> Trace:
        """Return every usable job; raise `BadInput` where the file itself cannot be read."""
