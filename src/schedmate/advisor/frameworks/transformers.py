"""transformers: TrainingArguments and the classes that trl and others derive from them.

Built in code, filled by a parser, or taken from a config by a program that trains with its Trainer:
what counts is what is in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, claim, items_of, last_name, text_of
from schedmate.advisor.frameworks.contract import (
    Framework,
    Sample,
    Settings,
    is_on,
    restated,
    table_of,
)
from schedmate.advisor.frameworks.deepspeed import named_deepspeed
from schedmate.advisor.frameworks.resuming import trainer_resumes
from schedmate.advisor.frameworks.rules import at_least, resumption, switched
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.settle.claim import Claim

_KINDS = re.compile(
    r"TrainingArguments$|^(?:SFT|DPO|GRPO|PPO|KTO|ORPO|CPO|BCO|RLOO|Reward|GKD|XPO|NashMD|OnlineDPO"
    r"|IterativeSFT|PRM|DDPO|AlignProp|AsyncGRPO|SDFT|Distillation)(?:Trainer)?Config$"
)
_DERIVED = (
    *("TrainingArguments", "Seq2SeqTrainingArguments"),
    *("SFTConfig", "DPOConfig", "GRPOConfig"),
)


def _filled(reading: Reading) -> Iterator[Settings]:
    """The first place where such arguments come about."""
    yield from islice(_places(reading), 1)


def _places(reading: Reading) -> Iterator[Settings]:
    for call in reading.trace.calls:
        if _KINDS.search(last_name(call.callee)) and (call.keywords or call.positional):
            first = {"output_dir": call.positional[0]} if call.positional else {}
            yield Settings(table_of({**first, **call.keywords}), reading, at=call)
    for call in calls_of(reading, "Trainer"):
        given = call.argument("args", 1)
        if given is not None and isinstance(given.data, Table):
            yield Settings(given, reading, at=call)
    for binding in reading.trace.bindings:
        data = binding.value.data
        if isinstance(data, Table) and _is_kind(data):
            yield Settings(binding.value, reading, at=binding)


def _is_kind(table: Table) -> bool:
    if _KINDS.search(last_name(table.kind)):
        return True
    return table.of is not None and table.of.inherits(*_DERIVED)


def _epochs(settings: Settings) -> Value | None:
    """A number of steps goes over them."""
    steps = at_least(1, "max_steps")(settings)
    return settings.first("num_train_epochs") if steps is None else None


def _interval(settings: Settings) -> Value | None:
    """`save_steps` counts only where it saves by steps."""
    strategy = settings.get("save_strategy")
    name = text_of(strategy)
    if strategy is not None and name == "epoch":
        return restated(strategy, 1)
    return None if name in ("no", "best") else settings.first("save_steps")


def _sharded(settings: Settings) -> Value | None:
    """FSDP, unless a DeepSpeed config says how the work is shared."""
    deepspeed, fsdp = settings.get("deepspeed"), settings.get("fsdp")
    if deepspeed is not None and deepspeed.known and deepspeed.data:
        return None
    words = " ".join(text_of(item) or "" for item in items_of(fsdp))
    shards = fsdp is not None and ("shard" in words or is_on(fsdp))
    return restated(fsdp, "fsdp") if fsdp is not None and shards else None


def _resumes(settings: Settings) -> Value | None:
    """A program reads it as an order; of a Trainer's arguments the job's own code has to."""
    return resumption("resume_from_checkpoint")(settings) if settings.at is None else None


def _deepspeed(settings: Settings) -> Iterator[Claim]:
    yield from named_deepspeed(settings, settings.get("deepspeed"))


def _callbacks(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "EarlyStoppingCallback"):
        yield from claim("early_stopping", Value(True, (call.line,)), call)


TRAINING_ARGUMENTS = Framework(
    settings={
        "batch_size": "per_device_train_batch_size per_gpu_train_batch_size",
        "gradient_accumulation": "gradient_accumulation_steps",
        "epochs": _epochs,
        "max_steps": at_least(1, "max_steps"),
        "optimizer": "optim",
        "learning_rate": "learning_rate",
        "checkpoint_dir": "output_dir",
        "checkpoint_every": _interval,
        "precision": switched({"bf16": "bf16", "fp16": "fp16", "tf32": "tf32"}),
        "parallelism": _sharded,
        "resumes": _resumes,
    },
    others=(_deepspeed,),
)
"""What programs take as it is that train with the Trainer."""

_CLAIMS = {
    "batch_size": 4,
    "gradient_accumulation": 2,
    "learning_rate": 2e-5,
    "checkpoint_dir": "out",
    "precision": "bf16",
    "epochs": 3,
    "checkpoint_every": 1,
}
_TRAIN = (
    "from transformers import HfArgumentParser, Trainer, TrainingArguments\n"
    "(args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()\n"
    "Trainer(model, args).train()\n"
)
FRAMEWORK = Framework(
    settings={
        **TRAINING_ARGUMENTS.settings,
        "sequence_length": "max_seq_length model_max_length max_length",
    },
    calls=_filled,
    others=(_deepspeed,),
    readers=(trainer_resumes, _callbacks),
    samples=(
        Sample(
            command="python train.py",
            files={
                "train.py": "from transformers import TrainingArguments\n"
                "TrainingArguments('out', per_device_train_batch_size=4, bf16=True, tf32=True,\n"
                "  gradient_accumulation_steps=2, learning_rate=2e-5, num_train_epochs=3,\n"
                "  max_steps=-1, save_strategy='epoch', save_steps=10)\n",
            },
            claims=_CLAIMS,
        ),
        Sample(
            command="python train.py --output_dir out --per_device_train_batch_size 4 --bf16 "
            "--gradient_accumulation_steps 2 --learning_rate 2e-5 --num_train_epochs 3 "
            "--save_strategy epoch",
            files={"train.py": _TRAIN},
            claims=_CLAIMS,
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "from trl import SFTConfig\nSFTConfig('o', max_steps=50,"
                " num_train_epochs=3, max_length=512, deepspeed='z.json')\n",
                "z.json": '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": "auto"}}',
            },
            claims={
                "checkpoint_dir": "o",
                "max_steps": 50,
                "sequence_length": 512,
                "parallelism": "zero3",
            },
        ),
    ),
)
