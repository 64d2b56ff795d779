"""vLLM: what its engine gets."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, claim, is_of, number_of, text_of
from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim

_ENGINES = ("LLM", "AsyncEngineArgs", "EngineArgs")


def vllm(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, *_ENGINES):
        if not is_of(call.callee, "vllm"):
            continue
        yield from claim("sequence_length", call.keywords.get("max_model_len"), call)
        dtype = call.keywords.get("dtype")
        if text_of(dtype) != "auto":
            yield from claim("precision", dtype, call)
        shards = call.keywords.get("tensor_parallel_size")
        if shards is not None and (number_of(shards) or 0) > 1:
            yield from claim("parallelism", Value("tp", shards.lines, shards.source), call)
        return


FRAMEWORK = Framework(readers=(vllm,))
