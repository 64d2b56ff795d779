"""Default risk. python fit_xgb.py table.parquet"""
import argparse
import json

import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

parser = argparse.ArgumentParser()
parser.add_argument("table")
parser.add_argument("--eta", type=float, default=0.1)
parser.add_argument("--rounds", type=int, default=4000)
parser.add_argument("--folds", type=int, default=5)
args = parser.parse_args()

params = {
    "objective": "binary:logistic",
    "eval_metric": "auc",
    "tree_method": "hist",
    "device": "cuda",
    "eta": args.eta,
    "max_depth": 7,
    "min_child_weight": 20,
    "subsample": 0.8,
    "colsample_bytree": 0.6,
    "lambda": 3.0,
}
# for depth in (5, 7, 9):
#     for eta in (0.3, 0.1, 0.01):
#         ...

df = pd.read_parquet(args.table)
y = df.pop("defaulted").to_numpy()
for col in df.select_dtypes("object"):
    df[col] = df[col].astype("category")

oof = np.zeros(len(df))
rounds = []
folds = StratifiedKFold(args.folds, shuffle=True, random_state=8)
for k, (tr, va) in enumerate(folds.split(df, y)):
    dtr = xgb.QuantileDMatrix(df.iloc[tr], y[tr], enable_categorical=True)
    dva = xgb.QuantileDMatrix(df.iloc[va], y[va], enable_categorical=True, ref=dtr)
    bst = xgb.train(
        params,
        dtr,
        num_boost_round=args.rounds,
        evals=[(dva, "val")],
        early_stopping_rounds=150,
        verbose_eval=200,
    )
    oof[va] = bst.predict(dva, iteration_range=(0, bst.best_iteration + 1))
    rounds.append(bst.best_iteration)
    print("fold", k, roc_auc_score(y[va], oof[va]))

print("oof auc", roc_auc_score(y, oof))
full = xgb.train(params, xgb.DMatrix(df, y, enable_categorical=True), num_boost_round=int(np.mean(rounds) * 1.1))
full.save_model("score/credit.json")
with open("score/credit_features.json", "w") as f:
    json.dump(list(df.columns), f)
