"""LLaMA-Factory: `llamafactory-cli train config.yaml key=value`, or its flags."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.contract import Framework, Rule, Sample, Settings
from schedmate.advisor.frameworks.deepspeed import named_deepspeed
from schedmate.advisor.frameworks.doors import command_line
from schedmate.advisor.frameworks.rules import (
    by_program,
    chosen,
    converted,
    either,
    of_program,
    stem,
)
from schedmate.advisor.frameworks.transformers import TRAINING_ARGUMENTS
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim

_OTHER_TASKS = {
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
_ARGUMENTS = TRAINING_ARGUMENTS.settings


def _other_task(settings: Settings) -> str | None:
    return _OTHER_TASKS.get(settings.words[0].text) if settings.words else None


def _task(settings: Settings) -> Value | None:
    other = _other_task(settings)
    return chosen("stage", _STAGES)(settings) if other is None else by_program(settings, other)


def _trained(rule: str | Rule) -> Rule:
    """Settings of a training say nothing where it only answers."""

    def of_training(settings: Settings) -> Value | None:
        return either(rule)(settings) if _other_task(settings) is None else None

    return of_training


def _deepspeed(settings: Settings) -> Iterator[Claim]:
    """Named by the Trainer's arguments, or by the rewritten trainer's own section."""
    if _other_task(settings) is None:
        yield from named_deepspeed(settings, settings.get("deepspeed"))
        if settings.text("dist_config.name") == "deepspeed":
            yield from named_deepspeed(settings, settings.get("dist_config.config_file"))


_FULL = """\
model_name_or_path: Qwen/Qwen3-4B
stage: sft
finetuning_type: full
deepspeed: ds/z3.json
dataset: identity,alpaca_en_demo
cutoff_len: 2048
output_dir: saves/full
save_steps: 500
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
learning_rate: 1.0e-5
num_train_epochs: 3.0
bf16: true
resume_from_checkpoint: null
"""
_ZERO3 = (
    '{"train_batch_size": "auto", "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 3}}'
)
_CLAIMS = {
    "framework": "transformers",
    "task": "language_modeling",
    "model": "Qwen/Qwen3-4B",
    "dataset": "identity,alpaca_en_demo",
    "sequence_length": 2048,
    "batch_size": 1,
    "gradient_accumulation": 2,
    "epochs": 3.0,
    "learning_rate": 2e-5,
    "checkpoint_dir": "saves/full",
    "checkpoint_every": 500,
    "precision": "bf16",
    "parallelism": "zero3",
    "resumes": False,
}

FRAMEWORK = Framework(
    settings={
        **{name: _trained(rule) for name, rule in _ARGUMENTS.items()},
        "framework": of_program("transformers"),
        "task": _task,
        "model": "model_name_or_path model",
        "dataset": either("dataset", converted(stem, "train_dataset")),
        "sequence_length": "cutoff_len",
        "batch_size": _trained(either(_ARGUMENTS["batch_size"], "micro_batch_size")),
        "optimizer": _trained(either(_ARGUMENTS["optimizer"], "optim_config.name")),
        "parallelism": _trained(
            either(
                _ARGUMENTS["parallelism"],
                chosen("dist_config.name", {"fsdp": "fsdp", "fsdp2": "fsdp"}),
            )
        ),
    },
    program=command_line(others=("export", "webui", "env", "version"), file_at=2),
    others=(_deepspeed,),
    samples=(
        Sample(
            command="llamafactory-cli train conf/full.yaml learning_rate=2e-5",
            files={"conf/full.yaml": _FULL, "ds/z3.json": _ZERO3},
            claims=_CLAIMS,
        ),
        Sample(
            command="llamafactory-cli train conf/full.yaml learning_rate=2e-5 max_steps=50",
            files={"conf/full.yaml": _FULL, "ds/z3.json": _ZERO3},
            claims={
                **{key: _CLAIMS[key] for key in _CLAIMS if key != "epochs"},
                "max_steps": 50,
            },
        ),
        Sample(
            command="python src/train.py --stage sft --do_train --model_name_or_path m "
            "--dataset d --cutoff_len 1024 --fp16 --per_device_train_batch_size 4 "
            "--save_strategy epoch --save_steps 10",
            files={"src/train.py": "from llamafactory.train.tuner import run_exp\n"},
            claims={
                "framework": "transformers",
                "task": "language_modeling",
                "model": "m",
                "dataset": "d",
                "sequence_length": 1024,
                "precision": "fp16",
                "batch_size": 4,
                "checkpoint_every": 1,
            },
        ),
        Sample(
            command="lmf sft c.yaml",
            files={
                "c.yaml": "model: Qwen/Qwen3-0.6B\ndist_config:\n  name: deepspeed\n"
                "  config_file: z3.json\ntrain_dataset: data/v1_sft_demo.yaml\n"
                "micro_batch_size: 1\ncutoff_len: 2048\n",
                "z3.json": _ZERO3,
            },
            claims={
                "framework": "transformers",
                "model": "Qwen/Qwen3-0.6B",
                "dataset": "v1_sft_demo",
                "sequence_length": 2048,
                "batch_size": 1,
                "parallelism": "zero3",
            },
        ),
        Sample(
            command="llamafactory-cli chat x.yaml",
            files={"x.yaml": _FULL},
            claims={
                "framework": "transformers",
                "task": "inference",
                "model": "Qwen/Qwen3-4B",
                "dataset": "identity,alpaca_en_demo",
                "sequence_length": 2048,
            },
        ),
        Sample(command="llamafactory-cli webui", claims={}),
    ),
)
