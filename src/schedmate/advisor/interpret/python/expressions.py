"""Expressions, one function a kind; what only running would tell is UNKNOWN."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from schedmate.advisor.interpret.python import comprehensions, operators
from schedmate.advisor.interpret.python.assignment import assign
from schedmate.advisor.interpret.python.calls import call_expression
from schedmate.advisor.interpret.python.conditions import asks_disk, either_if_there
from schedmate.advisor.interpret.python.engine import Engine, Site
from schedmate.advisor.interpret.python.functions import define_lambda
from schedmate.advisor.interpret.python.iteration import items_of
from schedmate.advisor.interpret.python.known_prefix import beginning
from schedmate.advisor.interpret.python.lookup import lookup
from schedmate.advisor.interpret.python.truth import derived, either, truth
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    KnownPrefix,
    Sequence,
    Table,
    Value,
    key_of,
)

_MAX_TEXT = 20_000
_TWO = 2
_MAX_ITEMS = 2_000
_WIDE = re.compile(r"\d{3}")
"""`{x:99999999}` would cost memory."""


def _constant(engine: Engine, node: ast.Constant, scope: Any) -> Value:
    data = node.value
    if data is not None and not isinstance(data, (str, int, float)):
        return UNKNOWN
    if isinstance(data, str) and len(data) > _MAX_TEXT:
        return UNKNOWN
    return Value(data, (scope.file.line(node),), scope.file.origin)


def _name(engine: Engine, node: ast.Name, scope: Any) -> Value:
    return lookup(engine, node.id, scope)


def _attribute(engine: Engine, node: ast.Attribute, scope: Any) -> Value:
    return engine.attribute(engine.evaluate(node.value, scope), node.attr, Site(scope, node))


def _subscript(engine: Engine, node: ast.Subscript, scope: Any) -> Value:
    value = engine.evaluate(node.value, scope)
    if isinstance(node.slice, ast.Slice):
        return _sliced(engine, value, node.slice, scope)
    return engine.item(value, engine.evaluate(node.slice, scope), Site(scope, node))


def _sliced(engine: Engine, value: Value, node: ast.Slice, scope: Any) -> Value:
    bounds = [
        Value(None) if part is None else engine.evaluate(part, scope)
        for part in (node.lower, node.upper, node.step)
    ]
    if not all(bound.data is None or isinstance(bound.data, int) for bound in bounds):
        return UNKNOWN
    part = slice(*(bound.data for bound in bounds))
    if part.step == 0:
        return UNKNOWN
    if isinstance(value.data, str):
        return Value(value.data[part], value.lines, value.source)
    if isinstance(value.data, Sequence):
        sequence = value.data
        known = sequence.complete or all((bound.data or 0) >= 0 for bound in bounds)
        return (
            Value(
                Sequence(sequence.items[part], sequence.complete, sequence.kind),
                value.lines,
                value.source,
            )
            if known
            else UNKNOWN
        )
    return UNKNOWN


def _binary(engine: Engine, node: ast.BinOp, scope: Any) -> Value:
    left, right = engine.evaluate(node.left, scope), engine.evaluate(node.right, scope)
    return operators.binary(node.op, left, right)


def _unary(engine: Engine, node: ast.UnaryOp, scope: Any) -> Value:
    value = engine.evaluate(node.operand, scope)
    if isinstance(node.op, ast.Not):
        known = truth(value)
        return UNKNOWN if known is None else derived(not known, value)
    return operators.unary(node.op, value)


def _bool(engine: Engine, node: ast.BoolOp, scope: Any) -> Value:
    """`a or b` is a where a is true; an unknown value leaves the rest open."""
    decisive = isinstance(node.op, ast.Or)
    open_: list[Value] = []
    value = UNKNOWN
    for part in node.values:
        if open_:
            with engine.uncertain():
                value = engine.evaluate(part, scope)
        else:
            value = engine.evaluate(part, scope)
        known = truth(value)
        if known is decisive:
            break
        if known is None:
            open_.append(value)
    if not open_:
        return value
    if truth(value) is decisive and (not decisive or isinstance(value.data, bool)):
        return derived(decisive, value)
    if decisive and len(node.values) == _TWO and asks_disk(engine, node.values[0], scope):
        return either_if_there(open_[0], value) or UNKNOWN
    return UNKNOWN


def _compare(engine: Engine, node: ast.Compare, scope: Any) -> Value:
    left = engine.evaluate(node.left, scope)
    parts = [left]
    known: bool | None = True
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = engine.evaluate(comparator, scope)
        parts.append(right)
        result = operators.compare(op, left, right)
        if result is False:
            return derived(False, *parts)
        known = None if result is None else known
        left = right
    return UNKNOWN if known is None else derived(True, *parts)


def _ternary(engine: Engine, node: ast.IfExp, scope: Any) -> Value:
    known = truth(engine.evaluate(node.test, scope))
    if known is not None:
        return engine.evaluate(node.body if known else node.orelse, scope)
    with engine.uncertain():
        one = engine.evaluate(node.body, scope)
        other = engine.evaluate(node.orelse, scope)
    merge = either_if_there if asks_disk(engine, node.test, scope) else either
    return merge(one, other) or UNKNOWN


def _sequence(engine: Engine, node: ast.List | ast.Tuple | ast.Set, scope: Any) -> Value:
    items: list[Value] = []
    complete = len(node.elts) <= _MAX_ITEMS
    for part in node.elts[:_MAX_ITEMS]:
        if isinstance(part, ast.Starred):
            more = engine.evaluate(part.value, scope)
            known = items_of(engine, more)
            some = more.data.items if isinstance(more.data, Sequence) else ()
            items.extend(some if known is None else known)
            complete = complete and known is not None
        else:
            items.append(engine.evaluate(part, scope))
    kind = type(node).__name__.lower()
    return Value(Sequence(items, complete, kind), (scope.file.line(node),), scope.file.origin)


def _dict(engine: Engine, node: ast.Dict, scope: Any) -> Value:
    table = Table(complete=len(node.keys) <= _MAX_ITEMS)
    for key, part in list(zip(node.keys, node.values, strict=True))[:_MAX_ITEMS]:
        value = engine.evaluate(part, scope)
        if key is None:
            more = value.data
            table.parts.update(more.parts if isinstance(more, Table) else {})
            table.complete = table.complete and isinstance(more, Table) and more.complete
            continue
        name = key_of(engine.evaluate(key, scope))
        if name is not None:
            table.parts[name] = value
        else:
            table.complete = False
    return Value(table, (scope.file.line(node),), scope.file.origin)


def _joined(engine: Engine, node: ast.JoinedStr, scope: Any) -> Value:
    values = [engine.evaluate(part, scope) for part in node.values[:_MAX_ITEMS]]
    if not all(isinstance(value.data, str) for value in values):
        return beginning(values)
    text = "".join(value.data for value in values)
    stated = [
        v for v, p in zip(values, node.values, strict=False) if isinstance(p, ast.FormattedValue)
    ]
    if len(text) > _MAX_TEXT:
        return UNKNOWN
    found = derived(text, *(stated or values))
    here = scope.file.line(node)
    lines = found.lines if here in found.lines else (*found.lines[:2], here)
    return Value(text, lines, found.source)


def _formatted(engine: Engine, node: ast.FormattedValue, scope: Any) -> Value:
    value = engine.evaluate(node.value, scope)
    if isinstance(value, KnownPrefix):
        return value
    spec = engine.evaluate(node.format_spec, scope) if node.format_spec else Value("")
    if not value.plain or not isinstance(spec.data, str) or _WIDE.search(spec.data):
        return UNKNOWN
    data = repr(value.data) if node.conversion == ord("r") else value.data
    try:
        text = format(data, spec.data)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return UNKNOWN
    return derived(text, value) if len(text) <= _MAX_TEXT else UNKNOWN


def _walrus(engine: Engine, node: ast.NamedExpr, scope: Any) -> Value:
    value = engine.evaluate(node.value, scope)
    assign(engine, node.target, value, scope)
    return value


def _inner(engine: Engine, node: ast.Await | ast.Starred, scope: Any) -> Value:
    return engine.evaluate(node.value, scope)


def _yield(engine: Engine, node: ast.Yield | ast.YieldFrom, scope: Any) -> Value:
    value = Value(None) if node.value is None else engine.evaluate(node.value, scope)
    if scope.yielded is not None and isinstance(node, ast.Yield):
        scope.yielded.append(value)
    return UNKNOWN


EXPRESSIONS: dict[type[ast.expr], Callable[[Engine, Any, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _bool,
    ast.Compare: _compare,
    ast.IfExp: _ternary,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.NamedExpr: _walrus,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Call: call_expression,
    ast.Lambda: define_lambda,
    ast.ListComp: comprehensions.listed,
    ast.SetComp: comprehensions.listed,
    ast.GeneratorExp: comprehensions.listed,
    ast.DictComp: comprehensions.mapped,
}
