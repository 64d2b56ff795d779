"""Code of the job that a library calls: functions that are handed over, hooks of what it trains.

No line of the job calls them, but they surely run: they are interpreted where they are handed over.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.functions import bound_method
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Call,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.options.tables import table_of

_LIGHTNING_HOOKS = (
    *("prepare_data", "setup", "configure_model", "train_dataloader", "configure_optimizers"),
    *("on_fit_start", "on_train_start", "training_step"),
)
_TRANSFORMERS_HOOKS = (
    *("get_train_dataloader", "create_optimizer", "create_scheduler"),
    *("create_optimizer_and_scheduler", "compute_loss"),
)
_LIGHTNING = (
    *("pytorch_lightning.Trainer", "lightning.Trainer", "lightning.pytorch.Trainer"),
    *("pytorch_lightning.trainer.Trainer", "lightning.pytorch.trainer.Trainer"),
)


@dataclass(frozen=True, slots=True)
class Handed:
    """Where a call has the function, and what that is called with: a tuple of arguments, or one
    config. `ranked`: the number of the process comes first."""

    name: str
    position: int
    arguments: str = ""
    at: int | None = None
    config: str = ""
    ranked: bool = False

    def __call__(self, call: Call, context: Context) -> Value | None:
        function = call.argument(self.name, self.position)
        if function is not None and isinstance(function.data, LocalFunction):
            context.invoke(function, self._given(call))
        return None

    def _given(self, call: Call) -> list[Value]:
        rank = [Value(0)] if self.ranked else []
        listed = call.argument(self.arguments, self.at) if self.arguments else None
        if listed is not None and isinstance(listed.data, Sequence):
            return [*rank, *listed.data.items]
        if self.config:
            return [*rank, call.argument(self.config) or UNKNOWN]
        return rank


def fit(call: Call, context: Context) -> Value | None:
    """`Trainer.fit(module, datamodule)`: what Lightning calls of both, in its order."""
    given = [*call.positional, *call.keywords.values()]
    owners = [value for value in given if (table := table_of(value)) and table.of is not None]
    for name in _LIGHTNING_HOOKS:
        for owner in owners:
            _call_hook(owner, name, [Value("fit")] if name == "setup" else [], context)
    return None


def train(call: Call, context: Context) -> Value | None:
    """`Trainer.train()` of a class of the job that replaces some of its parts."""
    table = table_of(call.receiver)
    for name in _TRANSFORMERS_HOOKS if table is not None and table.of is not None else ():
        if call.receiver is not None:
            _call_hook(call.receiver, name, [], context)
    return None


def _call_hook(owner: Value, name: str, given: Many[Value], context: Context) -> None:
    cls = owner.data.of if isinstance(owner.data, Table) else None
    found = context.members(cls).get(name) if isinstance(cls, LocalClass) else None
    if found is not None and isinstance(found.data, LocalFunction):
        context.invoke(bound_method(found.data, owner), list(given))


_SPAWN = Handed("fn", 0, "args", 1, ranked=True)
_LAUNCH = Handed("main_func", 0, "args")
CALLED_BACK: dict[str, CallModel] = {
    **{f"{kind}.fit": fit for kind in _LIGHTNING},
    **{f"{kind}.from_argparse_args.fit": fit for kind in _LIGHTNING},
    **dict.fromkeys(("transformers.Trainer.train", "transformers.trainer.Trainer.train"), train),
    **dict.fromkeys(("transformers.Seq2SeqTrainer.train", "trl.SFTTrainer.train"), train),
    "torch_xla.distributed.xla_multiprocessing.spawn": _SPAWN,
    "torch_xla.launch": _SPAWN,
    "accelerate.notebook_launcher": Handed("function", 0, "args", 1),
    "accelerate.launchers.notebook_launcher": Handed("function", 0, "args", 1),
    "detectron2.engine.launch": _LAUNCH,
    "fastreid.engine.launch": _LAUNCH,
    "wandb.agent": Handed("function", 1),
    "ray.tune.run": Handed("run_or_experiment", 0, config="config"),
    "ray.tune.Tuner": Handed("trainable", 0, config="param_space"),
    "ray.train.torch.TorchTrainer": Handed("train_loop_per_worker", 0, config="train_loop_config"),
    "ray.train.tensorflow.TensorflowTrainer": Handed(
        "train_loop_per_worker", 0, config="train_loop_config"
    ),
    "optuna.create_study.optimize": Handed("func", 0, config="trial"),
}
