"""Helios' QSSF (SC'21): a tenth of what the user's similar jobs took, nine tenths of the trees.

The trees see user, group, GPUs, nodes, limit, the group of the name and the time of submission,
and learn the logarithm of the run time. Until there are enough jobs to train them, history speaks
alone.
"""

from __future__ import annotations

import numpy as np

from schedmate.simulator.columns import Columns, Floats
from schedmate.simulator.estimates import Estimates
from schedmate.simulator.estimators.history import keys, rolling_mean
from schedmate.simulator.estimators.knowing import Known, spread_around
from schedmate.simulator.estimators.trees import features, rolling

_HISTORY = 0.1
_ROUNDS = 60
_OPTIONS = {"learning_rate": 0.1, "num_leaves": 31}


def estimate(columns: Columns, known_at: Floats) -> Estimates:
    """Of each job from those only whose `known_at` is before its submission."""
    known = Known.of(columns, known_at)
    shared = keys(columns)
    past = rolling_mean(columns, known, shared)
    seen = features(columns, shared[0])
    modelled = rolling(columns, known, seen, rounds=_ROUNDS, options=_OPTIONS)
    middle = np.where(np.isnan(modelled), past, _HISTORY * past + (1 - _HISTORY) * modelled)
    low, high = spread_around(middle, columns, known)
    return Estimates(low, middle, high, np.zeros(len(columns)), "qssf")
