"""Arrays that kernels share: heaps, sizes, planned ends, and trees of the shortest plan.

In plain loops, here as in all kernels: numba takes seconds to compile numpy's cleverer functions.
"""

from __future__ import annotations

import numpy as np

from schedmate.simulator.kernels.compiled import part
from schedmate.simulator.traces.columns import Floats, Ints


# Binary heaps: a key and a job at each place, least key first, ties by job. `base` is where a heap
# begins in its arrays, so that many may share one pair of them.
@part
def push(keys: Floats, jobs: Ints, base: int, size: int, key: float, job: int) -> None:
    """Into a heap of `size` before."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        other = keys[base + above]
        if other < key or (other == key and jobs[base + above] < job):
            break
        keys[base + place] = other
        jobs[base + place] = jobs[base + above]
        place = above
    keys[base + place] = key
    jobs[base + place] = job


@part
def pop(keys: Floats, jobs: Ints, base: int, size: int) -> None:
    """Drop the first of a heap of `size` before."""
    last = size - 1
    key = keys[base + last]
    job = jobs[base + last]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= last:
            break
        least = keys[base + below]
        if below + 1 < last:
            other = keys[base + below + 1]
            if other < least or (other == least and jobs[base + below + 1] < jobs[base + below]):
                below += 1
                least = other
        if key < least or (key == least and job < jobs[base + below]):
            break
        keys[base + place] = least
        jobs[base + place] = jobs[base + below]
        place = below
    keys[base + place] = key
    jobs[base + place] = job


@part
def sizes_of(gpus: Ints) -> tuple[Ints, Ints, Ints]:
    """The sizes in ascending order, the number of each job's size, and where the jobs of a size
    begin if all stand sorted by it (one more at the end)."""
    largest = 0
    for job in range(len(gpus)):
        largest = max(largest, gpus[job])
    count_of = np.zeros(largest + 1, dtype=np.int64)
    for job in range(len(gpus)):
        count_of[gpus[job]] += 1
    kinds = 0
    for size in range(largest + 1):
        kinds += count_of[size] > 0
    sizes = np.empty(kinds, dtype=np.int64)
    begins = np.zeros(kinds + 1, dtype=np.int64)
    number = 0
    for size in range(largest + 1):
        if count_of[size]:
            sizes[number] = size
            begins[number + 1] = begins[number] + count_of[size]
            count_of[size] = number
            number += 1
    number_of = np.empty(len(gpus), dtype=np.int64)
    for job in range(len(gpus)):
        number_of[job] = count_of[gpus[job]]
    return sizes, number_of, begins


@part
def find(ends: Floats, size: int, end: float) -> int:
    """In sorted planned ends: the first place at which one is no earlier."""
    low, high = 0, size
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] < end:
            low = middle + 1
        else:
            high = middle
    return low


@part
def insert(ends: Floats, held: Ints, size: int, end: float, gpus: int) -> int:
    """Into arrays of `size` before; returns the place."""
    place = find(ends, size, end)
    for later in range(size, place, -1):
        ends[later] = ends[later - 1]
        held[later] = held[later - 1]
    ends[place] = end
    held[place] = gpus
    return place


@part
def remove(ends: Floats, held: Ints, size: int, end: float, gpus: int) -> int:
    """From arrays of `size` before; returns the place. One of equal end and size is as good as
    another."""
    place = find(ends, size, end)
    while held[place] != gpus:
        place += 1
    for later in range(place, size - 1):
        ends[later] = ends[later + 1]
        held[later] = held[later + 1]
    return place


@part
def plant(begins: Ints) -> tuple[Floats, Ints, Ints]:
    """Trees of the shortest plan among waiting jobs, one for each size, all in one array; where
    each begins and how many leaves it has. Places of a tree are numbered from 1, the leaves last,
    in order of rank. A leaf is infinite while its job does not wait."""
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
