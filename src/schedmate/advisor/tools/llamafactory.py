"""LLaMA-Factory: `llamafactory-cli train config.yaml key=value`, or its flags."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.configs import select
from schedmate.advisor.idioms.base import Said
from schedmate.advisor.launch import PythonRun
from schedmate.advisor.python.world import World
from schedmate.advisor.tools.base import known_by, told
from schedmate.advisor.tools.command_line import read_command_line
from schedmate.advisor.tools.configs_named import named_config, with_options
from schedmate.advisor.tools.transformers_names import training_arguments

_NAMES = {
    "model": "model_name_or_path",
    "dataset": "dataset",
    "sequence_length": "cutoff_len",
}
_OTHER_COMMANDS = {
    "chat": "inference",
    "api": "inference",
    "webchat": "inference",
    "eval": "evaluation",
}
_LANGUAGE = ("pt", "sft", "dpo", "kto")


def llamafactory(run: PythonRun, world: World) -> Iterator[Said]:
    given = read_command_line(run.arguments)
    command = given.word(0)
    other = _OTHER_COMMANDS.get(command.text) if command is not None else None
    if other is not None:
        yield known_by(run, "task", other)
    elif command is not None and command.text in ("export", "webui", "env", "version"):
        return
    config = with_options(named_config(given.positional[:2], world), given.options, world)
    yield known_by(run, "framework", "transformers")
    yield from told(config, _NAMES)
    if other is None:
        yield from training_arguments(config, world.read_config)
        stage = select(config, "stage")
        if stage is not None and stage.data in _LANGUAGE:
            yield known_by(run, "task", "language_modeling")
