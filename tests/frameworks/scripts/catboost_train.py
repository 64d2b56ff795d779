"""CatBoost on random numbers."""

import time

import catboost
import numpy as np

ROUNDS, ROUND_S = 100, 0.045


class SquaredError:
    """Slow on purpose; what CatBoost prints counts the time of an objective in Python."""

    def calc_ders_range(self, approxes, targets, weights):
        time.sleep(ROUND_S)
        return [(target - approx, -1.0) for approx, target in zip(approxes, targets, strict=True)]


rng = np.random.default_rng(0)
catboost.CatBoostRegressor(
    loss_function=SquaredError(),
    eval_metric="RMSE",
    iterations=ROUNDS,
    depth=2,
    leaf_estimation_method="Gradient",
    leaf_estimation_iterations=1,
    thread_count=1,
    metric_period=5,
    allow_writing_files=False,
).fit(rng.normal(size=(200, 8)), rng.normal(size=200))
