"""A node as its scheduler sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NodeCondition = Literal["up", "drain", "down", "unknown"]
"""Whether it takes jobs, takes no more, or does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """Times are seconds since the epoch; `state` and `reason` are the scheduler's own words."""

    name: str
    condition: NodeCondition = "unknown"
    state: str = ""
    reason: str = ""
    """Why it takes no jobs, as an operator or a health check wrote it down."""
    since: float | None = None
    """When that was written down."""
    up_since: float | None = None
    """When it was booted."""
    partitions: tuple[str, ...] = ()
