"""Max-min fair shares of a cluster's time: nobody could have more without somebody who has less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.highs import optimizer, sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SLACK = 1.0 - 1e-7
"""So much of the fairest level is asked for when what is left is dealt out: solvers round."""


def fair_times(gpus: Ints, capacity: int) -> Floats:
    """Of each job the share of time it runs, where all GPUs are alike: as many GPU-seconds for
    each, but no job more than all the time."""
    if int(gpus.sum()) <= capacity:
        return np.ones(len(gpus))
    sizes = np.sort(gpus)
    below = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    levels = (capacity - below) / np.arange(len(sizes), 0, -1)
    level = levels[np.flatnonzero(levels < sizes)[0]]
    times: Floats = np.minimum(1.0, level / gpus)
    return times


def fair_times_by_kind(gpus: Ints, speeds: Floats, capacity: Ints) -> Floats:
    """The same for each type of GPU: jobs by types. What is made equal is the work done for each
    GPU asked for, over what a job would do with an equal part of every type; what that leaves is
    dealt out for the most work."""
    normal = speeds * gpus[:, np.newaxis] / (speeds @ capacity)[:, np.newaxis] * capacity.sum()
    level, _ = _solve(gpus, normal, capacity, level=None)
    return _solve(gpus, normal, capacity, level=level * _SLACK)[1]


def _solve(
    gpus: Ints, worth: Floats, capacity: Ints, *, level: float | None
) -> tuple[float, Floats]:
    """The highest level that everybody can have; or, with that given, the most worth in all."""
    count, kinds = worth.shape
    objective = np.zeros(count * kinds + 1)
    objective[-1] = -1.0
    bounds = [(0.0, 1.0)] * (count * kinds) + [(0.0, None)]
    if level is not None:
        objective = np.append(-worth.ravel(), 0.0)
        bounds[-1] = (level, level)
    found = optimizer().linprog(
        objective,
        A_ub=_constraints(gpus, worth),
        b_ub=np.concatenate([np.zeros(count), np.ones(count), capacity]),
        bounds=bounds,
        method="highs",
    )
    times: Floats = np.clip(found.x[:-1].reshape(count, kinds), 0.0, 1.0)
    return float(found.x[-1]), times


def _constraints(gpus: Ints, worth: Floats) -> object:
    """Rows: nobody below the level; nobody more than all the time; no type more than there is."""
    count, kinds = worth.shape
    variables = np.arange(count * kinds)
    jobs, kind = np.divmod(variables, kinds)
    rows = np.concatenate([jobs, np.arange(count), count + jobs, 2 * count + kind])
    columns = np.concatenate([variables, np.full(count, count * kinds), variables, variables])
    values = np.concatenate([-worth.ravel(), np.ones(count), np.ones(len(jobs)), gpus[jobs]])
    shape = (2 * count + kinds, count * kinds + 1)
    return sparse().coo_array((values, (rows, columns)), shape=shape).tocsr()
