"""Parameters that a config gives to functions from outside: a call that does not give them gets
them from there."""

from __future__ import annotations

from schedmate.advisor.interpret.python.engine import Arguments, Engine, Site
from schedmate.advisor.interpret.python.functions import as_given
from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Dotted,
    LocalClass,
    LocalFunction,
    Sequence,
    Table,
    Value,
)

MACRO, REFERENCE = "config.macro", "config.reference"
"""Kinds of tables that stand for what has a name."""
_MAX_DEPTH = 12
_REQUIRED = ".REQUIRED"
MACROS = "%"
"""Under which name the macros are kept."""


def with_bindings(engine: Engine, callee: Value, arguments: Arguments, site: Site) -> Arguments:
    name, wanted, given = _parameters(engine, callee, arguments)
    bindings = engine.configured.get(name)
    if not bindings:
        return arguments
    keywords = dict(arguments.keywords)
    for parameter, bound in bindings.items():
        if parameter in given and not _is_required(given[parameter]):
            continue
        if wanted is None or parameter in wanted:
            keywords[parameter] = _meant(engine, bound, site, 0)
            _state(engine, f"{name}.{parameter}", keywords[parameter])
    return Arguments(arguments.positional, keywords, arguments.complete)


def _state(engine: Engine, name: str, value: Value) -> None:
    known = value.plain and engine.state.certain
    if known and len(engine.trace.options) < engine.budget.limits.records:
        engine.trace.options.append(Option(name=name, value=value))


def _is_required(value: Value) -> bool:
    return isinstance(value.data, Dotted) and value.data.name.endswith(_REQUIRED)


def _parameters(
    engine: Engine, callee: Value, arguments: Arguments
) -> tuple[str, frozenset[str] | None, dict[str, Value]]:
    """The name by which a config knows it, what it takes (None: unknown), what it is given."""
    data = callee.data
    if isinstance(data, LocalClass):
        init = engine.lookup_class(data, "__init__")
        if init is None or not isinstance(init.data, LocalFunction):
            return data.name, None, arguments.keywords
        own = LocalFunction(init.data.node, init.data.home, data.name, data.line)
        own.bound_to = UNKNOWN
        return data.name, _names(own), as_given(own, _without_defaults(arguments))
    if isinstance(data, LocalFunction):
        name = data.name.rpartition(".")[2]
        return name, _names(data), as_given(data, _without_defaults(arguments))
    if isinstance(data, Dotted):
        return data.name.rpartition(".")[2], None, arguments.keywords
    return "", None, {}


def _without_defaults(arguments: Arguments) -> Arguments:
    return Arguments(arguments.positional, arguments.keywords, complete=False)


def _names(function: LocalFunction) -> frozenset[str] | None:
    spec = function.node.args
    if spec.kwarg is not None:
        return None
    return frozenset(part.arg for part in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))


def _meant(engine: Engine, value: Value, site: Site, depth: int) -> Value:
    """With references to what is called so, and macros, in place of their names."""
    data = value.data
    if depth > _MAX_DEPTH:
        return UNKNOWN
    if isinstance(data, Sequence):
        items = [_meant(engine, item, site, depth + 1) for item in data.items]
        return Value(Sequence(items, data.complete, data.kind), value.lines, value.source)
    if not isinstance(data, Table) or data.kind not in (MACRO, REFERENCE):
        return value
    name = str(data.parts["name"].data)
    if data.kind == MACRO:
        macro = engine.configured.get(MACROS, {}).get(name, UNKNOWN)
        return _meant(engine, macro, site, depth + 1)
    named = _named(engine, name.rpartition("/")[2], value)
    if data.parts["called"].data is not True:
        return named
    return engine.call(named, Arguments(), site)


def _named(engine: Engine, name: str, value: Value) -> Value:
    """A class or function of the job by its name; else a library's."""
    last = name.rpartition(".")[2]
    own: list[LocalClass | LocalFunction] = [*engine.functions, *engine.trace.classes]
    for known in reversed(own):
        if known.name == last:
            return Value(known, (*value.lines, known.line), value.source)
    external = engine.configured.get("@", {}).get(last)
    found = external.data if external is not None else Dotted(name)
    return Value(found, value.lines, value.source)
