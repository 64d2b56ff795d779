"""The distinct numbers of GPUs that jobs ask for."""

from __future__ import annotations

import numpy as np

from schedmate.simulator.columns import Ints
from schedmate.simulator.kernels.compiled import compiled


@compiled
def sizes_of(gpus: Ints) -> tuple[Ints, Ints, Ints]:
    """The sizes in ascending order, the number of each job's size, and where the jobs of a size
    begin if all stand sorted by it (one more at the end)."""
    count_of = np.zeros(gpus.max() + 1, dtype=np.int64)
    for asked in gpus:
        count_of[asked] += 1
    sizes = np.flatnonzero(count_of)
    number_of = np.zeros(len(count_of), dtype=np.int64)
    begins = np.zeros(len(sizes) + 1, dtype=np.int64)
    for number, size in enumerate(sizes):
        number_of[size] = number
        begins[number + 1] = begins[number] + count_of[size]
    return sizes, number_of[gpus], begins
