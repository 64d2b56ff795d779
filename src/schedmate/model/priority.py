"""How far a nice number may set a job back, and by which order: for adapters and the simulator.

Slurm subtracts the nice number from the priority. With priority/basic each later job starts one
lower, so that one nice number lets one later job overtake.
"""

from __future__ import annotations

FLOOR = 1
"""Slurm never lowers a priority below it, and there nice numbers no longer tell jobs apart."""
NICE_RANGE = 10_000
"""The largest nice number where ageing has no weight: so many later jobs may overtake. A tenth of
it loses most of the gain on a long queue, ten times it gains hardly more: see
docs/explanation/how-policies-are-compared.md."""
DEFAULT_ORDERING = "ssf"
"""Of `policies.orderings`: the smallest predicted service first."""
_LEAST = 10
"""A smaller range orders nothing."""


def nice_range(age_weight: int | None) -> int:
    """No job is set back by more than ageing gives it back within PriorityMaxAge."""
    return age_weight or NICE_RANGE


def most_nice(priority: int | None, nice: int, largest: int) -> int | None:
    """How far a job of this priority may be set back; None where it has no place to be given."""
    if priority is None or priority <= FLOOR:  # 0 means that it is held
        return None
    room = min(largest, priority + nice - FLOOR - 1)
    return room if room >= _LEAST else None
