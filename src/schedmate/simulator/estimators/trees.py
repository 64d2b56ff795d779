"""Boosted trees that are trained again and again as jobs become known. LightGBM on one core."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from schedmate.model import BadInput
from schedmate.simulator.columns import Columns, Floats, Ints
from schedmate.simulator.estimators.knowing import Known

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


def features(columns: Columns, names: Ints) -> Floats:
    """What can be seen at submission: numbers first, then words as numbers."""
    hours = columns.submit / _HOUR_S
    limit = np.where(np.isinf(columns.limit), np.nan, columns.limit)
    numbers = (columns.gpus, columns.nodes, limit, hours % 24, hours // 24 % 7, hours // 24)
    words = (columns.user.codes, columns.group.codes, names, columns.gpu_type.codes)
    return np.column_stack([*numbers, *words]).astype(np.float64)


def rolling(
    columns: Columns, known: Known, seen: Floats, *, rounds: int, options: dict[str, Any]
) -> Floats:
    """The expected run time in seconds, by its logarithm; `nan` until enough is known."""
    lightgbm = _library()
    said = np.full(len(columns), np.nan)
    target = np.log1p(columns.duration)
    words = list(range(_NUMBERS, seen.shape[1]))
    for stretch, ended in known.blocks():
        taught, asked = _common_words(seen[ended], seen[stretch].copy())
        data = lightgbm.Dataset(taught, target[ended], categorical_feature=words)
        model = lightgbm.train({**_OPTIONS, **options}, data, rounds)
        said[stretch] = np.maximum(np.expm1(model.predict(asked)), 0.0)
    return said


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
        raise BadInput(
            "estimates of run times need LightGBM: pip install 'schedmate[sim]'"
        ) from None
