"""The numbers that PyTorch computes in: autocast, converted models, TF32."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    agreed,
    calls_of,
    claim,
    implied_claim,
    is_of,
    last_name,
    text_of,
    truth_of,
)
from schedmate.advisor.interpret.python.values import Call, Value, stronger
from schedmate.advisor.settle.claim import Claim

_FLOATS = frozenset({"bfloat16", "float16", "half", "float32", "float", "float8_e4m3fn"})
_HALVES = {"bfloat16", "bf16", "float16", "half", "fp16"}
_SPELLINGS = {"bf16": ("bf16", "bfloat16"), "fp16": ("fp16", "float16", "half", "amp")}
_EVALUATES = re.compile(r"\b(?:val|valid|test|eval|infer|predict|sampl|generat|detect|export)")
_TRAINED = ("torch.nn", "transformers", "diffusers", "timm", "torchvision", "lightning", "peft")
_FIRST, _SECOND, _THIRD, _LAST = 0.95, 0.9, 0.8, 0.7


def torch_precision(reading: Reading) -> Iterator[Claim]:
    """The strongest way surely taken: autocast beats a converted model beats TF32."""
    for way in (_autocast, _sharded, _apex, _converted, _loaded, _tf32):
        for each in agreed(found for found in way(reading) if found.certain):
            yield _where_chosen(each, reading)
            return


def _where_chosen(found: Claim, reading: Reading) -> Claim:
    """Where an option says the same, that is the line which states it."""
    if found.value.source != "code":
        return found
    name = text_of(found.value) or ""
    short = "bf16" if "bf" in name else "fp16"
    for option, value in reading.options.items():
        if _chooses(last_name(option).lower(), value, short) and name in _HALVES:
            lines = (*value.lines, *found.value.lines)
            return replace(found, value=Value(name, lines, value.source))
    return found


def _chooses(option: str, value: Value, short: str) -> bool:
    if isinstance(value.data, str) and ("precision" in option or "dtype" in option):
        return any(word in value.data.lower() for word in _SPELLINGS[short])
    return value.data is True and (short in option or (short == "fp16" and "amp" in option))


def _autocast(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "autocast"):
        if not is_of(call.callee, "torch") or _on_cpu(call):
            continue
        enabled = call.argument("enabled", 0 if "cuda.amp" in call.callee else None)
        if truth_of(enabled) is False:
            continue
        certain = call.certain and (enabled is None or enabled.known)
        shown = _shown(_dtype_of(call), enabled, call)
        yield from claim("precision", shown, call, confidence=_FIRST, certain=certain)


def _shown(dtype: Value | None, enabled: Value | None, call: Call) -> Value:
    """CUDA's own choice is fp16; an option that switches it on states it."""
    given = Value("fp16") if dtype is None else dtype
    if given.lines or enabled is None:
        return Value(given.data, given.lines or (call.line,), given.source)
    return Value(given.data, (*enabled.lines, call.line), stronger(given.source, enabled.source))


def _dtype_of(call: Call) -> Value | None:
    """None where it is CUDA's own choice, fp16; `enabled` stands first in the old form."""
    old = "cuda.amp" in call.callee
    given = call.argument("dtype", None if old else 1)
    if given is not None and given.known and text_of(given) not in _FLOATS:
        return None
    return given


def _on_cpu(call: Call) -> bool:
    return text_of(call.argument("device_type", 0)) == "cpu"


def _sharded(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "MixedPrecision", "MixedPrecisionPolicy"):
        if is_of(call.callee, "torch"):
            dtype = call.argument("param_dtype", 0)
            yield from claim("precision", dtype, call, confidence=_FIRST)


def _apex(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "amp.initialize"):
        level = text_of(call.argument("opt_level", 2))
        if level in ("O1", "O2", "O3"):
            yield from implied_claim("precision", "fp16", call)


def _converted(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "half", "bfloat16", "to", "set_default_dtype"):
        if call.callee == "torch.set_default_dtype":
            yield from claim("precision", call.argument("d", 0), call, confidence=_SECOND)
        elif is_of(call.callee, *_TRAINED) and not _EVALUATES.search(_about(call)):
            yield from _converted_model(call)


def _about(call: Call) -> str:
    return f"{PurePosixPath(call.line.file).stem} {last_name(call.within)}"


def _converted_model(call: Call) -> Iterator[Claim]:
    if ".float()" in call.line.text:  # there and back again
        return
    if call.callee.endswith((".half", ".bfloat16")):
        name = call.callee.rpartition(".")[2]
        yield from implied_claim("precision", name, call, confidence=_THIRD)
        return
    for value in (call.keywords.get("dtype"), *call.positional[:2]):
        if text_of(value) in _FLOATS - {"float32", "float"}:
            yield from claim("precision", value, call, confidence=_THIRD)


def _loaded(reading: Reading) -> Iterator[Claim]:
    """Weights loaded in half the bits are trained in them."""
    for call in calls_of(reading, "from_pretrained", "from_config"):
        value = call.keywords.get("torch_dtype") or call.keywords.get("dtype")
        if text_of(value) in _FLOATS - {"float32", "float"}:
            yield from claim("precision", value, call, confidence=_LAST)


def _tf32(reading: Reading) -> Iterator[Claim]:
    """Only how 32 bits are multiplied: no answer where an option names other numbers."""
    if any(_names_halves(name, value) for name, value in reading.options.items()):
        return
    for call in calls_of(reading, "set_float32_matmul_precision"):
        if text_of(call.argument("precision", 0)) in ("high", "medium"):
            yield from implied_claim("precision", "tf32", call, confidence=_LAST)
    for binding in reading.trace.bindings:
        if binding.name.endswith("allow_tf32") and truth_of(binding.value) is True:
            value = Value("tf32", binding.value.lines, binding.value.source)
            yield from claim("precision", value, binding, confidence=_LAST)


def _names_halves(option: str, value: Value) -> bool:
    return any(_chooses(last_name(option).lower(), value, short) for short in _SPELLINGS)
