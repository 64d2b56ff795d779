"""Nodes that fail and are repaired, drawn after a published record of a production cluster.

InfiniteHBD's fault trace (400 nodes, 349 days, 584 faults) has a fault on a node every 239 days; a
quarter is repaired within 2 hours, half within 20, three quarters within 76.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_DAY_S = 86_400.0
BETWEEN_FAULTS_S = 239 * _DAY_S
_REPAIR_MEDIAN_S = 20.4 * 3600.0
_REPAIR_SIGMA = 2.5
_LONGEST_REPAIR_S = 31 * _DAY_S


@dataclass(frozen=True, slots=True)
class Fault:
    node: int
    at: float
    until: float


def draw_faults(
    nodes: int, begin: float, end: float, *, seed: int, between_s: float = BETWEEN_FAULTS_S
) -> tuple[Fault, ...]:
    """Faults come independently on every node; while one is repaired it cannot fail again."""
    rng = np.random.default_rng([seed, nodes])
    faults = [
        fault for node in range(nodes) for fault in _of_node(rng, node, begin, end, between_s)
    ]
    return tuple(sorted(faults, key=lambda fault: (fault.at, fault.node)))


def _of_node(
    rng: np.random.Generator, node: int, begin: float, end: float, between_s: float
) -> list[Fault]:
    faults = []
    time = begin + rng.exponential(between_s)
    while time < end:
        repair = _REPAIR_MEDIAN_S * rng.lognormal(0.0, _REPAIR_SIGMA)
        until = time + min(repair, _LONGEST_REPAIR_S)
        faults.append(Fault(node, float(time), float(until)))
        time = until + rng.exponential(between_s)
    return faults
