"""LightningCLI: `main.py fit --config x.yaml --trainer.max_epochs 5`, whoever's model it is."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import first, known_by, last_part, saying, told
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import config_at, nothing_known, with_options
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Sequence, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import merge, select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "epochs": "trainer.max_epochs",
    "max_steps": "trainer.max_steps",
    "gradient_accumulation": "trainer.accumulate_grad_batches",
    "precision": "trainer.precision",
    "parallelism": "trainer.strategy",
    "checkpoint_dir": "trainer.default_root_dir",
    "max_time_s": "trainer.max_time",
    "batch_size": "data.init_args.batch_size data.batch_size",
    "learning_rate": "optimizer.init_args.lr optimizer.lr model.init_args.lr model.lr "
    "model.init_args.learning_rate model.learning_rate",
    "resumes": "ckpt_path",
}
_TASKS = {"test": "evaluation", "validate": "evaluation", "predict": "inference"}


def lightning_cli(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments)
    config = nothing_known(complete=True)
    for path in _paths(run):
        config = merge(config, config_at(path, context))
    command = given.word(0)
    section = select(config, command.text) if command is not None else None
    config = merge(config, section or nothing_known(complete=True))
    config = with_options(config, given.options, context)
    yield known_by(run, "framework", "lightning")
    if command is not None and command.text in _TASKS:
        yield known_by(run, "task", _TASKS[command.text])
    yield from told(config, _NAMES)
    yield from saying("optimizer", last_part(first(config, "optimizer.class_path optimizer")))
    yield from saying("model", last_part(first(config, "model.class_path")))
    yield from saying("dataset", last_part(first(config, "data.class_path")))
    yield from _callbacks(select(config, "trainer.callbacks"))


def _paths(run: PythonRun) -> Iterator[str]:
    """`--config` may be given several times; later ones go over earlier ones."""
    texts = [word.text for word in run.arguments]
    for place, text in enumerate(texts):
        name, equal, value = text.partition("=")
        if name in ("--config", "-c"):
            yield value if equal else next(iter(texts[place + 1 : place + 2]), "")


def _callbacks(value: Value | None) -> Iterator[Claim]:
    items = value.data.items if value is not None and isinstance(value.data, Sequence) else []
    for item in items:
        name = last_part(select(item, "class_path"))
        if name is not None and name.data == "EarlyStopping":
            yield Claim(field="early_stopping", value=Value(True, name.lines, name.source))
        elif name is not None and name.data == "ModelCheckpoint":
            yield from told(item, _CHECKPOINTS)


_CHECKPOINTS = {
    "checkpoint_dir": "init_args.dirpath dirpath",
    "checkpoint_every": "init_args.every_n_train_steps init_args.every_n_epochs",
}
