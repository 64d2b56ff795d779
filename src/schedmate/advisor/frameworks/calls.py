"""How readers look through a trace for calls, and say what those state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Protocol

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    KnownPrefix,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.settle.claim import Claim
from schedmate.model import Evidence

_UNSURE = 0.25
_FAR_TOO_MANY = 1e300
"""Integers beyond have no float."""
_DIRECT = 3
_TRAINERS = ("transformers", "trl")
_HOOKS = ("configure_optimizers", "train_dataloader", "setup", "prepare_data", "configure_model")
_HOOKED = ("LightningModule", "LightningDataModule", "LightningLite", "L.LightningModule")


class Place(Protocol):
    """Where something is stated: a call, a loop, a name that gets a value."""

    @property
    def line(self) -> Evidence: ...

    @property
    def reached(self) -> Reached: ...

    @property
    def depth(self) -> int: ...


def is_direct(callee: str) -> bool:
    """Whether it is a thing of a module, not a method of what a thing of it returned."""
    return callee.count(".") <= _DIRECT


def first_of(value: Value | None) -> Value | None:
    """The first item of a list, or the one value itself."""
    return next(iter(items_of(value)), None)


def last_name(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def is_of(callee: str, *libraries: str) -> bool:
    """Whether a dotted name belongs to one of these libraries or modules."""
    return f"{callee}.".startswith(_prefixes(libraries))


@cache
def _prefixes(libraries: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}." for name in libraries)


def calls_of(reading: Reading, *names: str) -> Iterator[Call]:
    """Calls whose dotted name ends in one of these: `DataLoader`, `Trainer.fit`."""
    endings = tuple(f".{name}" for name in names)
    found = [
        (place, call)
        for last in dict.fromkeys(last_name(name) for name in names)
        for place, call in reading.calls_by_name.get(last, ())
        if f".{call.callee}".endswith(endings)
    ]
    return (call for _, call in sorted(found, key=lambda one: one[0]))


def own_class(call: Call) -> str:
    """The job's own class that a call makes an instance of by `super().__init__(…)`, or ""."""
    data = None if call.receiver is None else call.receiver.data
    return data.of.name if isinstance(data, Table) and data.of is not None else ""


def runs(reading: Reading, call: Call) -> bool:
    """Whether a call surely happens: a trainer calls hooks that the job's own code never does."""
    if call.certain:
        return True
    owner, _, hook = call.within.rpartition(".")
    return hook in _HOOKS and any(
        cls.name == owner and cls.inherits(*_HOOKED) for cls in reading.trace.classes
    )


def is_trained_by_transformers(reading: Reading) -> bool:
    """Whether its Trainer runs the loop: loops and optimisers of the job are then for others."""
    return any(
        call.callee.endswith(("Trainer", "Trainer.train")) and is_of(call.callee, *_TRAINERS)
        for call in reading.trace.calls
    )


def claim(
    field: str,
    value: Value | None,
    at: Place,
    *,
    confidence: float = 0.95,
    certain: bool | None = None,
    depth: int | None = None,
) -> Iterator[Claim]:
    """What an argument says, if it is known; None as an argument says nothing."""
    if value is None or value.data is None or not _can_be_said(value):
        return
    reached = at.reached
    if certain is not None:
        reached = Reached.EXECUTED if certain else min(reached, Reached.UNDECIDED)
    sure = reached is Reached.EXECUTED
    yield Claim(
        field=field,
        value=value,
        line=at.line,
        confidence=confidence if sure else confidence - _UNSURE,
        reached=reached,
        depth=at.depth if depth is None else depth,
    )


def _can_be_said(value: Value) -> bool:
    """What only the library knows is no value that anybody could name; of a path the beginning
    is one."""
    if isinstance(value, KnownPrefix):
        return bool(value.directory)
    nameable = isinstance(value.data, (Dotted, LocalClass, LocalFunction, Sequence, Table))
    return value.known and (value.plain or nameable)


def implied_claim(
    field: str,
    data: object,
    at: Place,
    *,
    confidence: float = 0.95,
    certain: bool | None = None,
    depth: int | None = None,
) -> Iterator[Claim]:
    """What a call says by being made: `FullyShardedDataParallel(…)`."""
    value = Value(data, (at.line,))
    return claim(field, value, at, confidence=confidence, certain=certain, depth=depth)


def chosen_claim(field: str, name: str, call: Call, reading: Reading) -> Iterator[Claim]:
    """What a call is the name of; where an option has that name too, it was chosen there."""
    for value in reading.options.values():
        if isinstance(value.data, str) and _bare(value.data) == _bare(name):
            picked = Value(name, (*value.lines, call.line), value.source)
            yield from claim(field, picked, call)
            return
    yield from implied_claim(field, name, call)


def _bare(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def named_claims(
    fields: Mapping[str, str], parts: Mapping[str, Value], at: Place, *, confidence: float = 0.95
) -> Iterator[Claim]:
    """Each field by the first of its argument names that is given."""
    for field, names in fields.items():
        found = (parts[name] for name in names.split() if name in parts)
        stated = (each for each in found if each.known or isinstance(each, KnownPrefix))
        value = next((each for each in stated if each.data is not None), None)
        yield from claim(field, value, at, confidence=confidence)


def parts_of(value: Value | None) -> Mapping[str, Value]:
    """The named parts of a config, an instance, or the arguments a library's instance got."""
    match None if value is None else value.data:
        case Table(parts=parts):
            return parts
        case LibraryObject(call=call):
            return call.keywords
    return {}


def part_of(value: Value | None, *path: str) -> Value | None:
    """`part_of(config, "optimizer", "params", "lr")`, None where there is no such part."""
    for name in path:
        value = parts_of(value).get(name)
        if value is None:
            return None
    return value


def items_of(value: Value | None) -> list[Value]:
    """The items of a list, or the one value itself."""
    if value is None:
        return []
    return list(value.data.items) if isinstance(value.data, Sequence) else [value]


def text_of(value: Value | None) -> str | None:
    """A str, or the last part of a name: `torch.bfloat16` is "bfloat16"."""
    match None if value is None else value.data:
        case str(text):
            return text
        case Dotted(name=name) | LocalClass(name=name):
            return last_name(name)
    return None


def number_of(value: Value | None) -> float | None:
    data = None if value is None else value.data
    if isinstance(data, bool) or not isinstance(data, (int, float)):
        return None
    return float(data) if abs(data) < _FAR_TOO_MANY else None


def truth_of(value: Value | None) -> bool | None:
    """Whether an argument switches something on; None where unknown."""
    if value is None or not value.known:
        return None
    if isinstance(value.data, str):
        return value.data.strip().lower() not in ("", "false", "0", "no", "off", "none", "null")
    if isinstance(value.data, (Sequence, Table)):
        return bool(value.data.items if isinstance(value.data, Sequence) else value.data.parts)
    return bool(value.data) if value.plain else None


def kind_of(value: Value | None) -> str:
    """The dotted name of the class that a value is an instance of, or ""."""
    match None if value is None else value.data:
        case LibraryObject(call=call):
            return call.callee
        case Table(kind=kind) if kind != "dict":
            return kind
    return ""


def agreed(found: Iterable[Claim]) -> Iterator[Claim]:
    """Of several that say the same thing one; where the nearest sure ones disagree, none."""
    ranked = sorted(found, key=lambda each: (not each.certain, each.depth, -each.confidence))
    if not ranked:
        return
    best = ranked[0]
    rivals = [each for each in ranked if (each.certain, each.depth) == (best.certain, best.depth)]
    if all(_spoken(each.value) == _spoken(best.value) for each in rivals):
        yield best


def _spoken(value: Value) -> object:
    return text_of(value) or value.data


def derived(data: object, *values: Value, line: Evidence | None = None) -> Value:
    """What follows from several values; the lines are all of theirs."""
    lines = [each for value in values for each in value.lines]
    return Value(data, tuple(dict.fromkeys([*lines, *([line] if line else [])])), "derived")
