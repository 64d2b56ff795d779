"""Who goes first, and where. Live orderings are in `orderings`; a policy of the simulator is one
file beside this one that fulfils `Policy`, and its class in `POLICIES` of `registry`. The daemon
needs orderings only, so all else is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.lazily import lazily
from schedmate.policies.orderings import ORDERINGS, Candidate, Ordering, nice_of, ordering

if TYPE_CHECKING:
    from schedmate.policies.registry import (
        POLICIES,
        Fast,
        Fifo,
        FirstFit,
        Foreseen,
        Policy,
        Seen,
        Sjf,
        World,
    )

__all__ = [
    "ORDERINGS",
    "POLICIES",
    "Candidate",
    "Fast",
    "Fifo",
    "FirstFit",
    "Foreseen",
    "Ordering",
    "Policy",
    "Seen",
    "Sjf",
    "World",
    "nice_of",
    "ordering",
]

__getattr__ = lazily(__name__, dict.fromkeys(__all__, "schedmate.policies.registry"))
