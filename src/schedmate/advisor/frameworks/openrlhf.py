"""OpenRLHF: `-m openrlhf.cli.train_sft --pretrain …`, with the flags of old and of new versions."""

from __future__ import annotations

from schedmate.advisor.frameworks.contract import Framework, Sample, Settings
from schedmate.advisor.frameworks.deepspeed import zero_stage
from schedmate.advisor.frameworks.doors import command_line
from schedmate.advisor.frameworks.rules import (
    by_program,
    converted,
    either,
    of_path,
    of_program,
    program_name,
    resumption,
    switched,
)
from schedmate.advisor.interpret.python.values import Value

_TASKS = {
    "train_sft": "language_modeling",
    "train_dpo": "language_modeling",
    "train_ppo_ray": "reinforcement_learning",
    "train_ppo": "reinforcement_learning",
}


def _task(settings: Settings) -> Value | None:
    task = _TASKS.get(program_name(settings.reading.run))
    return None if task is None else by_program(settings, task)


_CLAIMS = {
    "framework": "deepspeed",
    "task": "language_modeling",
    "model": "m/l",
    "dataset": "Open-Orca/OpenOrca",
    "sequence_length": 2048,
    "batch_size": 2,
    "epochs": 1,
    "learning_rate": 5e-6,
    "precision": "bf16",
    "parallelism": "zero2",
    "checkpoint_dir": "./ckpt",
    "resumes": True,
}

FRAMEWORK = Framework(
    settings={
        "framework": of_program("deepspeed"),
        "task": _task,
        "model": "model.model_name_or_path actor.model_name_or_path pretrain",
        "dataset": converted(of_path, "data.dataset data.prompt_dataset dataset prompt_data"),
        "sequence_length": "data.max_len max_len",
        "batch_size": "train.micro_batch_size micro_train_batch_size",
        "epochs": "train.max_epochs max_epochs",
        "optimizer": "optim",
        "learning_rate": "adam.lr actor.adam.lr learning_rate actor_learning_rate",
        "precision": either("ds.param_dtype param_dtype", switched({"bf16": "bf16"})),
        "parallelism": zero_stage("ds.zero_stage zero_stage"),
        "checkpoint_dir": "ckpt.output_dir save_path",
        "checkpoint_every": "ckpt.save_steps save_steps",
        "resumes": resumption("ckpt.load_enable load_checkpoint"),
    },
    program=command_line(),
    samples=(
        Sample(
            command="python -m openrlhf.cli.train_sft --max_len 2048 --pretrain m/l --bf16 "
            "--dataset Open-Orca/OpenOrca --micro_train_batch_size 2 --zero_stage 2 "
            "--max_epochs 1 --learning_rate 5e-6 --save_path ./ckpt --load_checkpoint",
            claims=_CLAIMS,
        ),
        Sample(
            command="python -m openrlhf.cli.train_sft --data.max_len 2048 "
            "--data.dataset Open-Orca/OpenOrca --train.micro_batch_size 2 "
            "--model.model_name_or_path m/l --ds.zero_stage 2 --train.max_epochs 1 "
            "--ds.param_dtype bf16 --adam.lr 5e-6 --ckpt.output_dir ./ckpt --ckpt.load_enable",
            claims=_CLAIMS,
        ),
        Sample(
            command="python openrlhf/cli/train_sft.py",
            files={"openrlhf/cli/train_sft.py": "import os\n"},
            claims={"framework": "deepspeed", "task": "language_modeling"},
        ),
    ),
)
