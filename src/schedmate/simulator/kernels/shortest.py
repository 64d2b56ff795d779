"""Trees of the shortest plan among those who wait, one for each size, all in one array.

The tree of a size begins at its `roots`; its own places are numbered from 1, the leaves last, in
order of standing. A leaf is infinite while its job does not wait.
"""

from __future__ import annotations

import numpy as np

from schedmate.simulator.columns import Floats, Ints
from schedmate.simulator.kernels.compiled import part


@part
def plant(begins: Ints) -> tuple[Floats, Ints, Ints]:
    """The trees, where each begins and how many leaves it has."""
    kinds = len(begins) - 1
    roots = np.zeros(kinds + 1, dtype=np.int64)
    leaves = np.ones(kinds, dtype=np.int64)
    for kind in range(kinds):
        while leaves[kind] < begins[kind + 1] - begins[kind]:
            leaves[kind] *= 2
        roots[kind + 1] = roots[kind] + 2 * leaves[kind]
    return np.full(roots[kinds], np.inf), roots, leaves


@part
def put(trees: Floats, root: int, leaves: int, place: int, plan: float) -> None:
    """Set a leaf; an infinite plan takes it away."""
    node = leaves + place
    trees[root + node] = plan
    while node > 1:
        node >>= 1
        shorter = min(trees[root + 2 * node], trees[root + 2 * node + 1])
        if trees[root + node] == shorter:
            return
        trees[root + node] = shorter


@part
def first(trees: Floats, root: int, leaves: int, now: float, by: float) -> int:
    """The first place whose job, started now, is planned to be done by then; there is one."""
    node = 1
    while node < leaves:
        node *= 2
        if now + trees[root + node] > by:
            node += 1
    return node - leaves
