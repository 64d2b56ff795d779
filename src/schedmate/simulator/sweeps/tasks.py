"""What is asked of a trace, in any process: one task, or every combination of a sweep.

`load=0.7,0.9` and `seed=0..4` are values to try.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any

from schedmate.model import BadInput, SchedMateError
from schedmate.policies.slurm_parameters import SlurmParameters
from schedmate.simulator.experiments.setting import RESTART_S, GpuKind
from schedmate.simulator.synthetic import NO_LEVERS, Assumptions, Levers

SYNTHETIC = "synthetic"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationTask:
    """One trace, one cluster, some policies."""

    source: str
    """A file, or the word `synthetic`."""
    policies: tuple[str, ...]
    gpus: int | None = None
    load: float | None = None
    """What the cluster is sized for, where `gpus` does not say; of a synthetic trace always."""
    gpus_per_node: int | None = None
    spread: bool = False
    kinds: tuple[GpuKind, ...] = ()
    faults: bool = False
    by_group: bool = False
    seed: int = 0
    jobs: int = 2000
    like: str | None = None
    workload: bool | None = None
    """None: for jobs that are synthetic themselves, where SchedMate stands beside a policy or one
    lets jobs share or stretch; never for those of a file."""
    restart_s: float = RESTART_S
    error: float | None = None
    levers: Levers = NO_LEVERS
    """What may be done to jobs beside an unmodified scheduler, beyond their order."""
    slurm: SlurmParameters | None = None
    """Of policies that go by them, where a file states them."""
    controls: bool = False
    """Whether plans with an advisor are run by every other predictor, too."""
    assumed: Mapping[str, float] = field(default_factory=dict)
    """Of the synthetic workload."""
    swept: Mapping[str, float] = field(default_factory=dict)

    def with_values(self, values: Mapping[str, float]) -> SimulationTask:
        """The same task with what a sweep sets."""
        if self.source != SYNTHETIC:
            self._refuse_of_a_file(values)
        known: dict[str, Any] = {
            _FIELD[name]: int(value) if name in WHOLE else value
            for name, value in values.items()
            if name in _FIELD
        }
        levers: dict[str, Any] = {
            name: value for name, value in values.items() if name in LEVER_SHARES
        }
        others = {*_FIELD, *levers}
        assumed = {name: value for name, value in values.items() if name not in others}
        return replace(
            self,
            **known,
            levers=replace(self.levers, **levers),
            assumed={**self.assumed, **assumed},
            swept={**self.swept, **values},
        )

    def _refuse_of_a_file(self, values: Mapping[str, float]) -> None:
        if "jobs" in values:
            raise BadInput(f"{self.source} has the jobs it has: sweep over jobs of `{SYNTHETIC}`")
        if "load" in values and (self.gpus is not None or "gpus" in values):
            raise BadInput("a sweep over load sizes the cluster: leave the GPUs out")

    @property
    def title(self) -> str:
        """The trace and what was varied, for messages."""
        values = ", ".join(f"{name}={value:g}" for name, value in self.swept.items())
        return f"{self.source} ({values})" if values else self.source


WHOLE = frozenset({"seed", "gpus", "jobs"})
_FIELD = {name: name for name in ("seed", "gpus", "jobs", "load", "error")}
_FIELD["restart_cost"] = "restart_s"


_MOST_SETTINGS = 10_000
_LEAST = {
    "load": 0.01,
    "seed": 0,
    "gpus": 1,
    "jobs": 1,
    "error": 0,
    "restart_cost": 0,
}
_MOST = {"load": 10.0, "gpus": 10_000_000, "jobs": 10_000_000, "error": 10.0}
LEVER_SHARES = tuple(each.name for each in fields(Levers) if each.name != "blind")
VARIED = (*_LEAST, *LEVER_SHARES, *(each.name for each in fields(Assumptions)))
"""All that a sweep can set; the last ones are the synthetic workload's assumptions."""


def settings_of(sweeps: Sequence[str]) -> list[dict[str, float]]:
    """Every combination, the last thing named changing fastest; one empty one for no sweep."""
    values: dict[str, tuple[float, ...]] = {}
    for spoken in sweeps:
        name, found = varied(spoken)
        values[name] = tuple(dict.fromkeys((*values.get(name, ()), *found)))
    count = math.prod(len(each) for each in values.values())
    if count > _MOST_SETTINGS:
        raise BadInput(f"that is {count} settings; a sweep may have {_MOST_SETTINGS}")
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def varied(spoken: str) -> tuple[str, tuple[float, ...]]:
    """One `--sweep`: a name and its values."""
    name, equals, values = spoken.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not values.strip():
        raise BadInput(f"--sweep {spoken!r} needs a name and values, such as load=0.7,0.9,1.1")
    if name not in VARIED:
        raise BadInput(f"nothing to sweep is called {name!r}; there are: {', '.join(VARIED)}")
    found = [value for part in values.split(",") for value in _values(name, part.strip())]
    _check(name, found)
    return name, tuple(found)


def _values(name: str, part: str) -> Sequence[float]:
    first, dots, last = part.partition("..")
    try:
        if not dots:
            return [float(part)]
        begin, end = int(first), int(last)
    except ValueError as error:
        raise BadInput(
            f"--sweep {name}: {part!r} is neither a number nor a range such as 0..4"
        ) from error
    if end - begin >= _MOST_SETTINGS:
        raise BadInput(f"--sweep {name}: {part} has more than {_MOST_SETTINGS} values")
    return [float(value) for value in range(begin, end + 1)]


def _check(name: str, values: Sequence[float]) -> None:
    if not values:
        raise BadInput(f"--sweep {name}: the range ends before it begins")
    least, most = _LEAST.get(name, 0.0), _MOST.get(name, 1e9)
    for value in values:
        if not least <= value <= most:
            raise BadInput(f"--sweep {name}: {value:g} is not within {least:g} and {most:g}")
        if name in WHOLE and value != int(value):
            raise BadInput(f"--sweep {name}: {value:g} is no whole number")


class FailedSetting(SchedMateError):
    """One setting of a sweep could not be simulated."""


@contextmanager
def named(task: SimulationTask) -> Iterator[None]:
    try:
        yield
    except SchedMateError as error:
        if not task.swept:
            raise
        failed = FailedSetting(f"{task.title}: {error}")
        failed.exit_code = error.exit_code
        raise failed from error
    except Exception as error:
        if not task.swept:
            raise
        raise FailedSetting(f"{task.title} failed: {type(error).__name__}: {error}") from error
