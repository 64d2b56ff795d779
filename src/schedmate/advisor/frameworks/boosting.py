"""Boosted trees and scikit-learn: XGBoost, LightGBM, CatBoost, estimators that count epochs.

A round of boosting is the step that these jobs are counted in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    claim,
    implied_claim,
    is_of,
    last_name,
    named_claims,
    number_of,
    parts_of,
    truth_of,
)
from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.settle.claim import Claim

_BOOSTERS = ("xgboost", "lightgbm", "catboost")
_ESTIMATOR = re.compile(
    r"^(?:Dask)?(?:XGB|LGBM|CatBoost)\w*|^(?:HistGradientBoosting|GradientBoosting)\w+"
)
_TRAINING = {
    "max_steps": "num_boost_round num_iterations num_iteration num_trees num_round n_estimators "
    "iterations",
    "learning_rate": "learning_rate eta shrinkage_rate",
}
_ESTIMATING = {
    "max_steps": "n_estimators iterations num_boost_round num_trees max_iter",
    "learning_rate": "learning_rate eta",
}
_STOPPING = ("early_stopping_rounds", "early_stopping_round", "od_wait", "n_iter_no_change")
_PATIENCE = ("EarlyStopping", "early_stopping")
_ROUNDS: dict[str, int] = {"xgboost": 2, "lightgbm": 2}
_MULTILAYER = {
    "batch_size": "batch_size",
    "epochs": "max_iter",
    "learning_rate": "learning_rate_init",
}
_DASK = ("xgboost.dask.train", "xgboost.dask.DaskXGB", "lightgbm.Dask")


def boosting(reading: Reading) -> Iterator[Claim]:
    for call in reading.trace.calls:
        if not is_of(call.callee, *_BOOSTERS, "sklearn.ensemble"):
            continue
        name = last_name(call.callee)
        if name in ("train", "cv"):
            yield from _trained(call)
        elif _ESTIMATOR.match(name):
            yield from _estimated(call)
        elif name in _PATIENCE:
            yield from implied_claim("early_stopping", True, call)
        elif name == "fit":
            yield from _stops(call.keywords, call)


def estimators(reading: Reading) -> Iterator[Claim]:
    """Networks of scikit-learn: their iterations are passes over the data."""
    for call in reading.trace.calls:
        if not is_of(call.callee, "sklearn.neural_network"):
            continue
        if last_name(call.callee) in ("MLPClassifier", "MLPRegressor"):
            yield from implied_claim("model", last_name(call.callee), call)
            yield from named_claims(_MULTILAYER, call.keywords, call)
            yield from claim("optimizer", call.keywords.get("solver"), call)
            if truth_of(call.keywords.get("early_stopping")) is True:
                yield from implied_claim("early_stopping", True, call)


def _trained(call: Call) -> Iterator[Claim]:
    """`train(params, data, num_boost_round)`; dask's has its client before them."""
    yield from implied_claim("model", call.callee.partition(".")[0], call, confidence=0.8)
    shift = 1 if call.callee.startswith(_DASK) else 0
    params = call.argument("params", shift) or call.argument("param")
    library = call.callee.partition(".")[0]
    given = {**parts_of(params), **call.keywords}
    if library in _ROUNDS:
        rounds = call.argument("num_boost_round", _ROUNDS[library] + shift)
        given |= {} if rounds is None else {"num_boost_round": rounds}
    yield from named_claims(_TRAINING, given, call)
    yield from _stops(given, call)
    yield from _spread(call)


def _estimated(call: Call) -> Iterator[Claim]:
    yield from implied_claim("model", last_name(call.callee), call)
    given = {**parts_of(call.positional[0] if call.positional else None), **call.keywords}
    yield from named_claims(_ESTIMATING, given, call)
    yield from _stops(given, call)
    yield from _spread(call)


def _stops(given: Mapping[str, Value], call: Call) -> Iterator[Claim]:
    for name in _STOPPING:
        value = given.get(name)
        if (number_of(value) or 0) > 0 and value is not None:
            yield from claim("early_stopping", Value(True, value.lines, value.source), call)
            return


def _spread(call: Call) -> Iterator[Claim]:
    if call.callee.startswith(_DASK):
        yield from implied_claim("parallelism", "dp", call, confidence=0.8)


FRAMEWORK = Framework(readers=(boosting, estimators))
