"""What is run, and what must be read from its log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from schedmate.model import Finding, Unit, Workload

EPOCHS, STEPS, ROUNDS = 3, 48, 100
"""Of all runs, whatever they train with."""
Ends = Literal["said", "doubtful", "unsaid"]
"""Whether the last line says that all is done; a bar without a name may be followed by another."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """`totals` are all right answers: a log may be counted in steps or in epochs."""

    name: str
    command: tuple[str, ...]
    format: str
    totals: dict[Unit, float]
    workload: Workload | None = None
    ends: Ends = "said"
    metrics: frozenset[str] = field(default_factory=frozenset)


def _epochs() -> Workload:
    return Workload(epochs=Finding(value=float(EPOCHS), source="cli"))


def _steps(count: int) -> Workload:
    return Workload(max_steps=Finding(value=count, source="cli"))


_BOTH: dict[Unit, float] = {"step": STEPS, "epoch": EPOCHS}
_ROUNDS: dict[Unit, float] = {"step": ROUNDS}

CASES = (
    Case(
        name="transformers",
        command=("transformers_trainer.py",),
        format="transformers",
        totals=_BOTH,
        metrics=frozenset({"loss", "eval_loss", "grad_norm", "learning_rate"}),
    ),
    Case(name="tqdm-nested", command=("tqdm_bars.py", "nested"), format="tqdm", totals=_BOTH),
    Case(
        name="tqdm-numbered",
        command=("tqdm_bars.py", "numbered"),
        format="tqdm",
        totals=_BOTH,
        metrics=frozenset({"loss", "lr"}),
    ),
    Case(
        name="lightning",
        command=("lightning_fit.py",),
        format="lightning",
        totals=_BOTH,
        workload=_epochs(),
        metrics=frozenset({"train_loss"}),
    ),
    Case(
        name="tqdm-unknown",
        command=("tqdm_bars.py", "unknown"),
        format="tqdm",
        totals=_BOTH,
        workload=_steps(STEPS),
    ),
    Case(
        name="xgboost",
        command=("xgboost_train.py", "5"),
        format="xgboost",
        totals=_ROUNDS,
        workload=_steps(ROUNDS),
        metrics=frozenset({"train-rmse", "valid-rmse"}),
    ),
    Case(
        name="keras-bars",
        command=("keras_fit.py", "1"),
        format="keras",
        totals=_BOTH,
        metrics=frozenset({"loss", "mae", "val_loss"}),
    ),
    Case(
        name="tqdm-slow",
        command=("tqdm_bars.py", "slow"),
        format="tqdm",
        totals={"step": 5},
        ends="doubtful",
    ),
    Case(
        name="lightgbm",
        command=("lightgbm_train.py",),
        format="lightgbm",
        totals=_ROUNDS,
        workload=_steps(ROUNDS),
        metrics=frozenset({"valid_1_l2"}),
    ),
    Case(
        name="transformers-without-bar",
        command=("transformers_trainer.py", "--no-bar"),
        format="transformers",
        totals=_BOTH,
        workload=_epochs(),
        metrics=frozenset({"loss", "eval_loss"}),
    ),
    Case(name="tqdm-write", command=("tqdm_bars.py", "write"), format="tqdm", totals=_BOTH),
    Case(
        name="catboost",
        command=("catboost_train.py",),
        format="catboost",
        totals=_ROUNDS,
        workload=_steps(ROUNDS),
        metrics=frozenset({"learn"}),
    ),
    Case(
        name="lightning-validating",
        command=("lightning_fit.py", "--validate"),
        format="lightning",
        totals=_BOTH,
        workload=_epochs(),
        metrics=frozenset({"train_loss", "val_loss"}),
    ),
    Case(name="tqdm-shaped", command=("tqdm_bars.py", "shaped"), format="tqdm", totals=_BOTH),
    Case(
        name="stable-baselines",
        command=("stable_baselines.py",),
        format="stable-baselines",
        totals={"step": 1024},
        workload=_steps(1024),
        metrics=frozenset({"ep_rew_mean", "fps", "loss"}),
    ),
    Case(
        name="keras-lines",
        command=("keras_fit.py", "2"),
        format="keras",
        totals=_BOTH,
        metrics=frozenset({"loss", "mae", "val_loss"}),
        ends="doubtful",
    ),
    Case(
        name="torch-by-hand",
        command=("torch_loop.py",),
        format="keyvalue",
        totals={"sample": 192, "epoch": EPOCHS},
        workload=_epochs(),
        ends="unsaid",
        metrics=frozenset({"loss"}),
    ),
    Case(
        name="transformers-verbose-without-bar",
        command=("transformers_trainer.py", "--no-bar", "--verbose"),
        format="transformers",
        totals=_BOTH,
        metrics=frozenset({"loss", "eval_loss"}),
    ),
    Case(
        name="accelerate",
        command=("accelerate_loop.py",),
        format="tqdm",
        totals=_BOTH,
        ends="doubtful",
    ),
)
"""In this order those that compute while they start run beside those that mostly sleep."""
