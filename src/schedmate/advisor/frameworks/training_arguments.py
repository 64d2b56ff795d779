"""The transformers family: TrainingArguments and its kin in trl, sentence-transformers and others.

Built in code or filled by a parser from the command line: what counts is what is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    Place,
    calls_of,
    items_of,
    last_name,
    number_of,
    said,
    text_of,
    told,
    truth_of,
)
from schedmate.advisor.frameworks.deepspeed_config import deepspeed_said
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.settle.claim import Claim

_KINDS = re.compile(
    r"TrainingArguments$|^(?:SFT|DPO|GRPO|PPO|KTO|ORPO|CPO|BCO|RLOO|Reward|GKD|XPO|NashMD|OnlineDPO"
    r"|IterativeSFT|PRM|DDPO|AlignProp|AsyncGRPO|SDFT|Distillation)(?:Trainer)?Config$"
)
_FIELDS = {
    "batch_size": "per_device_train_batch_size per_gpu_train_batch_size",
    "gradient_accumulation": "gradient_accumulation_steps",
    "learning_rate": "learning_rate",
    "optimizer": "optim",
    "checkpoint_dir": "output_dir",
    "sequence_length": "max_seq_length model_max_length max_length",
}


def training_arguments(reading: Reading) -> Iterator[Claim]:
    for at, parts in _filled(reading):
        yield from _arguments(parts, at)
        yield from _spread(reading, parts, at)
        return


def _filled(reading: Reading) -> Iterator[tuple[Place, Mapping[str, Value]]]:
    """Each place where such arguments come about, and their parts."""
    for call in reading.trace.calls:
        if _KINDS.search(last_name(call.callee)) and (call.keywords or call.positional):
            first = call.positional[:1]
            yield call, {**({"output_dir": first[0]} if first else {}), **call.keywords}
    for call in calls_of(reading, "Trainer"):
        given = call.argument("args", 1)
        if given is not None and isinstance(given.data, Table):
            yield call, given.data.parts
    for binding in reading.trace.bindings:
        data = binding.value.data
        if isinstance(data, Table) and _is_kind(data):
            yield binding, data.parts


def _is_kind(table: Table) -> bool:
    if _KINDS.search(last_name(table.kind)):
        return True
    return table.of is not None and _inherits(table)


def _inherits(table: Table) -> bool:
    names = (
        "TrainingArguments",
        "Seq2SeqTrainingArguments",
        "SFTConfig",
        "DPOConfig",
        "GRPOConfig",
    )
    return table.of is not None and table.of.inherits(*names)


def _arguments(parts: Mapping[str, Value], at: Place) -> Iterator[Claim]:
    yield from told(_FIELDS, parts, at)
    steps, epochs = parts.get("max_steps"), parts.get("num_train_epochs")
    if (number_of(steps) or 0) > 0:
        yield from said("max_steps", steps, at)
    else:
        yield from said("epochs", epochs, at)
    yield from _precision(parts, at)
    strategy = parts.get("save_strategy")
    if strategy is not None and text_of(strategy) == "epoch":
        yield from said("checkpoint_every", Value(1, strategy.lines, strategy.source), at)
    elif text_of(strategy) not in ("no", "best"):
        yield from said("checkpoint_every", parts.get("save_steps"), at)


def _precision(parts: Mapping[str, Value], at: Place) -> Iterator[Claim]:
    """bf16 or fp16 beat TF32, which only speeds up what is left in fp32."""
    for name in ("bf16", "fp16", "tf32"):
        value = parts.get(name)
        if truth_of(value) is True and value is not None:
            yield from said("precision", Value(name, value.lines, value.source), at)
            return


def _spread(reading: Reading, parts: Mapping[str, Value], at: Place) -> Iterator[Claim]:
    config = parts.get("deepspeed")
    if config is not None and config.known and config.data:
        yield from deepspeed_said(reading, config, at)
        return
    fsdp = parts.get("fsdp")
    words = " ".join(text_of(item) or "" for item in items_of(fsdp))
    if fsdp is not None and ("shard" in words or truth_of(fsdp) is True):
        yield from said("parallelism", Value("fsdp", fsdp.lines, fsdp.source), at)


def callbacks(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "EarlyStoppingCallback"):
        yield from said("early_stopping", Value(True, (call.line,)), call)
