"""axolotl: `axolotl train config.yml --learning-rate 1e-4`, `-m axolotl.cli.train config.yml`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated
from schedmate.advisor.frameworks.deepspeed import named_deepspeed
from schedmate.advisor.frameworks.doors import command_line
from schedmate.advisor.frameworks.rules import (
    by_program,
    chosen,
    either,
    of_program,
    present,
    resumption,
    switched,
)
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim

_PRECISIONS = {"bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16"}
_DATASET = (
    "datasets.0.path datasets.path datasets.0 datasets pretraining_dataset.0.path "
    "pretraining_dataset.path pretraining_dataset.0 pretraining_dataset"
)


def _task(settings: Settings) -> Value | None:
    if settings.get("base_model") is None:
        return None
    return by_program(settings, "language_modeling", "model_type", "base_model")


def _interval(settings: Settings) -> Value | None:
    steps, per_epoch = settings.first("save_steps"), settings.first("saves_per_epoch")
    if steps is not None or per_epoch is None or per_epoch.data != 1:
        return steps
    return restated(per_epoch, 1)


def _shares(settings: Settings) -> bool:
    value = settings.get("deepspeed")
    return value is not None and value.data is not None


def _sharded(settings: Settings) -> Value | None:
    return None if _shares(settings) else present("fsdp_config fsdp", "fsdp")(settings)


def _deepspeed(settings: Settings) -> Iterator[Claim]:
    found = named_deepspeed(settings, settings.get("deepspeed"))
    yield from (claim for claim in found if claim.field == "parallelism")


FRAMEWORK = Framework(
    settings={
        "framework": of_program("transformers"),
        "task": _task,
        "model": "base_model",
        "dataset": _DATASET,
        "sequence_length": "sequence_len",
        "batch_size": "micro_batch_size",
        "gradient_accumulation": "gradient_accumulation_steps",
        "epochs": "num_epochs",
        "max_steps": "max_steps",
        "optimizer": "optimizer",
        "learning_rate": "learning_rate",
        "checkpoint_dir": "output_dir",
        "checkpoint_every": _interval,
        "early_stopping": "early_stopping_patience",
        "precision": either(chosen("bf16", {"full": "bf16"}), switched(_PRECISIONS)),
        "parallelism": _sharded,
        "resumes": resumption("auto_resume_from_checkpoints resume_from_checkpoint"),
    },
    program=command_line(
        others=("preprocess", "merge-lora", "inference", "evaluate", "quantize", "fetch"),
        file_at=10,
    ),
    others=(_deepspeed,),
    samples=(
        Sample(
            command="python -m axolotl.cli.train c.yml --learning-rate 1e-4",
            files={
                "c.yml": "base_model: NousResearch/Meta-Llama-3-8B\ndatasets:\n"
                "  - path: mhenrichsen/alpaca_2k_test\n    type: alpaca\nsequence_len: 4096\n"
                "micro_batch_size: 2\ngradient_accumulation_steps: 4\nnum_epochs: 4\n"
                "optimizer: adamw_bnb_8bit\nlearning_rate: 0.0002\nbf16: auto\n"
                "output_dir: ./out\nresume_from_checkpoint:\nsaves_per_epoch: 1\n"
                "deepspeed: zero2.json\n",
                "zero2.json": '{"zero_optimization": {"stage": 2}}',
            },
            claims={
                "framework": "transformers",
                "task": "language_modeling",
                "model": "NousResearch/Meta-Llama-3-8B",
                "dataset": "mhenrichsen/alpaca_2k_test",
                "sequence_length": 4096,
                "batch_size": 2,
                "gradient_accumulation": 4,
                "epochs": 4,
                "optimizer": "adamw_bnb_8bit",
                "learning_rate": 1e-4,
                "checkpoint_dir": "./out",
                "checkpoint_every": 1,
                "parallelism": "zero2",
                "resumes": False,
            },
        ),
        Sample(command="axolotl preprocess c.yml", files={"c.yml": "base_model: m\n"}, claims={}),
        Sample(
            command="axolotl train c.yml",
            files={
                "c.yml": "base_model: m\nbf16: true\nfsdp_config: {fsdp_version: 2}\ndeepspeed:\n"
            },
            claims={
                "framework": "transformers",
                "task": "language_modeling",
                "model": "m",
                "precision": "bf16",
                "parallelism": "fsdp",
            },
        ),
    ),
)
