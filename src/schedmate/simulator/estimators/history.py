"""What a user's own past says: QSSF's rolling estimate.

After Helios (SC'21): for a user who ran jobs of a similar name, their run times, the recent ones
counting more; else those of the user's jobs with as many GPUs; for a new user, those of anybody's
jobs with as many. Where nobody is named, the group stands for the user.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from schedmate.simulator.columns import Columns, Floats, Ints
from schedmate.simulator.estimators.knowing import Known
from schedmate.simulator.estimators.names import name_groups

_FADES = 0.8
"""What a run counts for, compared to the next one with the same key."""

Averages = defaultdict[int, list[float]]


def owners(columns: Columns) -> Ints:
    """A number for who is behind a job: the user, or the group where no user is named."""
    nobody = np.array([not word for word in columns.user.words], dtype=bool)
    groups = columns.group.codes + len(columns.user.words)
    return np.where(nobody[columns.user.codes], groups, columns.user.codes)


def keys(columns: Columns) -> tuple[Ints, ...]:
    """What a job has in common with others, the most telling first."""
    owner = owners(columns)
    named = np.array([bool(word) for word in columns.name.words], dtype=bool)[columns.name.codes]
    sizes = np.unique(columns.gpus, return_inverse=True)[1]
    of_name = np.where(named, name_groups(owner, columns.name), -1)
    return of_name, owner * (int(sizes.max(initial=0)) + 1) + sizes, owner, sizes


def rolling_mean(columns: Columns, known: Known, shared: tuple[Ints, ...]) -> Floats:
    """Seconds by the most telling key that a known job shares; `nan` where none does."""
    rows = list(zip(*(key.tolist() for key in shared), strict=True))
    averages: list[Averages] = [defaultdict(lambda: [0.0, 0.0]) for _ in rows[0]] if rows else []
    durations, order = columns.duration.tolist(), known.order.tolist()
    said = np.full(len(columns), np.nan)
    learnt = 0
    for job, count in enumerate(known.at_submission.tolist()):
        for ended in order[learnt:count]:
            _learn(averages, rows[ended], durations[ended])
        learnt = count
        said[job] = _recall(averages, rows[job])
    return said


def _learn(averages: Sequence[Averages], row: Sequence[int], duration: float) -> None:
    for average, key in zip(averages, row, strict=True):
        if key >= 0:
            sums = average[key]
            sums[0] = _FADES * sums[0] + duration
            sums[1] = _FADES * sums[1] + 1.0


def _recall(averages: Sequence[Averages], row: Sequence[int]) -> float:
    for average, key in zip(averages, row, strict=True):
        if key in average:
            total, weight = average[key]
            return total / weight
    return float("nan")
