"""accelerate: the Accelerator, where the job's own loop is written around it."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, is_of, kind_of, last_name, said, text_of
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.settle.claim import Claim


def accelerate(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "Accelerator"):
        if not is_of(call.callee, "accelerate"):
            continue
        precision = call.keywords.get("mixed_precision")
        if text_of(precision) != "no":
            yield from said("precision", precision, call)
        yield from said(
            "gradient_accumulation", call.keywords.get("gradient_accumulation_steps"), call
        )
        yield from _plugins(call)
        yield from said("checkpoint_dir", _project_dir(call), call, confidence=0.7)


def _project_dir(call: Call) -> Value | None:
    return call.keywords.get("project_dir")


def _plugins(call: Call) -> Iterator[Claim]:
    plugin = call.keywords.get("fsdp_plugin")
    if last_name(kind_of(plugin)) == "FullyShardedDataParallelPlugin" and plugin is not None:
        yield from said("parallelism", Value("fsdp", plugin.lines or (call.line,)), call)
