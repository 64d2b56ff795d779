"""All that a report shows of one setting: small however many jobs there were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schedmate.simulator.columns import Columns
from schedmate.simulator.outcome import Outcome
from schedmate.simulator.report.classes import JobClass, by_gpus
from schedmate.simulator.report.curves import (
    Curve,
    cdf,
    is_smoothed,
    queue_length,
    time_bins,
    utilisation,
)
from schedmate.simulator.report.gains import Gains, gains
from schedmate.simulator.result import Comparison, quantiles, waited_s


class Ran(Protocol):
    """One policy's run."""

    @property
    def policy(self) -> str: ...

    @property
    def outcome(self) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class Waits:
    """How long one policy let the jobs of each size wait; mean, median and 90th percentile."""

    policy: str
    mean_s: tuple[float, ...]
    p50_s: tuple[float, ...]
    p90_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    compared: Comparison
    completion: tuple[Curve, ...]
    sizes: tuple[tuple[str, int], ...]
    """The classes of GPU counts and how many jobs are in each."""
    waits: tuple[Waits, ...]
    busy: tuple[Curve, ...]
    queue: tuple[Curve, ...]
    shown_s: float
    """How long a time `busy` and `queue` show, and of what."""
    lasted_s: float
    smoothed: tuple[str, ...]
    """Policies that interrupt jobs and of which nobody wrote down when."""
    gains: tuple[Gains, ...]


def digest(compared: Comparison, columns: Columns, runs: Sequence[Ran]) -> Digest:
    last_end = max(float(run.outcome.end.max()) for run in runs)
    edges = time_bins(columns, last_end)
    jct = {run.policy: run.outcome.end - columns.submit for run in runs}
    sizes = by_gpus(columns)
    return Digest(
        compared=compared,
        completion=tuple(cdf(policy, values) for policy, values in jct.items()),
        sizes=tuple((size.label, len(size.jobs)) for size in sizes),
        waits=tuple(_waits(run, columns, sizes) for run in runs),
        busy=tuple(
            utilisation(run.policy, columns, run.outcome, gpus=compared.gpus, edges=edges)
            for run in runs
        ),
        queue=tuple(queue_length(run.policy, columns, run.outcome, edges=edges) for run in runs),
        shown_s=float(edges[-1] - edges[0]),
        lasted_s=last_end - float(columns.submit[0]),
        smoothed=tuple(run.policy for run in runs if is_smoothed(run.outcome)),
        gains=gains(columns, jct),
    )


def _waits(run: Ran, columns: Columns, sizes: Sequence[JobClass]) -> Waits:
    waited = waited_s(columns, run.outcome)
    by_size = [waited[size.jobs] for size in sizes]
    middle = [quantiles(waits, 0.5, 0.9) for waits in by_size]
    return Waits(
        policy=run.policy,
        mean_s=tuple(float(waits.mean()) for waits in by_size),
        p50_s=tuple(p50 for p50, _ in middle),
        p90_s=tuple(p90 for _, p90 in middle),
    )
