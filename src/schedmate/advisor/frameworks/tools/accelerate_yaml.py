"""The YAML of `accelerate launch --config_file`: how a job runs, whoever trains."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import Reader, first, renamed, stated
from schedmate.advisor.frameworks.tools.deepspeed_json import deepspeed_named, zero_stage
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_PRECISIONS = ("fp16", "bf16", "fp8")
_WAYS = {"MULTI_GPU": "ddp", "MULTI_NPU": "ddp", "MULTI_XPU": "ddp", "FSDP": "fsdp"}
_ACCUMULATION = "gradient_accumulation_steps deepspeed_config.gradient_accumulation_steps"


def _nothing(_: str) -> Value | None:
    return None


def accelerate_config(config: Value, read: Reader = _nothing) -> Iterator[Claim]:
    """What it states; `read` opens the DeepSpeed config that it may name."""
    precision = stated(select(config, "mixed_precision"))
    if precision is not None and precision.data in _PRECISIONS:
        yield Claim(field="precision", value=precision)
    accumulation = first(config, _ACCUMULATION)
    if accumulation is not None:
        yield Claim(field="gradient_accumulation", value=accumulation)
    kind = stated(select(config, "distributed_type"))
    if kind is None:
        return
    way = _WAYS.get(str(kind.data).upper())
    if way is not None:
        yield Claim(field="parallelism", value=renamed(kind, way))
    elif str(kind.data).upper() == "DEEPSPEED":
        yield from zero_stage(select(config, "deepspeed_config.zero_stage"))
        yield from deepspeed_named(select(config, "deepspeed_config.deepspeed_config_file"), read)
