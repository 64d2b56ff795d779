"""Lucid's workload estimator (ASPLOS'23): an explainable boosting machine.

Such a machine is a sum of functions of one feature and of pairs of them, each boosted. Trees that
may see no more than two features each are exactly that, so LightGBM, which is here already, makes
it; `interpret`, which Lucid uses, would bring pandas and scikit-learn along for the same sum. What
Lucid's profiler measures (utilisation and memory of the GPUs) is in no trace and not among the
features.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from schedmate.simulator.columns import Columns, Floats
from schedmate.simulator.estimates import Estimates
from schedmate.simulator.estimators.history import keys
from schedmate.simulator.estimators.knowing import Known, spread_around
from schedmate.simulator.estimators.trees import features, rolling

_ROUNDS = 80


def estimate(columns: Columns, known_at: Floats) -> Estimates:
    """Of each job from those only whose `known_at` is before its submission."""
    known = Known.of(columns, known_at)
    seen = features(columns, keys(columns)[0])
    pairs = [list(pair) for pair in combinations(range(seen.shape[1]), 2)]
    options = {"learning_rate": 0.1, "num_leaves": 16, "interaction_constraints": pairs}
    middle = rolling(columns, known, seen, rounds=_ROUNDS, options=options)
    low, high = spread_around(middle, columns, known)
    return Estimates(low, middle, high, np.zeros(len(columns)), "ebm")
