"""What came out of a simulation, in sum."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from schedmate.simulator.columns import Columns, Floats
    from schedmate.simulator.outcome import Outcome


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
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

    def better_than_first(self) -> dict[str, float | None]:
        """How many times shorter the average completion time is; None where it is nothing."""
        first = next(iter(self.policies.values())).avg_jct_s
        return {
            name: first / each.avg_jct_s if each.avg_jct_s else None
            for name, each in self.policies.items()
        }

    def as_json(self) -> dict[str, Any]:
        """The public object; what came later than its first version stands at its end."""
        told = asdict(self) | {"times_better": self.better_than_first()}
        return told if self.setting else {key: told[key] for key in told if key != "setting"}


def waited_s(columns: Columns, outcome: Outcome) -> Floats:
    """Seconds each job held no GPU: before its first start and, where it was interrupted, after."""
    to_the_start = outcome.start - columns.submit
    in_all = outcome.end - columns.submit - outcome.gpu_seconds / columns.gpus
    waited: Floats = np.where(
        outcome.preemptions > 0, np.maximum(to_the_start, in_all), to_the_start
    )
    return waited


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
    columns: Columns, outcome: Outcome, *, gpus: int, wall_seconds: float = 0.0
) -> Summary:
    """The figures of one run of at least one job."""
    jct = outcome.end - columns.submit
    makespan = float(outcome.end.max() - columns.submit[0])
    p50, p99 = quantiles(jct, 0.5, 0.99)
    return Summary(
        avg_jct_s=float(jct.mean()),
        p50_jct_s=p50,
        p99_jct_s=p99,
        avg_queue_s=float(waited_s(columns, outcome).mean()),
        makespan_s=makespan,
        gpu_utilization=float(outcome.gpu_seconds.sum()) / (gpus * makespan) if makespan else 0.0,
        preemptions=int(outcome.preemptions.sum()),
        wall_seconds=wall_seconds,
    )
