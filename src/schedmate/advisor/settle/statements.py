"""What a job states about itself under the names it uses, not yet understood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import IntEnum
from typing import Any, Final

from schedmate.advisor.interpret.python.trace import Binding, Trace
from schedmate.advisor.interpret.python.values import (
    UNKNOWN_DATA,
    Call,
    Dotted,
    KnownPrefix,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
    outranks,
)
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.vocabulary import is_of_others, is_telling
from schedmate.model import Evidence, Source

UNSTATED: Final = object()
"""A value that is computed, or an unknown variable: it hides what would hold otherwise."""
_MAX_ITEMS = 1000
_TRUST = {
    "module": 0.85,
    "class": 0.65,
    "attribute": 0.75,
    "keyword": 0.75,
    "item": 0.7,
    "local": 0.7,
}
_IN_BATCHES = frozenset(("map", "filter", "encode", "predict", "generate", "evaluate", "tokenize"))
"""What they do in batches is no training."""
_UNCERTAIN = 0.2
_OF_A_CALL = 0.6


class Kind(IntEnum):
    """How a statement was found; the higher one knows better."""

    NAME = 0
    OPTION = 1
    LIBRARY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """`depth` is how far the file that says so is from the entry point."""

    name: str
    value: Any
    kind: Kind
    source: Source
    evidence: tuple[Evidence, ...]
    confidence: float
    certain: bool = True
    depth: int = 0
    hides: bool = False
    """Whether it says that the value is unknown, so that nothing weaker counts."""


def statements(trace: Trace) -> Iterator[Stated]:
    """By options, by names that get a value, by arguments of calls."""
    last = {option.name: option for option in trace.options}
    of_schedules = _patience_of_schedules(trace)
    for option in last.values():
        if option.name.endswith("patience") and not of_schedules.isdisjoint(option.value.lines):
            continue
        yield _stated(option.name, option.value, Kind.OPTION, confidence=0.9, depth=option.depth)
    for binding in _settled(trace.bindings):
        confidence = _TRUST[binding.where] - (0.0 if binding.certain else _UNCERTAIN)
        yield _stated(
            binding.name,
            binding.value,
            Kind.NAME,
            confidence=confidence,
            certain=binding.certain,
            depth=binding.depth,
        )
    for call in trace.calls:
        yield from _arguments(call)


def _patience_of_schedules(trace: Trace) -> set[Evidence]:
    """The lines that say for how long a schedule waits before it lowers the learning rate."""
    plateaus = (call for call in trace.calls if call.callee.endswith("ReduceLROnPlateau"))
    return {line for call in plateaus for line in call.keywords.get("patience", Value(None)).lines}


def from_library(said: Claim) -> Stated:
    lines = said.value.lines or (() if said.line is None else (said.line,))
    return Stated(
        name=said.field,
        value=plain_data(said.value),
        kind=Kind.LIBRARY,
        source=said.value.source,
        evidence=lines,
        confidence=said.confidence,
        certain=said.certain,
        depth=said.depth,
        hides=not said.value.known,
    )


def _settled(bindings: list[Binding]) -> Iterator[Binding]:
    """Names that keep their value, or have it changed by a config or the command line; one that
    the code itself changes says nothing."""
    kept: dict[tuple[str, str, str], Binding] = {}
    changed: set[tuple[str, str, str]] = set()
    for binding in (each for one in bindings for each in (one, *_items(one))):
        setting = binding.where == "module" and binding.depth == 0 and binding.value.plain
        if not is_telling(binding.name, setting=setting) or _is_of_others(binding):
            continue
        key = (binding.where, binding.of, binding.name)
        known = kept.setdefault(key, binding)
        if plain_data(known.value) == plain_data(binding.value):
            continue
        if outranks(binding.value.source, known.value.source):
            kept[key] = binding
        else:
            changed.add(key)
    yield from (binding for key, binding in kept.items() if key not in changed)


def _is_of_others(binding: Binding) -> bool:
    of_a_dict = binding.where == "item" and is_of_others(binding.of)
    others = _is_of_a_search(binding.name, binding.of) or _is_of_patches(binding)
    return of_a_dict or others or _is_a_factor(binding)


def _is_of_patches(binding: Binding) -> bool:
    """A number of tokens that is computed says into how many a picture is cut."""
    return binding.name in ("num_tokens", "n_tokens") and len(binding.value.lines) > 1


def _is_a_factor(binding: Binding) -> bool:
    """`base_lr = batch_size / 256` is what a function scales the rate by."""
    rate, count = binding.name.endswith("lr"), binding.value.data
    return binding.where == "local" and rate and isinstance(count, float) and count >= 1


def _is_of_a_search(name: str, owner: str) -> bool:
    """Beams of a search stop early too."""
    return name.startswith("early_stop") and "enerat" in owner


def _items(binding: Binding) -> Iterator[Binding]:
    """The settings in a dict that has a name of its own."""
    data = binding.value.data
    if isinstance(data, Table) and data.kind == "dict":
        for name, value in list(data.parts.items())[:_MAX_ITEMS]:
            yield replace(binding, name=name, value=value, where="item", of=binding.name)


def _arguments(call: Call) -> Iterator[Stated]:
    for name, value in call.keywords.items():
        if name == "time_limit" and not call.callee.endswith(".fit"):
            continue  # an episode of a game has one too
        if _is_of_a_search(name, call.callee):
            continue
        if name == "batch_size" and call.callee.rpartition(".")[2] in _IN_BATCHES:
            continue
        if is_telling(name) and value.known:
            confidence = _OF_A_CALL - (0.0 if call.certain else _UNCERTAIN)
            yield _stated(
                name,
                value,
                Kind.NAME,
                confidence=confidence,
                certain=call.certain,
                depth=call.depth,
            )


def _stated(
    name: str, value: Value, kind: Kind, *, confidence: float, certain: bool = True, depth: int = 0
) -> Stated:
    return Stated(
        name=name,
        value=plain_data(value),
        kind=kind,
        source=value.source,
        evidence=value.lines,
        confidence=confidence,
        certain=certain,
        depth=depth,
    )


def plain_data(value: Value) -> Any:
    """A str, number, bool, None, a tuple or dict of them; a library's name as its last part.

    A text of which only the beginning is known stays what it is."""
    match value.data:
        case Dotted(name=name) | LocalClass(name=name) | LocalFunction(name=name):
            return name.rpartition(".")[2]
        case Sequence(items=items, complete=True):
            return tuple(plain_data(item) for item in items[:_MAX_ITEMS])
        case Table(parts=parts, kind="dict"):
            return {name: plain_data(part) for name, part in list(parts.items())[:_MAX_ITEMS]}
        case LibraryObject(call=Call(callee="datetime.timedelta", positional=(), keywords=parts)):
            return _timedelta(parts)
    if isinstance(value, KnownPrefix):
        return value
    return value.data if value.plain and value.data is not UNKNOWN_DATA else UNSTATED


def _timedelta(parts: Mapping[str, Value]) -> Any:
    try:
        return timedelta(**{name: part.data for name, part in parts.items()})
    except (TypeError, ValueError, OverflowError):
        return UNSTATED
