"""ms-swift: `swift sft --model … --dataset …`, or a YAML file; `megatron sft` on Megatron."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.command_line import (
    config_option,
    named_config,
    read_command_line,
)
from schedmate.advisor.frameworks.contract import Framework, Rule, Sample, Settings, restated
from schedmate.advisor.frameworks.doors import settings_of
from schedmate.advisor.frameworks.rules import by_program, either, model_parallel, program_name
from schedmate.advisor.frameworks.transformers import TRAINING_ARGUMENTS
from schedmate.advisor.interpret.python.values import Sequence, Value
from schedmate.advisor.options.configs import merge

_COMMANDS = ("sft", "pt", "rlhf")
_REWARDED = ("grpo", "ppo")
_STAGE = re.compile(r"zero([0123])(?:_offload)?")
_ARGUMENTS = TRAINING_ARGUMENTS.settings


def _door(reading: Reading) -> Iterator[Settings]:
    given = read_command_line(reading.run.arguments, greedy=True)
    command = given.word(0)
    module = program_name(reading.run).removeprefix("llm_")
    trains = (command is not None and command.text in _COMMANDS) or module in _COMMANDS
    if trains and reading.context is not None:
        named = config_option(given.options, "config", reading.context)
        file = named_config(given.positional[:2], reading.context)
        yield settings_of(reading, given, merge(named, file))


def _is_megatron(settings: Settings) -> bool:
    run = settings.reading.run
    return "megatron" in f"{run.entry.name} {run.command.text}"


def _on_megatron(names: str, rule: str | Rule) -> Rule:
    """The name that it has there, else what the Trainer's arguments say."""

    def chosen_names(settings: Settings) -> Value | None:
        found = settings.first(names) if _is_megatron(settings) else None
        return found if found is not None else either(rule)(settings)

    return chosen_names


def _framework(settings: Settings) -> Value | None:
    return by_program(settings, "megatron" if _is_megatron(settings) else "transformers")


def _task(settings: Settings) -> Value | None:
    rewarded = settings.text("rlhf_type") in _REWARDED
    return by_program(settings, "reinforcement_learning" if rewarded else "language_modeling")


def _dataset(settings: Settings) -> Value | None:
    """The first of several; `name#500` takes 500 rows of it."""
    value = settings.get("dataset")
    if value is not None and isinstance(value.data, Sequence):
        value = next(iter(value.data.items), None)
    if value is None or not isinstance(value.data, str):
        return None
    return restated(value, value.data.split("#")[0])


def _stage(settings: Settings) -> Value | None:
    """The name of a DeepSpeed config that swift brings along."""
    named = settings.first("deepspeed")
    match = _STAGE.fullmatch(str(named.data)) if named is not None else None
    if named is None or match is None:
        return None
    return restated(named, "ddp" if match[1] == "0" else f"zero{match[1]}")


FRAMEWORK = Framework(
    settings={
        **_ARGUMENTS,
        "framework": _framework,
        "task": _task,
        "model": "model model_id_or_path model_type",
        "dataset": _dataset,
        "sequence_length": "max_length",
        "batch_size": _on_megatron("micro_batch_size", _ARGUMENTS["batch_size"]),
        "epochs": _on_megatron("max_epochs", _ARGUMENTS["epochs"]),
        "max_steps": _on_megatron("train_iters", _ARGUMENTS["max_steps"]),
        "learning_rate": _on_megatron("lr", _ARGUMENTS["learning_rate"]),
        "checkpoint_dir": _on_megatron("save", _ARGUMENTS["checkpoint_dir"]),
        "checkpoint_every": _on_megatron("save_interval", _ARGUMENTS["checkpoint_every"]),
        "precision": either(_ARGUMENTS["precision"], "torch_dtype dtype"),
        "parallelism": either(
            model_parallel("tensor_model_parallel_size", "pipeline_model_parallel_size"),
            _stage,
            _ARGUMENTS["parallelism"],
        ),
    },
    program=_door,
    others=TRAINING_ARGUMENTS.others,
    samples=(
        Sample(
            command="swift sft --model Qwen/Qwen2.5-7B --dataset A/b#500 C/d "
            "--torch_dtype bfloat16 --num_train_epochs 1 --max_length 2048 --deepspeed zero3 "
            "--tuner_type lora",
            claims={
                "framework": "transformers",
                "task": "language_modeling",
                "model": "Qwen/Qwen2.5-7B",
                "dataset": "A/b",
                "sequence_length": 2048,
                "epochs": 1,
                "precision": "bfloat16",
                "parallelism": "zero3",
            },
        ),
        Sample(command="swift infer --model x", claims={}),
        Sample(
            command="swift rlhf --rlhf_type grpo",
            claims={"framework": "transformers", "task": "reinforcement_learning"},
        ),
        Sample(
            command="swift pt s.yaml",
            files={"s.yaml": "model: m\nmax_length: 10\n"},
            claims={
                "framework": "transformers",
                "task": "language_modeling",
                "model": "m",
                "sequence_length": 10,
            },
        ),
        Sample(
            command="megatron sft --model Qwen/Qwen2.5-7B-Instruct --dataset 'A/b#500' C/d "
            "--lr 1e-5 --tensor_model_parallel_size 2 --pipeline_model_parallel_size 1 "
            "--micro_batch_size 16 --global_batch_size 16 --num_train_epochs 1 --save_steps 100 "
            "--max_length 2048",
            claims={
                "framework": "megatron",
                "task": "language_modeling",
                "model": "Qwen/Qwen2.5-7B-Instruct",
                "dataset": "A/b",
                "batch_size": 16,
                "epochs": 1,
                "learning_rate": 1e-5,
                "checkpoint_every": 100,
                "sequence_length": 2048,
                "parallelism": "tp",
            },
        ),
    ),
)
