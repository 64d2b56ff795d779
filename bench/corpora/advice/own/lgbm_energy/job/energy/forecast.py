import argparse
import os

import joblib
import lightgbm as lgb
import numpy as np
import pandas as pd

COMMON = dict(
    boosting_type="gbdt",
    n_estimators=2500,
    num_leaves=127,
    learning_rate=0.1,
    subsample=0.7,
    subsample_freq=1,
    n_jobs=16,
)
PER_HORIZON = {
    1: {"num_leaves": 63},
    24: {"n_estimators": 6000, "objective": "mae"},
}


def features(df):
    t = df["time"].dt
    out = pd.DataFrame({
        "hour": t.hour, "dow": t.dayofweek, "month": t.month,
        "temp": df["temp"], "meter": df["meter"].astype("category"),
    })
    for lag in (24, 48, 168):
        out[f"lag{lag}"] = df.groupby("meter")["kwh"].shift(lag)
    out["roll"] = df.groupby("meter")["kwh"].transform(lambda s: s.shift(24).rolling(168).mean())
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--horizon", type=int, choices=sorted(PER_HORIZON), default=1)
    ap.add_argument("--lr", type=float)
    ap.add_argument("--valid-days", type=int, default=28)
    a = ap.parse_args()

    df = pd.read_feather(os.environ["METERS"]).sort_values(["meter", "time"])
    x = features(df)
    y = df.groupby("meter")["kwh"].shift(-a.horizon)
    keep = y.notna()
    x, y, when = x[keep], y[keep], df["time"][keep]
    cut = when.max() - pd.Timedelta(days=a.valid_days)

    params = {**COMMON, **PER_HORIZON[a.horizon]}
    if a.lr:
        params["learning_rate"] = a.lr
    model = lgb.LGBMRegressor(**params)
    model.fit(
        x[when <= cut], y[when <= cut],
        eval_set=[(x[when > cut], y[when > cut])],
        callbacks=[lgb.early_stopping(100), lgb.log_evaluation(250)],
    )
    err = np.abs(model.predict(x[when > cut]) - y[when > cut]).mean()
    print(f"horizon {a.horizon}h mae {err:.4f} trees {model.best_iteration_}")
    joblib.dump(model, f"models/h{a.horizon}.joblib")


if __name__ == "__main__":
    main()
