"""A log format that was learnt from a job's own lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedmate.model.progress import Unit

LearntFrom = Literal["behaviour", "llm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedPattern:
    """A linear-time (RE2) expression whose named groups say what its numbers mean.

    Groups: `current`, `total`, `remaining`, `epoch`, `epochs`, `elapsed`, and `m_<name>` for a
    metric.
    """

    expression: str
    unit: Unit
    total: float | None = None
    """A total that the line itself does not repeat."""
    learnt_from: LearntFrom = "behaviour"
    confidence: float = 0.5
