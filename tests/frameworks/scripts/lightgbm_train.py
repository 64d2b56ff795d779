"""LightGBM on random numbers, printing every fifth round."""

import time

import lightgbm
import numpy as np

ROUNDS, ROUND_S = 100, 0.09

rng = np.random.default_rng(0)
data = lightgbm.Dataset(rng.normal(size=(200, 8)), rng.normal(size=200))
lightgbm.train(
    {"objective": "regression", "num_leaves": 4, "num_threads": 1, "verbosity": 1},
    data,
    num_boost_round=ROUNDS,
    valid_sets=[data, data],
    valid_names=["training", "valid_1"],
    callbacks=[lightgbm.log_evaluation(5), lambda _: time.sleep(ROUND_S)],
)
