"""The settings of transformers' TrainingArguments, which several tools take as they are."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    Reader,
    first,
    is_true,
    renamed,
    saying,
    stated,
    switched,
    told,
)
from schedmate.advisor.frameworks.tools.deepspeed_json import deepspeed_named
from schedmate.advisor.interpret.python.values import Sequence, Value
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "batch_size": "per_device_train_batch_size",
    "gradient_accumulation": "gradient_accumulation_steps",
    "epochs": "num_train_epochs",
    "max_steps": "max_steps",
    "optimizer": "optim",
    "learning_rate": "learning_rate",
    "checkpoint_dir": "output_dir",
}


def training_arguments(config: Value, read: Reader) -> Iterator[Claim]:
    """What is stated of them. `read` opens the DeepSpeed config that they may name."""
    yield from told(config, _NAMES)
    yield from switched(config, "precision", {"bf16": "bf16", "fp16": "fp16"})
    yield from _saving(config)
    yield from _parallelism(config, read)
    yield from resumption(select(config, "resume_from_checkpoint"))


def resumption(value: Value | None) -> Iterator[Claim]:
    """Left open, or null: it does not."""
    if value is not None and value.plain:
        said = str(value.data).strip().lower() not in ("false", "none", "null", "")
        yield Claim(field="resumes", value=renamed(value, said))


def _saving(config: Value) -> Iterator[Claim]:
    """`save_steps` counts only where it saves by steps."""
    strategy = stated(select(config, "save_strategy"))
    if strategy is None or strategy.data == "steps":
        yield from saying("checkpoint_every", first(config, "save_steps"))
    elif strategy.data == "epoch":
        yield Claim(field="checkpoint_every", value=renamed(strategy, 1))


def _parallelism(config: Value, read: Reader) -> Iterator[Claim]:
    deepspeed = select(config, "deepspeed")
    if deepspeed is not None and deepspeed.data is not None:
        for said in deepspeed_named(deepspeed, read):
            if said.field == "parallelism":
                yield said
        return
    fsdp = select(config, "fsdp")
    if fsdp is None or not fsdp.known or fsdp.data in (None, "", False):
        return
    if not isinstance(fsdp.data, Sequence) or fsdp.data.items:
        yield Claim(field="parallelism", value=renamed(fsdp, "fsdp"))


def tuned_precision(config: Value) -> Iterator[Claim]:
    """The type of the weights, where no switch says in what the tool computes."""
    if not is_true(select(config, "bf16")) and not is_true(select(config, "fp16")):
        yield from saying("precision", first(config, "torch_dtype dtype"))
