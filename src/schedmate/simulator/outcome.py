"""What came out of one run, job by job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schedmate.simulator.columns import Columns, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """In order of time: how many more GPUs were held from then on, or fewer."""

    at: Floats
    more: Ints

    @classmethod
    def together(cls, parts: Sequence[Changes | None]) -> Changes | None:
        """Of several pools; None where one of them has none."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        at = np.concatenate([part.at for part in known])
        order = np.argsort(at, kind="stable")
        return cls(at[order], np.concatenate([part.more for part in known])[order])


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Columns in order of submission. A job that was tried again has its first start and its last
    end; `gpu_seconds` is all it held, restarts and lost work included."""

    start: Floats
    end: Floats
    gpu_seconds: Floats
    preemptions: Ints
    status: Ints
    """How it ended at last: index into `STATES`."""
    changes: Changes | None = None
    """When GPUs were taken and given back, where that was written down."""

    @classmethod
    def unbroken(cls, columns: Columns, start: Floats, end: Floats) -> Outcome:
        """Every job ran once, from start to end, on the GPUs it asked for."""
        return cls(
            start=start,
            end=end,
            gpu_seconds=(end - start) * columns.gpus,
            preemptions=np.zeros(len(columns), dtype=np.int64),
            status=columns.status,
        )

    def same_as(self, other: Outcome) -> bool:
        """Bit by bit, of every job."""
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in PER_JOB)


PER_JOB = ("start", "end", "gpu_seconds", "preemptions", "status")
"""The columns of an outcome that have a value for every job."""
