"""trl's command line: `trl sft --model_name_or_path … --config x.yaml`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.accelerate_yaml import accelerate_config
from schedmate.advisor.frameworks.tools.base import known_by, renamed, stated, told
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import config_option, with_options
from schedmate.advisor.frameworks.tools.transformers_names import (
    training_arguments,
    tuned_precision,
)
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "model": "model_name_or_path",
    "dataset": "dataset_name datasets.0.path",
    "sequence_length": "max_length max_seq_length",
}
_TRAINS = {
    "sft": "language_modeling",
    "dpo": "language_modeling",
    "kto": "language_modeling",
    "grpo": "reinforcement_learning",
    "rloo": "reinforcement_learning",
    "reward": "sequence_classification",
}
_BROUGHT_ALONG = {
    "multi_gpu": "ddp",
    "fsdp1": "fsdp",
    "fsdp2": "fsdp",
    "zero1": "zero1",
    "zero2": "zero2",
    "zero3": "zero3",
}


def trl(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments)
    command = given.word(0)
    if command is None or command.text not in _TRAINS:
        return
    config = with_options(config_option(given.options, "config", context), given.options, context)
    yield known_by(run, "framework", "transformers")
    yield known_by(run, "task", _TRAINS[command.text])
    yield from told(config, _NAMES)
    yield from training_arguments(config, context.read_config)
    yield from tuned_precision(config)
    yield from _launching(stated(select(config, "accelerate_config")), context)


def _launching(named: Value | None, context: Context) -> Iterator[Claim]:
    """`--accelerate_config` takes a file, or the name of one that trl brings along."""
    if named is None or not isinstance(named.data, str):
        return
    way = _BROUGHT_ALONG.get(named.data)
    if way is not None:
        yield Claim(field="parallelism", value=renamed(named, way))
    elif (found := context.read_config(named.data)) is not None:
        yield from accelerate_config(found, context.read_config)
