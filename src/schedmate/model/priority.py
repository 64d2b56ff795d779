"""How far nice numbers may move a job, and by which order: for adapters and the simulator.

Slurm subtracts the nice number from the priority. With priority/basic each later job starts one
lower, so that one nice number lets one later job overtake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model.job import Job

FLOOR = 1
"""Slurm never lowers a priority below it, and there nice numbers no longer tell jobs apart."""
BASIC_FLOOR = 2
"""The same with priority/basic."""
NICE_RANGE = 10_000
"""The largest nice number where ageing has no weight: so many later jobs may overtake. A tenth of
it loses most of the gain on a long queue, ten times it gains hardly more: see
docs/explanation/how-policies-are-compared.md."""
NICE_HOURS = 168.0
"""How many hours of waiting the whole range is worth, everywhere: Slurm's default PriorityMaxAge,
after which a job that has waited comes before every new one."""
DEFAULT_ORDERING = "ssf"
"""Of `policies.orderings`: the smallest predicted service first."""
_LEAST = 10
"""A smaller range orders nothing."""


def nice_range(
    age_weight: int | None, max_age_h: float = NICE_HOURS, hours: float = NICE_HOURS
) -> int:
    """As many numbers as so many hours of ageing outweigh: no more than all of it."""
    if not age_weight:
        return NICE_RANGE
    return max(1, round(age_weight * min(1.0, hours / max_age_h)))


def room_beyond(job: Job, own_nice: int) -> int | None:
    """How far it may be set back beyond its owner's own nice number, above any floor."""
    if job.most_nice is None or job.priority is None:
        return job.most_nice
    room = min(job.most_nice, job.priority + job.nice - own_nice - BASIC_FLOOR - 1)
    return room if room >= _LEAST else None
