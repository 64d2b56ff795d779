"""Boosted trees that are trained again and again as jobs become known: QSSF's and Lucid's
predictors.

QSSF (Helios, SC'21) is a tenth of what the user's similar jobs took and nine tenths of the trees,
which see user, group, GPUs, nodes, limit, the group of the name and the time of submission, and
learn the logarithm of the run time. Until there are enough jobs to train them, history alone
counts.

Lucid's workload estimator (ASPLOS'23) is an explainable boosting machine: a sum of functions of one
feature and of pairs of them, each boosted. Trees that may see no more than two features each are
exactly that, so LightGBM, on one core, makes both; `interpret`, which Lucid uses, would bring
pandas and scikit-learn along for the same sum. What Lucid's profiler measures (utilisation and
memory of the GPUs) is in no trace and not among the features.
"""

from __future__ import annotations

from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np

from schedmate.model import BadInput
from schedmate.model.extras import needs
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.estimators.history import Known, keys, rolling_mean, spread_around
from schedmate.simulator.traces.columns import Floats, Ints, TraceColumns

_HOUR_S = 3600.0
_NUMBERS = 6
"""How many features are numbers; those behind them are words."""
_COMMON = 30
"""As many known jobs must have a word; rarer ones are left to the user's history."""
_OPTIONS: dict[str, Any] = {
    "objective": "regression",
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbose": -1,
    "min_data_in_leaf": 10,
    "max_bin": 63,
}


def features(columns: TraceColumns, names: Ints) -> Floats:
    """What can be seen at submission: numbers first, then words as numbers."""
    hours = columns.submit / _HOUR_S
    limit = np.where(np.isinf(columns.stated_limit), np.nan, columns.stated_limit)
    numbers = (columns.gpus, columns.nodes, limit, hours % 24, hours // 24 % 7, hours // 24)
    words = (columns.user.codes, columns.group.codes, names, columns.gpu_type.codes)
    return np.column_stack([*numbers, *words]).astype(np.float64)


def rolling(
    columns: TraceColumns, known: Known, seen: Floats, *, rounds: int, options: dict[str, Any]
) -> Floats:
    """The expected run time in seconds, by its logarithm; `nan` until enough is known."""
    lightgbm = _library()
    predicted = np.full(len(columns), np.nan)
    target = np.log1p(columns.duration)
    words = list(range(_NUMBERS, seen.shape[1]))
    for stretch, ended in known.blocks():
        taught, asked = _common_words(seen[ended], seen[stretch].copy())
        data = lightgbm.Dataset(taught, target[ended], categorical_feature=words)
        model = lightgbm.train({**_OPTIONS, **options}, data, rounds)
        predicted[stretch] = np.maximum(np.expm1(model.predict(asked)), 0.0)
    return predicted


def _common_words(taught: Floats, asked: Floats) -> tuple[Floats, Floats]:
    """Both without the words that are rare among those known: thousands of them are slow."""
    for column in range(_NUMBERS, taught.shape[1]):
        most = 1 + int(max(taught[:, column].max(), asked[:, column].max()))
        counts = np.bincount(taught[:, column].astype(np.int64) + 1, minlength=most + 1)
        for rows in (taught, asked):
            rare = counts[rows[:, column].astype(np.int64) + 1] < _COMMON
            rows[rare, column] = np.nan
    return taught, asked


def _library() -> Any:
    try:
        return import_module("lightgbm")
    except ImportError:
        raise BadInput(needs("estimates of run times need", "lightgbm")) from None


_HISTORY = 0.1
_QSSF_ROUNDS = 60
_QSSF_OPTIONS = {"learning_rate": 0.1, "num_leaves": 31}


def qssf(columns: TraceColumns, known_at: Floats) -> Estimates:
    """Of each job from those only whose `known_at` is before its submission."""
    known = Known.of(columns, known_at)
    shared = keys(columns)
    past = rolling_mean(columns, known, shared)
    seen = features(columns, shared[0])
    modelled = rolling(columns, known, seen, rounds=_QSSF_ROUNDS, options=_QSSF_OPTIONS)
    middle = np.where(np.isnan(modelled), past, _HISTORY * past + (1 - _HISTORY) * modelled)
    low, high = spread_around(middle, columns, known)
    return Estimates(low, middle, high, np.zeros(len(columns)), "qssf")


_EBM_ROUNDS = 80


def ebm(columns: TraceColumns, known_at: Floats) -> Estimates:
    """Of each job from those only whose `known_at` is before its submission."""
    known = Known.of(columns, known_at)
    seen = features(columns, keys(columns)[0])
    pairs = [list(pair) for pair in combinations(range(seen.shape[1]), 2)]
    options = {"learning_rate": 0.1, "num_leaves": 16, "interaction_constraints": pairs}
    middle = rolling(columns, known, seen, rounds=_EBM_ROUNDS, options=options)
    low, high = spread_around(middle, columns, known)
    return Estimates(low, middle, high, np.zeros(len(columns)), "ebm")
