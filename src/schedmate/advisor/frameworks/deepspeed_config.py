"""What a DeepSpeed config says, wherever it is handed over."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    Place,
    derived,
    number_of,
    part_of,
    said,
    text_of,
    truth_of,
)
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.settle.claim import Claim

_AUTO = "auto"
_STAGES = (1, 2, 3)
_SHARES = {
    "batch_size": "train_micro_batch_size_per_gpu",
    "gradient_accumulation": "gradient_accumulation_steps",
}


def deepspeed_said(reading: Reading, config: Value, at: Place) -> Iterator[Claim]:
    """A config given as a dict, or named by its file; "auto" leaves it to the trainer."""
    path = text_of(config)
    read = None if path is None else reading.read_config(path)
    found = config if isinstance(config.data, Table) else read
    if found is not None:
        yield from _of_table(found, at)
        yield from _left_out(reading, found, at)


def _left_out(reading: Reading, config: Value, at: Place) -> Iterator[Claim]:
    """DeepSpeed works out the third of micro batch, accumulation and batch of all GPUs."""
    context, whole = reading.processes.total, part_of(config, "train_batch_size")
    stated = {field: part_of(config, name) for field, name in _SHARES.items()}
    given = {field: value for field, value in stated.items() if value is not None}
    total = number_of(whole)
    if context is None or whole is None or total is None or len(given) != 1:
        return
    ((field, value),) = given.items()
    share = context.number * (number_of(value) or 0)
    if share and total % share == 0:
        (missing,) = _SHARES.keys() - {field}
        yield from said(missing, derived(int(total // share), whole, value), at)


def _of_table(config: Value, at: Place) -> Iterator[Claim]:
    yield from _stage(config, at)
    for name, precision in (("bf16", "bf16"), ("bfloat16", "bf16"), ("fp16", "fp16")):
        enabled = part_of(config, name, "enabled")
        if enabled is not None and text_of(enabled) != _AUTO and truth_of(enabled) is True:
            yield from said("precision", Value(precision, enabled.lines, enabled.source), at)
            break
    for field, path in (
        ("batch_size", ("train_micro_batch_size_per_gpu",)),
        ("gradient_accumulation", ("gradient_accumulation_steps",)),
        ("optimizer", ("optimizer", "type")),
        ("learning_rate", ("optimizer", "params", "lr")),
    ):
        value = part_of(config, *path)
        if text_of(value) != _AUTO:
            yield from said(field, value, at)


def _stage(config: Value, at: Place) -> Iterator[Claim]:
    stage = part_of(config, "zero_optimization", "stage")
    number = number_of(stage)
    if stage is not None and number is not None:
        way = f"zero{int(number)}" if number in _STAGES else "ddp"
        yield from said("parallelism", Value(way, stage.lines, stage.source), at)
