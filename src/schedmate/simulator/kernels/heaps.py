"""Binary heaps in arrays: a key and a job at each place, least key first, ties by job.

`base` is where a heap begins in its arrays, so that many may share one pair of them.
"""

from __future__ import annotations

from schedmate.simulator.columns import Floats, Ints
from schedmate.simulator.kernels.compiled import part


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
