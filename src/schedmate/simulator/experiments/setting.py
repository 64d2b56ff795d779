"""What is simulated: these jobs on that cluster.

Traces without time limits are given some, as backfill needs them: drawn as users choose them on
ThetaGPU (22,606 jobs): a quarter ran into its limit, half requested less than 6.8 times what they
ran, a quarter more than 60 times; and in round figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from schedmate.core import FairnessLimits, PreemptionLimits
from schedmate.model import BadInput, PastRun
from schedmate.policies import DEFAULT_ORDERING, SiteParameters
from schedmate.simulator.engine.faults import Fault
from schedmate.simulator.engine.outcome import Code
from schedmate.simulator.synthetic import (
    NO_LEVERS,
    JobLevers,
    Levers,
    SyntheticWorkload,
    draw_levers,
)
from schedmate.simulator.traces.columns import Floats, Ints, TraceColumns

DEFAULT_LOAD = 0.9
RESTART_S = 60.0


@dataclass(frozen=True, slots=True)
class GpuKind:
    """GPUs of one kind; `speed` is how fast a job runs on them, 1 being as in the trace."""

    name: str
    gpus: int
    speed: float = 1.0


def gpu_kinds(text: str) -> tuple[GpuKind, ...]:
    """From `a100:32:2.5,v100:64`: name, GPUs, speed."""
    kinds = tuple(_gpu_kind(word.strip()) for word in text.split(","))
    if len({kind.name for kind in kinds}) < len(kinds):
        raise BadInput(f"{text!r} names a kind of GPU twice")
    return kinds


def _gpu_kind(word: str) -> GpuKind:
    name, _, rest = word.partition(":")
    gpus, _, speed = rest.partition(":")
    try:
        kind = GpuKind(name, int(gpus), float(speed or 1.0))
    except ValueError:
        kind = GpuKind("", 0)
    if not (kind.name and kind.gpus > 0 and 0 < kind.speed < math.inf):
        raise BadInput(f"{word!r} is no kind of GPU: say name:GPUs:speed, for example a100:32:2.5")
    return kind


@dataclass(frozen=True, eq=False, slots=True)
class Past:
    """Jobs that had ended before the first of a setting was submitted: what a site remembers. Every
    predictor knows them; they are not simulated."""

    columns: TraceColumns
    """These jobs, and behind them those of the setting."""
    known_at: Floats
    """When each of these jobs had ended."""
    workload: SyntheticWorkload | None = None
    """Of all the columns."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    name: str
    columns: TraceColumns
    gpus: int
    node_sizes: tuple[int, ...] = ()
    """GPUs of each node; empty for one pool without nodes."""
    spread: bool = False
    """Whether a job may be scattered over nodes where it cannot be kept together."""
    kinds: tuple[GpuKind, ...] = ()
    """Empty where all GPUs are alike."""
    per_node: int | None = None
    """GPUs of a node, where there are kinds."""
    restart_s: float = RESTART_S
    seed: int = 0
    workload: SyntheticWorkload | None = None
    recorded: tuple[PastRun, ...] | None = None
    """The jobs as a store remembers them, with what was read of their code, in the columns' order;
    instead of a synthetic workload."""
    past: Past | None = None
    """What predictors know at the beginning; None where they begin without any history."""
    error: float | None = None
    """Where set, every predictor gives the true run time with this error (standard deviation of
    the logarithm): to see how good predictions must be. Oracles stay exact."""
    faults: tuple[Fault, ...] = ()
    ordering: str = DEFAULT_ORDERING
    """By which the decision engine orders jobs beside a scheduler."""
    nice_range: int | None = None
    """The largest nice number, as the daemon's setting of that name; None: the scheduler's own."""
    site: SiteParameters = field(default_factory=SiteParameters)
    """How the scheduler is configured; policies have defaults for what is not stated."""
    learns_within: bool = False
    """Whether predictors beside a scheduler learn from the ends of the run that they order, as a
    daemon does; else from those of the unaided run, once for all runs of a setting."""
    fairness: FairnessLimits = field(default_factory=FairnessLimits)
    """How long the decision engine lets a job be overtaken."""
    levers: Levers = NO_LEVERS
    """What may be done to jobs beside a scheduler, beyond their order."""
    preemption: PreemptionLimits = field(default_factory=PreemptionLimits)
    """By which runs make way, where they may."""
    left_out: int = 0
    """Jobs of the trace that ask for more GPUs than there are."""
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def job_levers(self) -> JobLevers | None:
        if not self.levers:
            return None
        past = None if self.past is None else (self.past.columns, self.past.workload)
        return draw_levers(self.levers, self.columns, self.workload, past, seed=self.seed)

    @property
    def load(self) -> float:
        return self.columns.load(self.gpus)

    @property
    def code_read(self) -> int | None:
        """Of how many jobs the code was read; None where code is synthetic or plays no part."""
        if self.recorded is None:
            return None
        return sum(run.fingerprint is not None for run in self.recorded)

    @property
    def code(self) -> Code:
        if self.workload is not None:
            return "synthetic"
        return "own" if self.code_read else "none"


def gpus_for_load(columns: TraceColumns, load: float = DEFAULT_LOAD) -> int:
    """The cluster that the jobs keep busy for that share of the time they come in, and that can
    hold the largest of them."""
    largest = int(columns.gpus.max())
    if not columns.span_s:
        return largest
    return max(largest, math.ceil(columns.gpu_seconds / (load * columns.span_s)))


def fitting(name: str, columns: TraceColumns, gpus: int) -> tuple[TraceColumns, int]:
    """The jobs that the cluster can hold, and how many it can not."""
    fits = columns.gpus <= gpus
    if not fits.any():
        raise BadInput(f"every job of {name} asks for more than the cluster's {gpus} GPUs")
    left_out = int(len(columns) - fits.sum())
    return (columns.take(fits) if left_out else columns), left_out


def by_group(columns: TraceColumns) -> list[tuple[str, Ints]]:
    """The jobs of each virtual cluster or partition, largest first."""
    codes: Ints = columns.group.codes
    found = [(word, np.flatnonzero(codes == code)) for code, word in enumerate(columns.group.words)]
    return sorted(
        ((word, jobs) for word, jobs in found if len(jobs)), key=lambda pair: -len(pair[1])
    )


def nodes_of(gpus: int, per_node: int) -> Sequence[int]:
    """Whole nodes, and a smaller one for the rest."""
    whole, rest = divmod(gpus, per_node)
    return [per_node] * whole + ([rest] if rest else [])


LIMITS_DRAWN = (
    "jobs without a time limit were given one as users choose them, mostly far too long; "
    "no predictor sees it"
)

_SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
_FACTORS = (1.0, 1.0, 6.8, 60.0, 200.0, 200.0)
_HOUR_S = 3600.0
ROUND_S = (
    np.array([1 / 6, 1 / 3, 0.5, 1, 2, 4, 6, 8, 12, 24, 48, 72, 168, 336, 720, 2160]) * _HOUR_S
)


def with_limits(columns: TraceColumns, *, seed: int) -> TraceColumns:
    """The same jobs; those without a limit get one, which predictors do not see."""
    none = np.isinf(columns.limit)
    if not none.any():
        return columns
    rng = np.random.default_rng([seed, len(columns)])
    factors = np.exp(np.interp(rng.random(len(columns)), _SHARES, np.log(_FACTORS)))
    longest = max(ROUND_S[-1], float(columns.duration.max()))
    steps = np.append(ROUND_S, longest)
    wanted = np.minimum(columns.duration * factors, longest)
    asked = steps[np.searchsorted(steps, wanted)]
    given = np.where(none, np.maximum(asked, columns.duration), columns.limit)
    return replace(columns, limit=given, limit_drawn=none)
