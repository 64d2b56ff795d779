"""verl: `-m verl.trainer.main_ppo data.train_batch_size=1024 …`, on top of its own defaults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.tools.base import (
    first,
    known_by,
    program_of,
    renamed,
    saying,
    stated,
    told,
)
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import compose, read_arguments, select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "model": "actor_rollout_ref.model.path model.path model.partial_pretrain",
    "batch_size": "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu "
    "data.micro_batch_size_per_gpu data.micro_batch_size",
    "epochs": "trainer.total_epochs",
    "max_steps": "trainer.total_training_steps",
    "learning_rate": "actor_rollout_ref.actor.optim.lr optim.lr",
    "sequence_length": "data.max_length",
    "checkpoint_dir": "trainer.default_local_dir",
    "checkpoint_every": "trainer.save_freq",
}
_STRATEGY = "actor_rollout_ref.actor.strategy model.strategy engine.strategy"
_WAYS = {"fsdp": "fsdp", "fsdp2": "fsdp", "megatron": "3d"}


def verl(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_arguments(run.arguments)
    place = given.config_path.text if given.config_path is not None else ""
    name = given.config_name.text if given.config_name is not None and place else None
    config = compose(context, place, name, given.overrides)
    yield known_by(run, "framework", "pytorch")
    learns = program_of(run) == "main_ppo"
    yield known_by(run, "task", "reinforcement_learning" if learns else "language_modeling")
    yield from told(config, _NAMES)
    yield from saying("dataset", _dataset(config))
    yield from _parallelism(config)
    resume = first(config, "trainer.resume_mode")
    if resume is not None:
        yield Claim(field="resumes", value=renamed(resume, resume.data != "disable"))


def _parallelism(config: Value) -> Iterator[Claim]:
    """The strategy, or settings that only one of the strategies has."""
    strategy = first(config, _STRATEGY)
    if strategy is not None and strategy.data in _WAYS:
        yield Claim(field="parallelism", value=renamed(strategy, _WAYS[strategy.data]))
        return
    for name, way in (("fsdp_config", "fsdp"), ("megatron", "3d")):
        settings = select(config, f"actor_rollout_ref.actor.{name}")
        if settings is not None and isinstance(settings.data, Table):
            value = renamed(settings, way)
            yield Claim(field="parallelism", value=value, confidence=0.8)
            return


def _dataset(config: Value) -> Value | None:
    """`~/data/gsm8k/train.parquet` is gsm8k."""
    value = stated(first(config, "data.train_files data.train_files.0"))
    if value is None or not isinstance(value.data, str):
        return None
    path = PurePosixPath(value.data)
    generic = path.stem.startswith(("train", "data")) and path.parent.name
    return renamed(value, path.parent.name if generic else path.stem)
