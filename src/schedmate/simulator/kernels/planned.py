"""Running jobs by when they are planned to end: two parallel arrays, kept sorted."""

from __future__ import annotations

from schedmate.simulator.columns import Floats, Ints
from schedmate.simulator.kernels.compiled import part


@part
def find(ends: Floats, size: int, end: float) -> int:
    """The first place at which a planned end is no earlier."""
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
    """Into arrays of `size` before; says where."""
    place = find(ends, size, end)
    for later in range(size, place, -1):
        ends[later] = ends[later - 1]
        held[later] = held[later - 1]
    ends[place] = end
    held[place] = gpus
    return place


@part
def remove(ends: Floats, held: Ints, size: int, end: float, gpus: int) -> int:
    """From arrays of `size` before; says where. One of equal end and size is as good as another."""
    place = find(ends, size, end)
    while held[place] != gpus:
        place += 1
    for later in range(place, size - 1):
        ends[later] = ends[later + 1]
        held[later] = held[later + 1]
    return place
