"""A node as its scheduler sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedmate.model.diagnosis import Reporter
from schedmate.model.failures import GPU_FAULTS
from schedmate.model.job import JobState

NodeCondition = Literal["up", "drain", "down", "unknown"]
"""Whether it takes jobs, takes no more, or does not answer."""


def may_be_at_fault(node: str, reason: str) -> bool:
    """Where each GPU is a node (`box:gpu3`), it is not to blame for what befell its machine."""
    return ":" not in node or reason in GPU_FAULTS


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """Times are seconds since the epoch; `state` and `reason` are the scheduler's own words."""

    name: str
    hosts: tuple[str, ...] = ()
    """What the machine is called where that may be another name; a GPU's address on its bus."""
    condition: NodeCondition = "unknown"
    state: str = ""
    reason: str = ""
    """Why it takes no jobs, as an operator or a health check wrote it down."""
    since: float | None = None
    """When that was written down."""
    up_since: float | None = None
    """When it was booted."""
    partitions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()
    """Those that hold it now."""
    busy: float | None = None
    """From 0 to 1, of a GPU that is a node; null: unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRun:
    """One ended attempt of a job, as far as it speaks for or against the nodes it ran on."""

    job_id: str
    attempt: int = 0
    user: str
    nodes: tuple[str, ...]
    state: JobState
    gpus: int = 0
    started_at: float
    ended_at: float
    reason: str = ""
    """What it died of, where somebody looked."""
    confidence: float = 0.0
    reported_by: Reporter = "job"
    """Whose evidence shows that."""
    blamed: tuple[str, ...] = ()
