"""Binding values to names, attributes and items."""

from __future__ import annotations

import ast
from typing import Literal

from schedmate.advisor.interpret.python.engine import Engine, Site
from schedmate.advisor.interpret.python.iteration import items_of
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.trace import Binding
from schedmate.advisor.interpret.python.values import UNKNOWN, Sequence, Value

_WHERE: dict[str, Literal["module", "class", "local"]] = {
    "module": "module",
    "class": "class",
    "function": "local",
}


def assign(
    engine: Engine, target: ast.expr, value: Value, scope: Scope, *, record: bool = True
) -> None:
    match target:
        case ast.Name(id=name):
            bind(engine, name, value, scope, target, record=record)
        case ast.Attribute(value=owner, attr=name):
            engine.set_attribute(engine.evaluate(owner, scope), name, value, Site(scope, target))
        case ast.Subscript(value=owner, slice=key) if not isinstance(key, ast.Slice):
            holder = engine.evaluate(owner, scope)
            engine.set_item(holder, engine.evaluate(key, scope), value, Site(scope, target))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(engine, parts, value, scope, record=record)
        case ast.Starred(value=inner):
            assign(engine, inner, value, scope, record=record)


def bind(
    engine: Engine, name: str, value: Value, scope: Scope, node: ast.AST, *, record: bool = True
) -> None:
    home = scope.home_of(name)
    engine.memory.write(home.names, name, value)
    if record:
        note(engine, name, value, _WHERE[home.kind], Site(scope, node), of=engine.state.within)


def note(
    engine: Engine,
    name: str,
    value: Value,
    where: Literal["module", "class", "attribute", "local", "item", "keyword"],
    site: Site,
    *,
    of: str = "",
) -> None:
    """Put a binding into the trace."""
    if len(engine.trace.bindings) >= engine.budget.limits.records:
        return
    engine.trace.bindings.append(
        Binding(
            name=name,
            value=value,
            where=where,
            line=site.line,
            of=of,
            reached=engine.state.reached,
            depth=site.scope.file.depth,
        )
    )


def _unpack(
    engine: Engine, parts: list[ast.expr], value: Value, scope: Scope, *, record: bool
) -> None:
    items = items_of(engine, value) if not isinstance(value.data, str) else None
    starred = [i for i, part in enumerate(parts) if isinstance(part, ast.Starred)]
    if items is not None and starred:
        first = starred[0]
        after = len(parts) - first - 1
        middle = items[first : len(items) - after]
        items = [*items[:first], Value(Sequence(middle), value.lines), *items[len(items) - after :]]
    if items is None or len(items) != len(parts):
        items = [UNKNOWN] * len(parts)
    for part, item in zip(parts, items, strict=True):
        assign(engine, part, item, scope, record=record)
