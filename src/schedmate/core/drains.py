"""Draining a suspect node: only where a site allows it, on strong grounds, and never many.

A wrong drain costs everyone a node, and a health tool that drains in batches costs the cluster. So
it takes a node that is up, a high probability, failures of several users, and few nodes out.
"""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import NodeState

_LEAST_USERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainLimits:
    allowed: bool = False
    probability: float = 0.9
    most_out: float = 0.1
    """Of all nodes, the share that may be out, for whatever reason, when one more is drained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectNode:
    node: NodeState
    probability: float
    """That it is sick."""
    failures: int
    users: int
    newest: float
    """When the newest of its failures ended."""
    nodes: int
    """How many there are in all."""
    out: int
    """How many of these take no jobs now."""


def ground_for_drain(seen: SuspectNode, limits: DrainLimits) -> str | None:
    """Why this node should get no more jobs, None where it is left as it is."""
    if not limits.allowed or seen.node.condition != "up":
        return None
    if seen.probability < limits.probability or seen.users < _LEAST_USERS:
        return None
    if seen.out + 1 > max(1.0, limits.most_out * seen.nodes):
        return None
    return f"suspect: {seen.failures} hardware-like failures of {seen.users} users"
