"""A trace as columns: what a million jobs are to a simulation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from schedmate.model import JobState
from schedmate.simulator.traces.base import TraceJob

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STATES = tuple(JobState)


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of words: for each job the number of its word."""

    codes: Ints
    words: tuple[str, ...]

    @classmethod
    def of(cls, words: Iterable[str]) -> Coded:
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(word, len(numbers)) for word in words]
        return cls(np.array(codes, dtype=np.int64), tuple(numbers))

    def __getitem__(self, job: int) -> str:
        return self.words[int(self.codes[job])]

    def take(self, which: Ints) -> Coded:
        """Of some of the jobs."""
        return Coded(self.codes[which], self.words)


@dataclass(frozen=True, eq=False)
class TraceColumns:
    """In order of submission, equal times in the order of the trace."""

    ids: Sequence[str]
    submit: Floats
    duration: Floats
    gpus: Ints
    status: Ints
    """Index into `STATES`."""
    limit: Floats
    """Infinite where none is known."""
    nodes: Ints
    user: Coded
    group: Coded
    name: Coded
    gpu_type: Coded
    start: Floats | None = None
    """When each really started; None where that is unknown of one."""
    limit_drawn: NDArray[np.bool_] | None = None
    """Whose limit the trace does not state; None where all are stated, or none was drawn."""

    @property
    def stated_limit(self) -> Floats:
        """What predictors may see. A limit that was drawn follows from the run time and would tell
        it; schedulers plan with it all the same."""
        if self.limit_drawn is None:
            return self.limit
        return np.where(self.limit_drawn, np.inf, self.limit)

    def __len__(self) -> int:
        return len(self.submit)

    @cached_property
    def span_s(self) -> float:
        """How long jobs kept coming."""
        return float(self.submit[-1] - self.submit[0]) if len(self) else 0.0

    @cached_property
    def gpu_seconds(self) -> float:
        return float(np.sum(self.duration * self.gpus))

    def load(self, gpus: int) -> float:
        """Work asked for over what the GPUs can do while jobs come; infinite where they all come
        at once."""
        return self.gpu_seconds / (gpus * self.span_s) if self.span_s else float("inf")

    def take(self, which: NDArray[np.bool_] | Ints) -> TraceColumns:
        """Some of the jobs, still in order."""
        chosen: Ints = np.flatnonzero(which) if which.dtype == np.bool_ else np.sort(which)
        return TraceColumns(
            ids=[self.ids[job] for job in chosen.tolist()],
            submit=self.submit[chosen],
            duration=self.duration[chosen],
            gpus=self.gpus[chosen],
            status=self.status[chosen],
            limit=self.limit[chosen],
            nodes=self.nodes[chosen],
            user=self.user.take(chosen),
            group=self.group.take(chosen),
            name=self.name.take(chosen),
            gpu_type=self.gpu_type.take(chosen),
            start=None if self.start is None else self.start[chosen],
            limit_drawn=None if self.limit_drawn is None else self.limit_drawn[chosen],
        )


def columns_of(jobs: Sequence[TraceJob]) -> TraceColumns:
    ordered = sorted(jobs, key=lambda job: job.submit_time)
    state_numbers = {state: number for number, state in enumerate(STATES)}
    return TraceColumns(
        ids=[job.job_id for job in ordered],
        submit=np.array([job.submit_time for job in ordered], dtype=np.float64),
        duration=np.array([job.duration for job in ordered], dtype=np.float64),
        gpus=np.array([job.gpus for job in ordered], dtype=np.int64),
        status=np.array([state_numbers[job.status] for job in ordered], dtype=np.int64),
        limit=np.array(
            [np.inf if job.time_limit is None else job.time_limit for job in ordered],
            dtype=np.float64,
        ),
        nodes=np.array([job.nodes for job in ordered], dtype=np.int64),
        user=Coded.of(job.user for job in ordered),
        group=Coded.of(job.group or "" for job in ordered),
        name=Coded.of(job.name for job in ordered),
        gpu_type=Coded.of(job.gpu_type or "" for job in ordered),
        start=_starts(ordered),
    )


def _starts(jobs: Sequence[TraceJob]) -> Floats | None:
    known = [job.start_time for job in jobs if job.start_time is not None]
    return np.array(known, dtype=np.float64) if known and len(known) == len(jobs) else None
