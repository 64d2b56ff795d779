"""Comprehensions over what is known; over the rest their element is looked at once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Sequence as Many

from schedmate.advisor.interpret.python.assignment import assign
from schedmate.advisor.interpret.python.engine import Engine
from schedmate.advisor.interpret.python.iteration import items_of
from schedmate.advisor.interpret.python.references import Range
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.truth import truth
from schedmate.advisor.interpret.python.values import UNKNOWN, Sequence, Table, Value

_MAX_ITEMS = 256
_Listed = ast.ListComp | ast.SetComp | ast.GeneratorExp
_KINDS = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}


def listed(engine: Engine, node: _Listed, scope: Scope) -> Value:
    found: list[Value] = []
    inner = _inner(scope)
    complete = _walk(
        engine, node.generators, inner, lambda: _add(engine, node, inner, found), node.elt
    )
    sequence = Sequence(found, complete, _KINDS[type(node)])
    return Value(sequence, (scope.file.line(node),), scope.file.origin)


def _add(engine: Engine, node: _Listed, inner: Scope, found: list[Value]) -> bool:
    """False when there are enough."""
    found.append(engine.evaluate(node.elt, inner))
    return len(found) < _MAX_ITEMS


def mapped(engine: Engine, node: ast.DictComp, scope: Scope) -> Value:
    table = Table()
    inner = _inner(scope)

    def add() -> bool:
        key = engine.evaluate(node.key, inner)
        value = engine.evaluate(node.value, inner)
        if key.plain:
            table.parts[str(key.data)] = value
        else:
            table.complete = False
        return len(table.parts) < _MAX_ITEMS

    complete = _walk(engine, node.generators, inner, add, node.value)
    table.complete = table.complete and complete
    return Value(table, (scope.file.line(node),), scope.file.origin)


def _inner(scope: Scope) -> Scope:
    """A class's names are seen by the outermost iterable only."""
    inner = scope.inner("function")
    inner.parent = scope
    return inner


def _walk(
    engine: Engine,
    generators: Many[ast.comprehension],
    scope: Scope,
    do: Callable[[], bool],
    calling: ast.expr,
) -> bool:
    """Whether every element there will be was looked at."""
    if not generators:
        return do()
    first, rest = generators[0], generators[1:]
    over = engine.evaluate(first.iter, scope)
    items = items_of(engine, over)
    if isinstance(over.data, Range) and _calls(calling):
        items = None
    complete = items is not None and len(items) <= _MAX_ITEMS
    for item in (items or [])[:_MAX_ITEMS] if complete else [UNKNOWN]:
        assign(engine, first.target, item, scope, record=False)
        wanted = [truth(engine.evaluate(test, scope)) for test in first.ifs]
        if False in wanted:
            continue
        complete = complete and None not in wanted
        if not _walk(engine, rest, scope, do, calling):
            return False
    return complete


def _calls(node: ast.expr) -> bool:
    """`[Block() for _ in range(12)]` makes twelve alike: one is enough to see."""
    return any(isinstance(part, ast.Call) for part in ast.walk(node))
