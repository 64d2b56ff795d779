"""LitGPT: `litgpt finetune_lora checkpoints/… --config x.yaml --train.epochs 2`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    first,
    known_by,
    last_part,
    renamed,
    saying,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import config_option, with_options
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs.words import value_of
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "batch_size": "train.micro_batch_size",
    "epochs": "train.epochs",
    "max_steps": "train.max_steps",
    "sequence_length": "train.max_seq_length",
    "checkpoint_every": "train.save_interval",
    "learning_rate": "optimizer.init_args.lr optimizer.lr train.learning_rate",
    "precision": "precision",
    "checkpoint_dir": "out_dir",
    "resumes": "resume",
}
_TRAINS = ("finetune", "pretrain")


def litgpt(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments)
    command = given.word(0)
    if command is None or not command.text.startswith(_TRAINS):
        return
    config = with_options(config_option(given.options, "config", context), given.options, context)
    yield known_by(run, "framework", "lightning")
    yield known_by(run, "task", "language_modeling")
    yield from told(config, _NAMES)
    yield from saying("model", _model(config, given.positional))
    yield from saying("dataset", last_part(first(config, "data.class_path data")))
    optimizer = first(config, "optimizer.class_path optimizer")
    yield from saying("optimizer", last_part(optimizer))


def _model(config: Value, positional: tuple[Word, ...]) -> Value | None:
    """Checkpoints lie in `checkpoints/` under the name that the hub has for them."""
    places = [word for word in positional[1:] if word.text not in ("lora", "full", "adapter")]
    named = value_of(places[0]) if places else None
    found = named or first(config, "model_name initial_checkpoint_dir checkpoint_dir")
    if found is None or not isinstance(found.data, str):
        return None
    return renamed(found, found.data.rstrip("/").removeprefix("./").removeprefix("checkpoints/"))
