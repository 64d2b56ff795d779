"""Boosted trees and scikit-learn: XGBoost, LightGBM, CatBoost, networks that count epochs.

A round of boosting is the step that these jobs are counted in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import is_of, last_name, parts_of
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated, table_of
from schedmate.advisor.frameworks.rules import by_name, either, number, switched
from schedmate.advisor.interpret.python.values import Call, Value

_BOOSTERS = ("xgboost", "lightgbm", "catboost", "sklearn.ensemble")
_NETWORKS = ("sklearn.neural_network",)
_MODELS = (
    r"(?:Dask)?(?:XGB|LGBM|CatBoost)\w*|(?:Hist)?GradientBoosting\w+|MLP(?:Classifier|Regressor)"
)
_PATIENCE = "EarlyStopping|early_stopping"
_READ = re.compile(rf"train|cv|fit|{_PATIENCE}|{_MODELS}")
_DASK = ("xgboost.dask.", "lightgbm.dask.", "lightgbm.Dask")


def _calls(reading: Reading) -> Iterator[Settings]:
    for call in reading.trace.calls:
        if is_of(call.callee, *_BOOSTERS, *_NETWORKS) and _READ.fullmatch(last_name(call.callee)):
            tree = table_of(_given(call))
            if is_of(call.callee, *_NETWORKS):
                tree = table_of({"net": tree})
            yield Settings(tree, reading, at=call)


def _given(call: Call) -> dict[str, Value]:
    """`train(params, data, num_boost_round)`, where dask's has its client before them; an
    estimator may get a dict of its keywords."""
    shift = 1 if call.callee.startswith(_DASK) and last_name(call.callee) == "train" else 0
    params = call.argument("params", shift) or call.argument("param")
    given = {**parts_of(params), **call.keywords}
    if is_of(call.callee, "xgboost", "lightgbm") and last_name(call.callee) in ("train", "cv"):
        rounds = call.argument("num_boost_round", 2 + shift)
        given |= {} if rounds is None else {"num_boost_round": rounds}
    return given


def _library(settings: Settings) -> Value | None:
    package, *_, name = settings.callee.split(".")
    return settings.implied(package) if name in ("train", "cv") else None


def _stops(settings: Settings) -> Value | None:
    names = "early_stopping_rounds early_stopping_round od_wait n_iter_no_change"
    rounds = settings.first(names)
    return restated(rounds, data=True) if rounds is not None and number(rounds) > 0 else None


def _spread(settings: Settings) -> Value | None:
    return settings.implied("dp") if settings.callee.startswith(_DASK) else None


FRAMEWORK = Framework(
    settings={
        "model": either(by_name(_MODELS), _library),
        "max_steps": "num_boost_round num_iterations num_iteration num_trees num_round "
        "n_estimators iterations max_iter",
        "epochs": "net.max_iter",
        "batch_size": "net.batch_size",
        "optimizer": "net.solver",
        "learning_rate": "learning_rate eta shrinkage_rate net.learning_rate_init",
        "early_stopping": either(
            _stops, by_name(_PATIENCE, data=True), switched({"net.early_stopping": True})
        ),
        "parallelism": _spread,
    },
    calls=_calls,
    confidence={"model": 0.85, "parallelism": 0.8},
    samples=(
        Sample(
            command="python train.py",
            files={
                "train.py": "import xgboost as xgb\n"
                "params = {'objective': 'binary:logistic', 'eta': 0.1, 'device': 'cuda'}\n"
                "xgb.train(params, data, num_boost_round=500, early_stopping_rounds=20)\n",
            },
            claims={
                "model": "xgboost",
                "max_steps": 500,
                "learning_rate": 0.1,
                "early_stopping": True,
            },
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "import lightgbm as lgb\n"
                "stop = lgb.early_stopping(10)\n"
                "lgb.train({'learning_rate': 0.05}, data, 300, callbacks=[stop])\n",
            },
            claims={
                "model": "lightgbm",
                "max_steps": 300,
                "learning_rate": 0.05,
                "early_stopping": True,
            },
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "import lightgbm as lgb\n"
                "lgb.train({'num_iterations': 70, 'early_stopping_round': 0}, data)\n",
            },
            claims={"model": "lightgbm", "max_steps": 70},
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "from catboost import CatBoostRegressor\n"
                "CatBoostRegressor(iterations=1000, task_type='GPU').fit(x, y)\n",
            },
            claims={"model": "CatBoostRegressor", "max_steps": 1000},
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "import xgboost as xgb\n"
                "xgb.dask.train(client, {'eta': 0.3}, data, 40)\n",
            },
            claims={
                "model": "xgboost",
                "max_steps": 40,
                "learning_rate": 0.3,
                "parallelism": "dp",
            },
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "from sklearn.neural_network import MLPClassifier\n"
                "MLPClassifier(solver='adam', max_iter=50, batch_size=64, early_stopping=True,\n"
                "              learning_rate_init=0.01).fit(x, y)\n",
            },
            claims={
                "model": "MLPClassifier",
                "optimizer": "adam",
                "epochs": 50,
                "batch_size": 64,
                "learning_rate": 0.01,
                "early_stopping": True,
            },
        ),
    ),
)
