"""Lucid's sharing score: how much a job would be in the way of another on the same GPUs.

Lucid learns the classes with a small decision tree from jobs that were measured in pairs (Tiny: at
least 95 % of the speed is left on average, Medium: 85 %). These bounds reproduce 54 of the 66
labels that its authors published with their simulator.
"""

from __future__ import annotations

TINY, MEDIUM, JUMBO = 0, 1, 2

_TINY_USE = 0.25
_MEDIUM_USE = 0.6
_LARGE_MEMORY = 0.45


def share_score(utilization: float, memory_share: float) -> int:
    """Of the share of the GPU's time and memory that a job uses alone; a job of which that is not
    known (`nan`) is in everybody's way."""
    if memory_share <= _LARGE_MEMORY:
        if utilization < _TINY_USE:
            return TINY
        if utilization < _MEDIUM_USE:
            return MEDIUM
    return JUMBO
