"""Comprehensions over what is known; over the rest their element is looked at once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Sequence as Many

from schedmate.advisor.python.assignment import assign
from schedmate.advisor.python.engine import Engine
from schedmate.advisor.python.iteration import items_of
from schedmate.advisor.python.scope import Scope
from schedmate.advisor.python.truth import truth
from schedmate.advisor.python.values import NOBODY_KNOWS, Sequence, Table, Value

_MAX_ITEMS = 256
_Listed = ast.ListComp | ast.SetComp | ast.GeneratorExp
_KINDS = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}


def listed(engine: Engine, node: _Listed, scope: Scope) -> Value:
    found: list[Value] = []
    inner = _inner(scope)
    complete = _walk(engine, node.generators, inner, lambda: _add(engine, node, inner, found))
    sequence = Sequence(found, complete and len(found) < _MAX_ITEMS, _KINDS[type(node)])
    return Value(sequence, (scope.file.line(node),), scope.file.origin)


def _add(engine: Engine, node: _Listed, inner: Scope, found: list[Value]) -> None:
    if len(found) < _MAX_ITEMS:
        found.append(engine.evaluate(node.elt, inner))


def mapped(engine: Engine, node: ast.DictComp, scope: Scope) -> Value:
    table = Table()
    inner = _inner(scope)

    def add() -> None:
        key = engine.evaluate(node.key, inner)
        value = engine.evaluate(node.value, inner)
        if key.plain and len(table.parts) < _MAX_ITEMS:
            table.parts[str(key.data)] = value
        else:
            table.complete = False

    complete = _walk(engine, node.generators, inner, add)
    table.complete = table.complete and complete
    return Value(table, (scope.file.line(node),), scope.file.origin)


def _inner(scope: Scope) -> Scope:
    """A class's names are seen by the outermost iterable only; nobody relies on it."""
    inner = scope.inner("function")
    inner.parent = scope
    return inner


def _walk(
    engine: Engine, generators: Many[ast.comprehension], scope: Scope, do: Callable[[], None]
) -> bool:
    """Whether every element there will be was looked at."""
    if not generators:
        do()
        return True
    first, rest = generators[0], generators[1:]
    items = items_of(engine, engine.evaluate(first.iter, scope))
    complete = items is not None and len(items) <= _MAX_ITEMS
    for item in (items or [])[:_MAX_ITEMS] if complete else [NOBODY_KNOWS]:
        assign(engine, first.target, item, scope, record=False)
        wanted = [truth(engine.evaluate(test, scope)) for test in first.ifs]
        if False in wanted:
            continue
        complete = complete and None not in wanted
        complete = _walk(engine, rest, scope, do) and complete
    return complete
