"""axolotl: `axolotl train config.yml --learning-rate 1e-4`, `-m axolotl.cli.train config.yml`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    first,
    known_by,
    renamed,
    saying,
    stated,
    switched,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import named_config, with_options
from schedmate.advisor.frameworks.tools.deepspeed_json import deepspeed_named
from schedmate.advisor.frameworks.tools.transformers_names import resumption
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Sequence, Table, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "model": "base_model",
    "sequence_length": "sequence_len",
    "batch_size": "micro_batch_size",
    "gradient_accumulation": "gradient_accumulation_steps",
    "epochs": "num_epochs",
    "max_steps": "max_steps",
    "optimizer": "optimizer",
    "learning_rate": "learning_rate",
    "checkpoint_dir": "output_dir",
    "checkpoint_every": "save_steps",
    "early_stopping": "early_stopping_patience",
}
_PRECISIONS = {"bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16"}
_OTHER_COMMANDS = ("preprocess", "merge-lora", "inference", "evaluate", "quantize", "fetch")


def axolotl(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments)
    command = given.word(0)
    if command is not None and command.text in _OTHER_COMMANDS:
        return
    config = with_options(named_config(given.positional, context), given.options, context)
    yield known_by(run, "framework", "transformers")
    yield from told(config, _NAMES)
    yield from saying("dataset", _dataset(config))
    yield from _precision(config)
    yield from _parallelism(config, context)
    yield from _saving(config)
    if select(config, "base_model") is not None:
        because = (first(config, "model_type"), first(config, "base_model"))
        yield known_by(run, "task", "language_modeling", *because)


def _saving(config: Value) -> Iterator[Claim]:
    found = first(config, "auto_resume_from_checkpoints resume_from_checkpoint")
    yield from resumption(found or select(config, "resume_from_checkpoint"))
    per_epoch = first(config, "saves_per_epoch")
    if first(config, "save_steps") is None and per_epoch is not None and per_epoch.data == 1:
        yield Claim(field="checkpoint_every", value=renamed(per_epoch, 1))


def _dataset(config: Value) -> Value | None:
    """A path, or a list of datasets of which the first is named."""
    for name in ("datasets", "pretraining_dataset"):
        value = select(config, name)
        found = first(config, f"{name}.0.path {name}.path {name}.0")
        if found is not None:
            return found
        if value is not None and not isinstance(value.data, (Sequence, Table)) and stated(value):
            return value
    return None


def _precision(config: Value) -> Iterator[Claim]:
    full = stated(select(config, "bf16"))
    if full is not None and full.data == "full":
        yield Claim(field="precision", value=renamed(full, "bf16"))
    else:
        yield from switched(config, "precision", _PRECISIONS)


def _parallelism(config: Value, context: Context) -> Iterator[Claim]:
    deepspeed = select(config, "deepspeed")
    if deepspeed is not None and deepspeed.data is not None:
        found = deepspeed_named(deepspeed, context.read_config)
        yield from (said for said in found if said.field == "parallelism")
        return
    for name in ("fsdp_config", "fsdp"):
        value = select(config, name)
        parts = value.data if value is not None else None
        if value is not None and _holds_something(parts):
            yield Claim(field="parallelism", value=renamed(value, "fsdp"))
            return


def _holds_something(data: object) -> bool:
    if isinstance(data, Table):
        return bool(data.parts)
    return isinstance(data, Sequence) and bool(data.items)
