"""What follows from the fields of a record that are known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.knowledge.models import ModelFacts, facts_of
from schedmate.advisor.settle.claim import Claim
from schedmate.model import Evidence, Finding

_DIMENSIONS = ("n_layer", "d_model", "n_head")
_GPT = re.compile(r"gpt", re.IGNORECASE)
_BY_NAME, _BY_SIZE, _BY_FORMULA, _CHANGED = 0.9, 0.75, 0.6, 0.4
_EMBEDDED_IN_BLOCKS = 12
"""A block of width d holds 4·d² of attention and 8·d² of feed-forward weights."""


def derived(findings: Mapping[str, Finding[Any]], *, changed: bool = False) -> Iterator[Claim]:
    """From the model's name, with less confidence where the code has `changed` its shape; else
    from the dimensions of a GPT, where all of them are stated."""
    model = findings.get("model")
    facts = None if model is None else facts_of(str(model.value))
    if model is not None and facts is not None and not _contradicted(facts, findings):
        for claim in _named(model, facts, findings):
            trust = min(claim.confidence, _CHANGED) if changed else claim.confidence
            yield replace(claim, confidence=trust)
    elif "model_parameters" not in findings:
        yield from _counted(findings)


def _contradicted(facts: ModelFacts, findings: Mapping[str, Finding[Any]]) -> bool:
    """A job that states another depth or width has changed the model, whatever its name."""
    for field in _DIMENSIONS:
        stated, known = findings.get(field), getattr(facts, field)
        if stated is not None and known is not None and stated.value != known:
            return True
    return False


def _named(
    model: Finding[Any], facts: ModelFacts, findings: Mapping[str, Finding[Any]]
) -> Iterator[Claim]:
    trust = _BY_NAME if facts.of_language and facts.n_layer is not None else _BY_SIZE
    known = {
        "model_parameters": facts.parameters,
        "n_layer": facts.n_layer,
        "d_model": facts.d_model,
        "n_head": facts.n_head,
        "vocab_size": facts.vocab_size,
    }
    for field, number in known.items():
        if number is not None and field not in findings:
            yield _claim(field, number, model.evidence, min(trust, model.confidence))


def _counted(findings: Mapping[str, Finding[Any]]) -> Iterator[Claim]:
    """12·L·d² + V·d, and T·d for learnt positions; norms and biases are too few to count."""
    stated = [findings.get(field) for field in ("model", "n_layer", "d_model", "vocab_size")]
    parts = [each for each in stated if each is not None]
    if len(parts) < len(stated) or not _GPT.search(str(parts[0].value)):
        return
    layers, width, vocabulary = (each.value for each in parts[1:])
    length = findings.get("sequence_length")
    rows = vocabulary + (0 if length is None else length.value)
    lines = tuple(dict.fromkeys(line for each in parts[1:] for line in each.evidence))
    count = _EMBEDDED_IN_BLOCKS * layers * width**2 + rows * width
    yield _claim("model_parameters", count, lines, _BY_FORMULA)


def _claim(field: str, number: int, lines: tuple[Evidence, ...], confidence: float) -> Claim:
    return Claim(field=field, value=Value(number, lines, "derived"), confidence=confidence)
