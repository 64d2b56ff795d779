"""What is predicted of each job's run time when it is submitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schedmate.model.advice import Basis
from schedmate.simulator.traces.columns import Floats, TraceColumns


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Seconds, `nan` where unknown. True run times are in here only where the source is an
    oracle."""

    p10: Floats
    p50: Floats
    p90: Floats
    cost_s: Floats
    """Seconds after the submission at which it is known: reading a job takes time."""
    source: str
    basis: Sequence[Basis] | None = None
    """What each prediction rests on; None where all rest on the history of durations."""

    @classmethod
    def exactly(cls, seconds: Floats, source: str) -> Estimates:
        return cls(seconds, seconds, seconds, np.zeros(len(seconds)), source)

    def last(self, jobs: int) -> Estimates:
        """Of the last so many jobs."""
        which = slice(len(self.p50) - jobs, None)
        basis = None if self.basis is None else self.basis[which]
        low, middle, high = (each[which] for each in (self.p10, self.p50, self.p90))
        return Estimates(low, middle, high, self.cost_s[which], self.source, basis)


def unknown(columns: TraceColumns) -> Estimates:
    return Estimates.exactly(np.full(len(columns), np.nan), "none")


def oracle(columns: TraceColumns) -> Estimates:
    return Estimates.exactly(columns.duration, "oracle")


def mistaken(columns: TraceColumns, error: float, *, seed: int) -> Estimates:
    """The truth, off by a log-normal error."""
    off = np.random.default_rng([seed, len(columns)]).normal(0.0, 1.0, len(columns))
    return Estimates.exactly(columns.duration * np.exp(error * off), "oracle with errors")


def limits(columns: TraceColumns) -> Estimates:
    return Estimates.exactly(np.where(np.isinf(columns.limit), np.nan, columns.limit), "limit")
