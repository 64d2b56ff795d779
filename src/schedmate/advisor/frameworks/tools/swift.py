"""ms-swift: `swift sft --model … --dataset …`, or a YAML file in place of the flags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    known_by,
    program_of,
    renamed,
    saying,
    stated,
    switched,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import (
    config_option,
    named_config,
    with_options,
)
from schedmate.advisor.frameworks.tools.transformers_names import (
    training_arguments,
    tuned_precision,
)
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Sequence, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import merge, select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "model": "model model_id_or_path model_type",
    "sequence_length": "max_length",
}
_OF_MEGATRON = {
    "batch_size": "micro_batch_size",
    "epochs": "num_train_epochs max_epochs",
    "max_steps": "train_iters",
    "learning_rate": "lr",
    "checkpoint_dir": "output_dir save",
    "checkpoint_every": "save_steps save_interval",
}
_DEGREES = {"tp": "tensor_model_parallel_size", "pp": "pipeline_model_parallel_size"}
_LEARNS = ("grpo", "ppo")
_TRAINS = ("sft", "pt", "rlhf")
_STAGE = re.compile(r"zero([0123])(?:_offload)?")


def swift(run: PythonRun, context: Context) -> Iterator[Claim]:
    config = _config(run, context)
    if config is None:
        return
    yield known_by(run, "framework", "transformers")
    yield from _shared(run, config)
    yield from training_arguments(config, context.read_config)
    yield from tuned_precision(config)
    stage = stated(select(config, "deepspeed"))
    match = _STAGE.fullmatch(str(stage.data)) if stage is not None else None
    if stage is not None and match is not None:
        way = "ddp" if match[1] == "0" else f"zero{match[1]}"
        yield Claim(field="parallelism", value=renamed(stage, way))


def megatron_swift(run: PythonRun, context: Context) -> Iterator[Claim]:
    """`megatron sft …`: the same on top of Megatron."""
    config = _config(run, context)
    if config is None:
        return
    yield known_by(run, "framework", "megatron")
    yield from _shared(run, config)
    yield from told(config, _OF_MEGATRON)
    yield from switched(config, "precision", {"bf16": "bf16", "fp16": "fp16"})
    yield from tuned_precision(config)
    degrees = {
        way: value
        for way, name in _DEGREES.items()
        if (value := stated(select(config, name))) is not None and value.data != 1
    }
    if degrees:
        way, value = next(iter(degrees.items()))
        said = "3d" if len(degrees) > 1 else way
        yield Claim(field="parallelism", value=renamed(value, said))


def _config(run: PythonRun, context: Context) -> Value | None:
    """None where it does not train."""
    given = read_command_line(run.arguments, greedy=True)
    command = given.word(0)
    module = program_of(run).removeprefix("llm_")
    if (command is None or command.text not in _TRAINS) and module not in _TRAINS:
        return None
    config = with_options(named_config(given.positional[:2], context), given.options, context)
    return merge(config_option(given.options, "config", context), config)


def _shared(run: PythonRun, config: Value) -> Iterator[Claim]:
    yield from told(config, _NAMES)
    yield from saying("dataset", _dataset(select(config, "dataset")))
    learns = stated(select(config, "rlhf_type"))
    learning = learns is not None and learns.data in _LEARNS
    yield known_by(run, "task", "reinforcement_learning" if learning else "language_modeling")


def _dataset(value: Value | None) -> Value | None:
    """The first of several; `name#500` takes 500 rows of it."""
    if value is not None and isinstance(value.data, Sequence):
        value = next(iter(value.data.items), None)
    found = stated(value)
    if found is None or not isinstance(found.data, str):
        return None
    return renamed(found, found.data.split("#")[0])
