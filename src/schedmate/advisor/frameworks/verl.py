"""verl: `-m verl.trainer.main_ppo key=value …`, composed by Hydra."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated
from schedmate.advisor.frameworks.rules import (
    by_program,
    chosen,
    either,
    of_program,
    present,
    program_name,
    resumption,
)
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.options.configs import compose, read_arguments

_STRATEGIES = {"fsdp": "fsdp", "fsdp2": "fsdp", "megatron": "3d"}


def _door(reading: Reading) -> Iterator[Settings]:
    if reading.context is None:
        return
    given = read_arguments(reading.run.arguments)
    place = given.config_path.text if given.config_path is not None else ""
    name = given.config_name.text if given.config_name is not None and place else None
    tree = compose(reading.context, place, name, given.overrides)
    yield Settings(tree, reading, started=True)


def _task(settings: Settings) -> Value | None:
    rewarded = program_name(settings.reading.run) == "main_ppo"
    return by_program(settings, "reinforcement_learning" if rewarded else "language_modeling")


def _dataset(settings: Settings) -> Value | None:
    """`~/data/gsm8k/train.parquet` is gsm8k."""
    value = settings.first("data.train_files data.train_files.0")
    if value is None or not isinstance(value.data, str):
        return None
    path = PurePosixPath(value.data)
    generic = path.stem.startswith(("train", "data")) and path.parent.name
    return restated(value, path.parent.name if generic else path.stem)


FRAMEWORK = Framework(
    settings={
        "framework": of_program("pytorch"),
        "task": _task,
        "model": "actor_rollout_ref.model.path model.path model.partial_pretrain",
        "dataset": _dataset,
        "batch_size": "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu "
        "data.micro_batch_size_per_gpu data.micro_batch_size",
        "epochs": "trainer.total_epochs",
        "max_steps": "trainer.total_training_steps",
        "learning_rate": "actor_rollout_ref.actor.optim.lr optim.lr",
        "sequence_length": "data.max_length",
        "checkpoint_dir": "trainer.default_local_dir",
        "checkpoint_every": "trainer.save_freq",
        "resumes": resumption("trainer.resume_mode"),
        "parallelism": either(
            chosen("actor_rollout_ref.actor.strategy model.strategy engine.strategy", _STRATEGIES),
            present("actor_rollout_ref.actor.fsdp_config", "fsdp"),
            present("actor_rollout_ref.actor.megatron", "3d"),
        ),
    },
    program=_door,
    samples=(
        Sample(
            command="python -m verl.trainer.main_ppo data.train_files=~/data/gsm8k/train.parquet "
            "data.train_batch_size=1024 "
            "actor_rollout_ref.model.path=deepseek-ai/deepseek-llm-7b-chat "
            "actor_rollout_ref.actor.optim.lr=1e-6 "
            "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=16 trainer.total_epochs=15 "
            "actor_rollout_ref.actor.fsdp_config.param_offload=False trainer.save_freq=20 "
            "'+x=[1,2]'",
            claims={
                "framework": "pytorch",
                "task": "reinforcement_learning",
                "model": "deepseek-ai/deepseek-llm-7b-chat",
                "dataset": "gsm8k",
                "batch_size": 16,
                "epochs": 15,
                "learning_rate": 1e-6,
                "checkpoint_every": 20,
                "parallelism": "fsdp",
            },
        ),
        Sample(
            command="python verl/trainer/main_ppo.py",
            files={"verl/trainer/main_ppo.py": "import os\n"},
            claims={"framework": "pytorch", "task": "reinforcement_learning"},
        ),
    ),
)
