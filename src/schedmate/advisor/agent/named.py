"""Names and values of the interpreted code: what may be shown to a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from schedmate.advisor.interpret.python.trace import Binding, Trace
from schedmate.advisor.interpret.python.values import (
    UNKNOWN_DATA,
    Call,
    Dotted,
    LibraryObject,
    LocalClass,
    Table,
    Value,
)
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.settle.meanings import last_part
from schedmate.model import Evidence

Kind = Literal["literal", "class", "library"]
MOST_NAMED: Final = 4000
_OPTION, _SURE, _CALL, _LOOP = range(4)
_FAR: Final = 3


@dataclass(frozen=True, slots=True)
class Named:
    """`kind` is whether the value stands in the code, or is the name of a class or function of
    the job or of a library; `undecided` is a setting whose value is unknown."""

    name: str
    value: Any
    lines: tuple[Evidence, ...]
    rank: tuple[int, int] = (0, 0)
    kind: Kind = "literal"
    undecided: bool = False


def named_values(run: PythonRun, trace: Trace) -> list[Named]:
    """What an option is in the end hides what it would be otherwise."""
    options = {last_part(option.name) for option in trace.options}
    found: list[Named] = []
    for each in _all(run, trace):
        if each.rank[0] == _OPTION or last_part(each.name) not in options:
            found.append(each)
        if len(found) >= MOST_NAMED:
            break
    return found


def _all(run: PythonRun, trace: Trace) -> Iterator[Named]:
    for option in {option.name: option for option in trace.options}.values():
        rank = (_OPTION, option.depth)
        if option.value.data is UNKNOWN_DATA:
            yield Named(option.name, None, (), rank, undecided=True)
        else:
            yield from _named(option.name, option.value, rank)
    yield Named("script", run.entry.name, run.command.evidence, (_SURE, 0))
    for binding in trace.bindings:
        yield from _bound(binding)
    for loop in trace.loops:
        if loop.bound is not None and loop.certain:
            yield from _named(loop.variable, loop.bound, (_LOOP, loop.depth))
    for call in trace.calls:
        if call.certain:
            yield from _called(call)


def _bound(binding: Binding) -> Iterator[Named]:
    if binding.of == "environ" or not binding.certain:
        return
    name = f"{binding.of}.{binding.name}" if binding.of else binding.name
    yield from _named(name, binding.value, (_SURE, min(binding.depth, _FAR)), (binding.line,))


def _called(call: Call) -> Iterator[Named]:
    rank = (_CALL, min(call.depth, _FAR))
    last = call.callee.rpartition(".")[2]
    for name, value in call.keywords.items():
        yield from _named(f"{last}.{name}", value, rank, (call.line,))
    for value in call.positional:
        if isinstance(value.data, str):
            yield from _named(last, value, rank, (call.line,))


def _named(
    name: str, value: Value, rank: tuple[int, int], at: tuple[Evidence, ...] = ()
) -> Iterator[Named]:
    """Plain values as they are; of what is made by a call or a class, its name and its texts."""
    lines = (*value.lines, *at)
    match value.data:
        case str() | int() | float():
            yield Named(name, value.data, lines, rank)
        case LocalClass(name=dotted) | Table(of=LocalClass(name=dotted)):
            yield Named(name, dotted.rpartition(".")[2], (*at, *lines), rank, "class")
        case Dotted(name=dotted):
            yield Named(name, dotted.rpartition(".")[2], lines, rank, "library")
        case LibraryObject(call=call):
            yield Named(name, call.callee.rpartition(".")[2], (*lines, call.line), rank, "library")
            for part in call.positional:
                if isinstance(part.data, str):
                    yield Named(name, part.data, (*part.lines, *lines, call.line), rank)
