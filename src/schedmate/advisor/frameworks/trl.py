"""trl's command line: `trl sft --model_name_or_path … --config x.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schedmate.advisor.frameworks.accelerate import FRAMEWORK as ACCELERATE
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings
from schedmate.advisor.frameworks.doors import command_line
from schedmate.advisor.frameworks.rules import by_program, chosen, either, of_program
from schedmate.advisor.frameworks.transformers import TRAINING_ARGUMENTS
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim

_TASKS = {
    "sft": "language_modeling",
    "dpo": "language_modeling",
    "kto": "language_modeling",
    "grpo": "reinforcement_learning",
    "rloo": "reinforcement_learning",
    "reward": "sequence_classification",
}
_BROUGHT_ALONG = {
    "multi_gpu": "ddp",
    "fsdp1": "fsdp",
    "fsdp2": "fsdp",
    "zero1": "zero1",
    "zero2": "zero2",
    "zero3": "zero3",
}


def _task(settings: Settings) -> Value | None:
    return by_program(settings, _TASKS[settings.words[0].text]) if settings.words else None


def _launching(settings: Settings) -> Iterator[Claim]:
    """`--accelerate_config` takes a file, or the name of one that trl brings along."""
    tree = settings.read(settings.text("accelerate_config"))
    if tree is not None:
        yield from ACCELERATE.claims_of(replace(settings, tree=tree))


_ARGUMENTS = TRAINING_ARGUMENTS.settings

FRAMEWORK = Framework(
    settings={
        **_ARGUMENTS,
        "framework": of_program("transformers"),
        "task": _task,
        "model": "model_name_or_path",
        "dataset": "dataset_name datasets.0.path",
        "sequence_length": "max_length max_seq_length",
        "precision": either(_ARGUMENTS["precision"], "torch_dtype dtype"),
        "parallelism": either(
            _ARGUMENTS["parallelism"], chosen("accelerate_config", _BROUGHT_ALONG)
        ),
    },
    program=command_line(commands=tuple(_TASKS), config="config"),
    others=(*TRAINING_ARGUMENTS.others, _launching),
    samples=(
        Sample(
            command="trl sft --config c.yaml --dataset_name stanfordnlp/imdb --max_length 512",
            files={
                "c.yaml": "model_name_or_path:\n  Qwen/Qwen2.5-0.5B\nlearning_rate:\n  0.0001\n"
            },
            claims={
                "framework": "transformers",
                "task": "language_modeling",
                "model": "Qwen/Qwen2.5-0.5B",
                "dataset": "stanfordnlp/imdb",
                "sequence_length": 512,
                "learning_rate": 0.0001,
            },
        ),
        Sample(command="trl vllm-serve --model x", claims={}),
        Sample(
            command="trl dpo --accelerate_config zero2",
            claims={
                "framework": "transformers",
                "task": "language_modeling",
                "parallelism": "zero2",
            },
        ),
        Sample(
            command="trl dpo --accelerate_config a.yaml",
            files={"a.yaml": "distributed_type: FSDP\nmixed_precision: bf16\n"},
            claims={
                "framework": "transformers",
                "task": "language_modeling",
                "parallelism": "fsdp",
                "precision": "bf16",
            },
        ),
    ),
)
