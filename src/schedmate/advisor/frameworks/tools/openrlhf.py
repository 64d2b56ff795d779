"""OpenRLHF: `-m openrlhf.cli.train_sft --pretrain …`; newer ones have dotted flags."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    first,
    known_by,
    of_path,
    program_of,
    saying,
    switched,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.deepspeed_json import zero_stage
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "model": "model.model_name_or_path actor.model_name_or_path pretrain",
    "sequence_length": "data.max_len max_len",
    "batch_size": "train.micro_batch_size micro_train_batch_size",
    "epochs": "train.max_epochs max_epochs",
    "optimizer": "optim",
    "learning_rate": "adam.lr actor.adam.lr learning_rate actor_learning_rate",
    "precision": "ds.param_dtype param_dtype",
    "checkpoint_dir": "ckpt.output_dir save_path",
    "checkpoint_every": "ckpt.save_steps save_steps",
    "resumes": "ckpt.load_enable load_checkpoint",
}
_DATASET = "data.dataset data.prompt_dataset dataset prompt_data"
_TASKS = {
    "train_sft": "language_modeling",
    "train_dpo": "language_modeling",
    "train_ppo_ray": "reinforcement_learning",
    "train_ppo": "reinforcement_learning",
}


def openrlhf(run: PythonRun, context: Context) -> Iterator[Claim]:
    del context
    config = read_command_line(run.arguments).options
    yield known_by(run, "framework", "deepspeed")
    task = _TASKS.get(program_of(run))
    if task is not None:
        yield known_by(run, "task", task)
    yield from told(config, _NAMES)
    yield from saying("dataset", of_path(first(config, _DATASET)))
    yield from switched(config, "precision", {"bf16": "bf16"})
    yield from zero_stage(select(config, "ds.zero_stage") or select(config, "zero_stage"))
