"""Runs made small enough to draw: curves, waits by size, gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from schedmate.simulator.engine.outcome import (
    PolicyComparison,
    SimulationOutcome,
    quantiles,
    waited_s,
)
from schedmate.simulator.report.gains import Gains, JobClass, by_gpus, gains
from schedmate.simulator.traces.columns import Floats, Ints, TraceColumns

_EVEN_POINTS = 300
_TAIL_POINTS = 60
_BINS = 240
_DRAIN_SHOWN = 0.25


@dataclass(frozen=True, slots=True)
class Curve:
    """One policy's line; `x` rises."""

    policy: str
    x: tuple[float, ...]
    y: tuple[float, ...]


def cdf(policy: str, values: Floats) -> Curve:
    """The share of jobs at or below a value, first and last one included."""
    ordered = np.sort(values)
    ranks = _shown_ranks(len(ordered))
    shares = (ranks + 1) / len(ordered)
    return Curve(policy, tuple(ordered[ranks].tolist()), tuple(shares.tolist()))


def _shown_ranks(jobs: int) -> Ints:
    """Evenly spread, and closer together towards the slowest, whom people ask about."""
    if jobs <= _EVEN_POINTS + _TAIL_POINTS:
        return np.arange(jobs)
    even = np.linspace(0, jobs - 1, _EVEN_POINTS)
    tail = jobs - np.geomspace(1, jobs, _TAIL_POINTS)
    return np.array(sorted(set(np.rint(np.concatenate([even, tail])).astype(int).tolist())))


def time_bins(columns: TraceColumns, last_end: float) -> Floats:
    """Edges from the first submission until all has ended, or a while after the last came."""
    first = float(columns.submit[0])
    shown = float(columns.submit[-1]) + _DRAIN_SHOWN * columns.span_s if columns.span_s else np.inf
    end = min(last_end, shown)
    return np.linspace(first, max(end, first + 1.0), _BINS + 1)


def utilisation(
    policy: str, columns: TraceColumns, outcome: SimulationOutcome, *, gpus: int, edges: Floats
) -> Curve:
    """The share of the GPUs that were held, on average over each bin."""
    if outcome.changes is not None:
        held = _area_before(outcome.changes.at, outcome.changes.more.astype(np.float64), edges)
        level = np.maximum(np.diff(held) / np.diff(edges), 0.0)
    else:
        level = _held_evenly(columns, outcome, edges)
    return _over_time(policy, level / gpus, edges)


def is_smoothed(outcome: SimulationOutcome) -> bool:
    """Whether jobs were interrupted at times that were not recorded."""
    return outcome.changes is None and bool(outcome.interrupted.any())


def _held_evenly(columns: TraceColumns, outcome: SimulationOutcome, edges: Floats) -> Floats:
    """What an interrupted job held is spread evenly from its first start to its end."""
    took = outcome.end - outcome.start
    held = np.divide(outcome.gpu_seconds, took, out=np.zeros(len(columns)), where=took > 0)
    return _mean_level(outcome.start, outcome.end, held, edges)


def queue_length(
    policy: str, columns: TraceColumns, outcome: SimulationOutcome, *, edges: Floats
) -> Curve:
    """Jobs that hold no GPU, on average over each bin. Of one that was interrupted, what it waited
    after its first start is spread evenly from there to its end."""
    level = _mean_level(columns.submit, outcome.start, np.ones(len(columns)), edges)
    stopped = waited_s(columns, outcome) - (outcome.start - columns.submit)
    took = outcome.end - outcome.start
    share = np.divide(stopped, took, out=np.zeros(len(columns)), where=took > 0)
    level = level + _mean_level(outcome.start, outcome.end, np.clip(share, 0.0, 1.0), edges)
    return _over_time(policy, level, edges)


def _over_time(policy: str, level: Floats, edges: Floats) -> Curve:
    since_first = edges[:-1] - edges[0]
    return Curve(policy, tuple(since_first.tolist()), tuple(level.tolist()))


def _mean_level(begin: Floats, end: Floats, height: Floats, edges: Floats) -> Floats:
    """Mean over each bin of the sum of rectangles, by the difference of their integrals."""
    area = _area_before(begin, height, edges) - _area_before(end, height, edges)
    level: Floats = np.diff(area) / np.diff(edges)
    return np.maximum(level, 0.0)


def _area_before(since: Floats, height: Floats, edges: Floats) -> Floats:
    """At each edge the integral of all that rose by `height` at `since` and stayed."""
    edge = np.searchsorted(edges, since)
    raised = np.cumsum(np.bincount(edge, height, len(edges) + 1))[:-1]
    moment = np.cumsum(np.bincount(edge, height * (since - edges[0]), len(edges) + 1))[:-1]
    area: Floats = raised * (edges - edges[0]) - moment
    return area


class Ran(Protocol):
    """One policy's run."""

    @property
    def policy(self) -> str: ...

    @property
    def outcome(self) -> SimulationOutcome: ...


@dataclass(frozen=True, slots=True)
class Waits:
    """How long one policy let the jobs of each size wait; mean, median and 90th percentile."""

    policy: str
    mean_s: tuple[float, ...]
    p50_s: tuple[float, ...]
    p90_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    compared: PolicyComparison
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
    """Policies that interrupt jobs at times that were not recorded."""
    gains: tuple[Gains, ...]


def digest(compared: PolicyComparison, columns: TraceColumns, runs: Sequence[Ran]) -> Digest:
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


def _waits(run: Ran, columns: TraceColumns, sizes: Sequence[JobClass]) -> Waits:
    waited = waited_s(columns, run.outcome)
    by_size = [waited[size.jobs] for size in sizes]
    middle = [quantiles(waits, 0.5, 0.9) for waits in by_size]
    return Waits(
        policy=run.policy,
        mean_s=tuple(float(waits.mean()) for waits in by_size),
        p50_s=tuple(p50 for p50, _ in middle),
        p90_s=tuple(p90 for _, p90 in middle),
    )
