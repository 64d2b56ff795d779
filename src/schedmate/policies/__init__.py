"""Who goes first, and where. Live orderings are in `orderings`; a policy of the simulator is one
file beside this one that fulfils `Policy`, and its class in `POLICIES`."""

from __future__ import annotations

from schedmate.policies.orderings import ORDERINGS, Candidate, Ordering, ordering
from schedmate.policies.world import Fast, Policy, Seen, World

__all__ = [
    "ORDERINGS",
    "Candidate",
    "Fast",
    "Ordering",
    "Policy",
    "Seen",
    "World",
    "ordering",
]
