"""DeepSpeed's own config: how a job runs, whoever trains."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import Reader, is_true, renamed, stated, told
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "batch_size": "train_micro_batch_size_per_gpu",
    "gradient_accumulation": "gradient_accumulation_steps",
    "optimizer": "optimizer.type",
    "learning_rate": "optimizer.params.lr",
}
_STAGES = (1, 2, 3)


def deepspeed_config(config: Value) -> Iterator[Claim]:
    """What a DeepSpeed config states; "auto" leaves it to the trainer."""
    yield from told(config, _NAMES)
    for name, precision in (("bf16", "bf16"), ("bfloat16", "bf16"), ("fp16", "fp16")):
        enabled = select(config, f"{name}.enabled")
        if enabled is not None and is_true(enabled):
            yield Claim(field="precision", value=renamed(enabled, precision))
            break
    yield from zero_stage(select(config, "zero_optimization.stage"))


def zero_stage(stage: Value | None) -> Iterator[Claim]:
    """Stage 0 shards nothing, which is plain data parallelism."""
    stage = stated(stage)
    if stage is None or isinstance(stage.data, bool):
        return
    text = str(stage.data)
    if text in {str(each) for each in _STAGES}:
        yield Claim(field="parallelism", value=renamed(stage, f"zero{text}"))
    elif text == "0":
        yield Claim(field="parallelism", value=renamed(stage, "ddp"))


def deepspeed_named(value: Value | None, read: Reader) -> Iterator[Claim]:
    """A DeepSpeed config that another config holds, or names by its file."""
    if value is not None and isinstance(value.data, Table):
        yield from deepspeed_config(value)
        return
    named = stated(value)
    found = read(named.data) if named is not None and isinstance(named.data, str) else None
    if found is not None:
        yield from deepspeed_config(found)
