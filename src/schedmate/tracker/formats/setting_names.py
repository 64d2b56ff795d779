"""Names under which programs state how much there is to do, and how long they may take."""

from __future__ import annotations

from schedmate.model import Unit

_STEPS = (
    "max_steps", "total_steps", "train_steps", "num_train_steps", "max_train_steps",
    "total_train_steps", "training_steps", "total_training_steps", "num_training_steps",
    "total_optimization_steps", "number_of_steps", "total_number_of_steps", "total_timesteps",
    "max_iter", "max_iters", "train_iters", "num_iters", "total_iters", "iterations",
    "num_iterations", "max_iterations", "total_iterations", "number_of_iterations",
    "total_updates", "max_update", "max_updates", "num_updates", "n_iters", "n_iterations",
    "max_timesteps", "max_train_iters", "num_train_iters", "train_num_steps", "num_env_steps",
    "total_env_steps", "max_env_steps", "total_frames", "max_frames", "num_frames",
    "optimizer_steps", "opt_steps", "gradient_steps", "update_steps",
)  # fmt: skip
WEAK = frozenset(
    {"num_steps", "n_steps", "steps", "nsteps", "n_iter", "num_iter", "iters", "nstlim", "numsteps"}
)
WEAK_THINGS = (
    "generations", "estimators", "trees", "rounds", "episodes", "trials", "sweeps", "boost_round",
)  # fmt: skip
"""Names of the total, but elsewhere of a roll-out or a part of it: shown, not believed."""
_EPOCH_NAMES = (
    "epochs", "num_epochs", "max_epochs", "n_epochs", "nepochs", "total_epochs",
    "num_train_epochs", "train_epochs", "training_epochs", "number_of_epochs", "num_epoch",
    "max_epoch", "total_epoch", "epoch_num",
)  # fmt: skip
_SAMPLES = ("train_samples", "total_train_samples")
_TOKENS = ("train_tokens", "total_train_tokens", "max_train_tokens")

_NUMBERS_OF = (
    "num", "n", "number_of", "total_number_of", "max_number_of", "maximum_number_of", "total",
    "max", "maximum", "planned", "target",
)  # fmt: skip
_COUNTED_THINGS: dict[str, Unit] = {
    "updates": "step", "iterations": "step", "iters": "step", "batches": "step", "epochs": "epoch",
    "train_steps": "step", "training_steps": "step", "optimizer_steps": "step",
    "generations": "step", "estimators": "step", "trees": "step", "rounds": "step",
    "episodes": "step", "trials": "step", "sweeps": "step", "boost_rounds": "step",
    "boosting_rounds": "step", "boost_round": "step", "passes": "epoch",
}  # fmt: skip

TOTALS: dict[str, Unit] = {
    **{
        f"{number}_{what}": unit for number in _NUMBERS_OF for what, unit in _COUNTED_THINGS.items()
    },
    **dict.fromkeys(_STEPS, "step"),
    **dict.fromkeys(WEAK, "step"),
    **dict.fromkeys(WEAK_THINGS, "step"),
    **dict.fromkeys(_EPOCH_NAMES, "epoch"),
    **dict.fromkeys(_SAMPLES, "sample"),
    **dict.fromkeys(_TOKENS, "token"),
}
PER_EPOCH = frozenset({"steps_per_epoch", "iters_per_epoch", "batches_per_epoch"})
CAPS: dict[str, float | None] = {
    "max_wallclock_seconds": 1, "max_train_seconds": 1, "max_training_seconds": 1,
    "max_seconds": 1, "time_limit_seconds": 1, "max_time_seconds": 1,
    "exit_duration_in_mins": 60, "max_minutes": 60, "max_train_minutes": 60,
    "max_hours": 3600, "max_train_hours": 3600,
    "time_limit": None, "max_time": None, "max_runtime": None, "max_train_time": None,
    "max_training_time": None, "time_budget": None, "training_time_budget": None,
    "wallclock_cap": None, "wallclock_limit": None, "max_wallclock": None,
    "train_time_limit": None, "training_time_limit": None, "wall_clock_budget": None,
    "wall_clock_limit": None, "wall_clock_cap": None, "wall_time_limit": None,
    "walltime_limit": None, "wallclock_budget": None, "walltime_budget": None,
}  # fmt: skip
"""Seconds in the unit that the name says; None: the value has to say it."""
MAX_NAME = 4
"""Words that a name has at most."""
OF_SOMETHING_ELSE = frozenset(
    {
        "warmup", "eval", "evaluation", "validation", "val", "valid", "test", "decay", "scheduler",
        "lr", "save", "log", "logging", "per", "every", "profile", "profiler", "accumulation",
        "gradient", "inference", "sampling", "diffusion", "download", "request", "queue", "slurm",
        "pretrain", "burnin", "cooldown", "freeze", "frozen", "search", "solver", "trial",
        "patience", "early", "stopping", "ema", "swa", "print", "report", "checkpoint", "ckpt",
    }
)  # fmt: skip
GENERIC = frozenset({"epochs", "iterations", "steps", "iters", *WEAK_THINGS})
"""Names that are also words of prose: believed only where no other word stands before them."""
PREFIXES = frozenset({"info", "root", "training", "train", "debug", "main", "config", "args"})
