"""Which model Megatron trains, and how large that is, by the program and its options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import derived, number_of, truth_of
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim

_PROGRAM = re.compile(r"(?:pretrain|train|finetune)_([a-z]{1,10}\d?)(?:_\w{1,30})?(?:\.py)?$")
_MODELS = {
    "gpt": "GPT",
    "bert": "BERT",
    "t5": "T5",
    "llama": "LLaMA",
    "mamba": "Mamba",
    "retro": "RETRO",
    "vit": "ViT",
    "ict": "ICT",
}
_LARGEST_VOCABULARY = 256_000
_NEGLIGIBLE = 0.03
_DIGITS = 16


def megatron_model(reading: Reading, options: Mapping[str, Value]) -> Iterator[Claim]:
    found = _PROGRAM.search(reading.run.entry.name)
    name = _MODELS.get(found[1]) if found is not None else None
    lines = reading.run.command.evidence
    if name is not None:
        yield Claim(field="model", value=Value(name, lines, "derived"), confidence=0.8)
    if name in ("GPT", "LLaMA"):
        yield from _counted(options)


def _counted(options: Mapping[str, Value]) -> Iterator[Claim]:
    """Attention, of which keys and values may be fewer, and two or three matrices behind it."""
    told = [options.get(name) for name in ("num_layers", "hidden_size", "num_attention_heads")]
    layers, width, heads = (number(each) for each in told)
    if not layers or not width or not heads or number(options.get("num_experts")):
        return
    inner = number(options.get("ffn_hidden_size")) or 4 * width
    groups = number(options.get("num_query_groups")) or heads
    gates = 3 if truth_of(options.get("swiglu")) is True else 2
    count = layers * (width**2 * (2 + 2 * groups / heads) + gates * width * inner)
    vocabulary = number(options.get("padded_vocab_size")) or number(options.get("vocab_size"))
    if vocabulary is None and _LARGEST_VOCABULARY * width > _NEGLIGIBLE * count:
        return
    count += (vocabulary or 0) * width
    value = derived(int(count), *(each for each in told if each is not None))
    yield Claim(field="model_parameters", value=value, confidence=0.6)


def number(value: Value | None) -> float | None:
    """Undeclared options are words."""
    found = number_of(value)
    if found is None and value is not None and isinstance(value.data, str):
        return float(value.data) if value.data.isdecimal() and len(value.data) < _DIGITS else None
    return found
