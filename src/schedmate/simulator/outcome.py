"""What came out of one run, job by job."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedmate.simulator.columns import Columns, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """In order of time: how many more GPUs were held from then on, or fewer."""

    at: Floats
    more: Ints


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
        columns = [name for name in self.__slots__ if name != "changes"]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in columns)
