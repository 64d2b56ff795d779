"""LLaMA-Factory: `llamafactory-cli train config.yaml key=value`, or its flags."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    first,
    known_by,
    renamed,
    saying,
    stated,
    stem,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import named_config, with_options
from schedmate.advisor.frameworks.tools.deepspeed_json import deepspeed_named
from schedmate.advisor.frameworks.tools.transformers_names import training_arguments
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "model": "model_name_or_path model",
    "sequence_length": "cutoff_len",
}
_SECOND_EDITION = {
    "batch_size": "micro_batch_size",
    "optimizer": "optim_config.name",
}
_OTHER_COMMANDS = {
    "chat": "inference",
    "api": "inference",
    "webchat": "inference",
    "eval": "evaluation",
}
_STAGES = {
    "pt": "language_modeling",
    "sft": "language_modeling",
    "dpo": "language_modeling",
    "kto": "language_modeling",
    "ppo": "reinforcement_learning",
    "rm": "sequence_classification",
}


def llamafactory(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments)
    command = given.word(0)
    other = _OTHER_COMMANDS.get(command.text) if command is not None else None
    if other is not None:
        yield known_by(run, "task", other)
    elif command is not None and command.text in ("export", "webui", "env", "version"):
        return
    config = with_options(named_config(given.positional[:2], context), given.options, context)
    yield known_by(run, "framework", "transformers")
    yield from told(config, _NAMES)
    dataset = first(config, "dataset") or stem(select(config, "train_dataset"))
    yield from saying("dataset", dataset)
    if other is None:
        yield from training_arguments(config, context.read_config)
        yield from _second_edition(config, context)
        stage = stated(select(config, "stage"))
        if stage is not None and stage.data in _STAGES:
            yield Claim(field="task", value=renamed(stage, _STAGES[stage.data]))


def _second_edition(config: Value, context: Context) -> Iterator[Claim]:
    """What the rewritten trainer, which is chosen by an environment variable, calls otherwise."""
    yield from told(config, _SECOND_EDITION)
    way = stated(select(config, "dist_config.name"))
    if way is not None and str(way.data).startswith("fsdp"):
        yield Claim(field="parallelism", value=renamed(way, "fsdp"))
    elif way is not None and way.data == "deepspeed":
        named = select(config, "dist_config.config_file")
        found = deepspeed_named(named, context.read_config)
        yield from (said for said in found if said.field == "parallelism")
