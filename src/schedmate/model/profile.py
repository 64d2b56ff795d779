"""How a finished run went, small enough to be kept with it: what the next one like it will do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedmate.model.progress import EndsBy, Unit


@dataclass(frozen=True, slots=True)
class Mark:
    """So much was done so many seconds after the run began."""

    at: float
    done: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProfile:
    """The curve is thinned to a few dozen marks, the last of them the end of the run."""

    unit: Unit | Literal["line"]
    """Lines of the log, where the run counted nothing else."""
    curve: tuple[Mark, ...]
    total: float | None = None
    """How far the log announced that the run would go; it may have done less."""
    ends_by: EndsBy = "unknown"

    @property
    def duration_s(self) -> float:
        return self.curve[-1].at if self.curve else 0.0

    @property
    def done(self) -> float:
        return self.curve[-1].done if self.curve else 0.0
