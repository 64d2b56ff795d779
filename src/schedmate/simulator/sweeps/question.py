"""What somebody asks of a trace: all that it takes to answer, in any process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from schedmate.model import BadInput
from schedmate.simulator.setting import RESTART_S, GpuKind

SYNTHETIC = "synthetic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
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
    overlay: bool | None = None
    """None: where SchedMate stands beside a policy, or one lets jobs share or stretch."""
    restart_s: float = RESTART_S
    error: float | None = None
    assumed: Mapping[str, float] = field(default_factory=dict)
    """Of the overlay."""
    swept: Mapping[str, float] = field(default_factory=dict)

    def with_values(self, values: Mapping[str, float]) -> Question:
        """The same question with what a sweep sets."""
        if self.source != SYNTHETIC:
            self._refuse_of_a_file(values)
        known: dict[str, Any] = {
            _FIELD[name]: int(value) if name in WHOLE else value
            for name, value in values.items()
            if name in _FIELD
        }
        assumed = {name: value for name, value in values.items() if name not in _FIELD}
        return replace(
            self,
            **known,
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
