"""What came out of a run, job by job and in sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from schedmate.policies import Kind
from schedmate.simulator.traces.columns import Floats, Ints, TraceColumns


@dataclass(frozen=True, slots=True, eq=False)
class GpuChanges:
    """In order of time: how many more GPUs were held from then on, or fewer."""

    at: Floats
    more: Ints

    @classmethod
    def together(cls, parts: Sequence[GpuChanges | None]) -> GpuChanges | None:
        """Of several pools; None where one of them has none."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        at = np.concatenate([part.at for part in known])
        order = np.argsort(at, kind="stable")
        return cls(at[order], np.concatenate([part.more for part in known])[order])


@dataclass(frozen=True, slots=True, eq=False)
class SimulationOutcome:
    """Columns in order of submission. A job that was tried again has its first start and its last
    end; `gpu_seconds` is all it held, restarts and lost work included."""

    start: Floats
    end: Floats
    gpu_seconds: Floats
    preemptions: Ints
    """How often the policy stopped it."""
    requeues: Ints
    """How often its run was cut short by something else and it was queued again: a node that
    failed, a hang that was ended."""
    status: Ints
    """How it ended at last: index into `STATES`."""
    changes: GpuChanges | None = None
    """When GPUs were taken and given back, where that was written down."""

    @classmethod
    def unbroken(cls, columns: TraceColumns, start: Floats, end: Floats) -> SimulationOutcome:
        """Every job ran once, from start to end, on the GPUs it asked for."""
        return cls(
            start=start,
            end=end,
            gpu_seconds=(end - start) * columns.gpus,
            preemptions=np.zeros(len(columns), dtype=np.int64),
            requeues=np.zeros(len(columns), dtype=np.int64),
            status=columns.status,
        )

    @property
    def interrupted(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which jobs ran in more than one piece."""
        return np.asarray((self.preemptions > 0) | (self.requeues > 0))

    def same_as(self, other: SimulationOutcome) -> bool:
        """Bit by bit, of every job."""
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in PER_JOB)


PER_JOB = ("start", "end", "gpu_seconds", "preemptions", "requeues", "status")
"""The columns of an outcome that have a value for every job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    avg_jct_s: float
    p50_jct_s: float
    p99_jct_s: float
    avg_queue_s: float
    makespan_s: float
    gpu_utilization: float
    preemptions: int
    wall_seconds: float = field(compare=False)
    requeues: int = 0
    avg_slowdown: float = 1.0
    """Of `slowdowns`."""
    worst_user_slowdown: float = 1.0
    """The largest average of a user."""
    worst_wait_s: float = 0.0
    """Of the job that waited longest."""


_SHORT_S = 60.0
KINDS: dict[Kind, str] = {
    "beside": "beside an unmodified scheduler",
    "asking": "inside a scheduler that asks",
    "oracle": "reference: knows the true run times",
}
"""Headings of the tables: figures of different kinds are not to be mixed up."""
Code = Literal["synthetic", "own", "none"]
"""What a run with SchedMate knows of its jobs' code: drawn by us, read from theirs, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyComparison:
    """The same trace under several policies: the JSON of `schedmate simulate`."""

    schema: Literal["schedmate.simulation/1"] = "schedmate.simulation/1"
    trace: str
    jobs: int
    gpus: int
    assumptions: tuple[str, ...]
    policies: dict[str, Summary]
    load: float | None = None
    """Work asked for over what the GPUs can do while jobs come; None where all come at once."""
    setting: dict[str, float] = field(default_factory=dict)
    """What a sweep set, by its name."""
    kinds: dict[str, Kind] = field(default_factory=dict)
    """Of each policy: beside an unmodified scheduler, inside one that asks, or an oracle."""
    controls: dict[str, dict[str, Summary]] = field(default_factory=dict)
    """Of a policy with SchedMate's predictions: the same by other predictors, where asked for."""
    code_read: int | None = None
    """Of how many jobs the code was read, where it is their own."""
    code: dict[str, Code] = field(default_factory=dict)
    """Of each policy whose run goes by code: whose code it is."""

    def by_kind(self) -> dict[Kind, dict[str, Summary]]:
        """The policies of each kind, kinds in the order of `KINDS`."""
        found: dict[Kind, dict[str, Summary]] = {kind: {} for kind in KINDS}
        for name, summary in self.policies.items():
            found[self.kinds.get(name, "beside")][name] = summary
        return {kind: each for kind, each in found.items() if each}

    def better_than_first(self) -> dict[str, float | None]:
        """How many times shorter the average completion time is; None where it is nothing."""
        first = next(iter(self.policies.values())).avg_jct_s
        return {
            name: first / each.avg_jct_s if each.avg_jct_s else None
            for name, each in self.policies.items()
        }

    def unaided(self, name: str) -> str:
        """What a policy with SchedMate is compared with: itself without, else the first."""
        policy = name.partition("+")[0]
        return policy if policy in self.policies else next(iter(self.policies))

    def as_json(self) -> dict[str, Any]:
        """The public object; what came later than its first version stands at its end."""
        public = asdict(self) | {"times_better": self.better_than_first()}
        public["kinds"] = public.pop("kinds")
        for part in ("code", "controls"):
            for name, value in public.pop(part).items():
                public["policies"][name][part] = value
        if self.code_read is None:
            del public["code_read"]
        return public if self.setting else {key: public[key] for key in public if key != "setting"}


def waited_s(columns: TraceColumns, outcome: SimulationOutcome) -> Floats:
    """Seconds each job held no GPU: before its first start and, where it was interrupted, after."""
    to_the_start = outcome.start - columns.submit
    in_all = outcome.end - columns.submit - outcome.gpu_seconds / columns.gpus
    waited: Floats = np.where(outcome.interrupted, np.maximum(to_the_start, in_all), to_the_start)
    return waited


def slowdowns(completion_s: Floats, run_s: Floats) -> Floats:
    """Completion over run time, of which a minute counts at least: 1 for a job that never waits.
    The last axis of both is jobs."""
    slowdown: Floats = np.maximum(completion_s / np.maximum(run_s, _SHORT_S), 1.0)
    return slowdown


def quantiles(values: Floats, *shares: float) -> list[float]:
    """Linear between the two nearest values. NumPy's own first loads its masked arrays, which
    takes longer than all the rest of a small report."""
    places = [share * (len(values) - 1) for share in shares]
    near = sorted({at for place in places for at in (math.floor(place), math.ceil(place))})
    ordered = np.partition(values, near)
    found = []
    for place in places:
        below, above = float(ordered[math.floor(place)]), float(ordered[math.ceil(place)])
        found.append(below + (above - below) * (place - math.floor(place)))
    return found


def summary_of(
    columns: TraceColumns, outcome: SimulationOutcome, *, gpus: int, wall_seconds: float = 0.0
) -> Summary:
    """The figures of one run of at least one job."""
    jct = outcome.end - columns.submit
    makespan = float(outcome.end.max() - columns.submit[0])
    p50, p99 = quantiles(jct, 0.5, 0.99)
    waited = waited_s(columns, outcome)
    slowdown = slowdowns(jct, columns.duration)
    users = columns.user.codes
    jobs_of_user = np.maximum(np.bincount(users), 1)
    return Summary(
        avg_jct_s=float(jct.mean()),
        p50_jct_s=p50,
        p99_jct_s=p99,
        avg_queue_s=float(waited.mean()),
        makespan_s=makespan,
        gpu_utilization=float(outcome.gpu_seconds.sum()) / (gpus * makespan) if makespan else 0.0,
        preemptions=int(outcome.preemptions.sum()),
        wall_seconds=wall_seconds,
        requeues=int(outcome.requeues.sum()),
        avg_slowdown=float(slowdown.mean()),
        worst_user_slowdown=float((np.bincount(users, slowdown) / jobs_of_user).max()),
        worst_wait_s=float(waited.max()),
    )
