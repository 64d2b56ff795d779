"""MosaicML's composer: the Trainer says lengths with their units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import Place, calls_of, is_of, said, text_of, truth_of
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim

_COUNTED = re.compile(r"(\d{1,12})(ep|ba)")
_PRECISIONS = {"amp_bf16": "bf16", "amp_fp16": "fp16", "amp_fp8": "fp8", "fp32": "fp32"}


def composer(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "Trainer"):
        if is_of(call.callee, "composer"):
            yield from composer_said(call.keywords, call)


def composer_said(given: Mapping[str, Value], at: Place) -> Iterator[Claim]:
    yield from _length(given.get("max_duration"), at)
    precision = given.get("precision")
    name = _PRECISIONS.get(text_of(precision) or "")
    if precision is not None and name is not None:
        yield from said("precision", Value(name, precision.lines, precision.source), at)
    yield from said("batch_size", given.get("device_train_microbatch_size"), at)
    yield from said("checkpoint_dir", given.get("save_folder"), at)
    saves = _COUNTED.fullmatch(text_of(given.get("save_interval")) or "")
    if saves is not None:
        line = given["save_interval"]
        yield from said("checkpoint_every", Value(int(saves[1]), line.lines, line.source), at)
    resume = given.get("autoresume")
    if resume is not None and truth_of(resume) is True:
        yield from said("resumes", resume, at)
    fsdp = given.get("fsdp_config") or given.get("parallelism_config")
    if fsdp is not None and fsdp.known and fsdp.data is not None:
        yield from said("parallelism", Value("fsdp", fsdp.lines or (at.line,), fsdp.source), at)


def _length(duration: Value | None, at: Place) -> Iterator[Claim]:
    """`10ep` are epochs, `4800ba` steps; a bare number is epochs."""
    if duration is None or not duration.known:
        return
    counted = _COUNTED.fullmatch(text_of(duration) or f"{duration.data}ep")
    if counted is not None:
        field = "epochs" if counted[2] == "ep" else "max_steps"
        value = Value(int(counted[1]), duration.lines, duration.source)
        yield from said(field, value, at)
