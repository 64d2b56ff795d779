"""XGBoost on random numbers; the argument is how often it prints."""

import sys
import time

import numpy as np
import xgboost

ROUNDS, ROUND_S = 100, 0.09


class Slowly(xgboost.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        time.sleep(ROUND_S)
        return False


rng = np.random.default_rng(0)
data = xgboost.DMatrix(rng.normal(size=(200, 8)), rng.normal(size=200))
xgboost.train(
    {"max_depth": 2, "nthread": 1},
    data,
    num_boost_round=ROUNDS,
    evals=[(data, "train"), (data, "valid")],
    verbose_eval=int(sys.argv[1]),
    callbacks=[Slowly()],
)
