"""The distinct numbers of GPUs that jobs ask for.

In plain loops, here as in all kernels: numba takes seconds to compile numpy's cleverer functions.
"""

from __future__ import annotations

import numpy as np

from schedmate.simulator.columns import Ints
from schedmate.simulator.kernels.compiled import part


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
