"""Statements, one function a kind."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from schedmate.advisor.interpret.python import branches, loops, operators
from schedmate.advisor.interpret.python.assignment import assign
from schedmate.advisor.interpret.python.classes import define_class
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Flow, Site
from schedmate.advisor.interpret.python.functions import define_function
from schedmate.advisor.interpret.python.importing import import_from, import_modules
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.truth import truth
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    LibraryObject,
    LocalFunction,
    Sequence,
    Table,
    Value,
)

_MAX_ITEMS = 2_000
_EXITS = ("sys.exit", "exit", "quit", "os._exit", "os.abort")


def _expression(engine: Engine, node: ast.Expr, scope: Scope) -> Flow:
    if isinstance(node.value, ast.Constant):
        return Flow.NEXT
    value = engine.evaluate(node.value, scope)
    left = isinstance(value.data, LibraryObject) and value.data.kind in _EXITS
    return Flow.RAISE if left else Flow.NEXT


def _assign(engine: Engine, node: ast.Assign, scope: Scope) -> Flow:
    engine.state.target = _named(node.targets[0])
    value = engine.evaluate(node.value, scope)
    engine.state.target = ""
    for target in node.targets:
        assign(engine, target, value, scope)
    return Flow.NEXT


def _named(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Tuple(elts=[first, *_]):
            return _named(first)
    return ""


def _annotated(engine: Engine, node: ast.AnnAssign, scope: Scope) -> Flow:
    if node.value is not None:
        engine.state.target = _named(node.target)
        value = engine.evaluate(node.value, scope)
        engine.state.target = ""
        assign(engine, node.target, value, scope)
    return Flow.NEXT


def _augmented(engine: Engine, node: ast.AugAssign, scope: Scope) -> Flow:
    old = engine.evaluate(node.target, scope)
    new = engine.evaluate(node.value, scope)
    if isinstance(old.data, Sequence) and isinstance(node.op, ast.Add):
        more = new.data
        items = [*old.data.items, *(more.items if isinstance(more, Sequence) else ())]
        complete = old.data.complete and isinstance(more, Sequence) and more.complete
        engine.memory.rewrite(
            old.data, items[:_MAX_ITEMS], complete=complete and len(items) <= _MAX_ITEMS
        )
        return Flow.NEXT
    assign(engine, node.target, operators.binary(node.op, old, new), scope)
    return Flow.NEXT


def _delete(engine: Engine, node: ast.Delete, scope: Scope) -> Flow:
    for target in node.targets:
        if isinstance(target, ast.Name):
            engine.memory.remove(scope.home_of(target.id).names, target.id)
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            _delete_part(engine, target, scope)
    return Flow.NEXT


def _delete_part(engine: Engine, target: ast.Subscript | ast.Attribute, scope: Scope) -> None:
    holder = engine.evaluate(target.value, scope)
    key = (
        Value(target.attr)
        if isinstance(target, ast.Attribute)
        else engine.evaluate(target.slice, scope)
    )
    if isinstance(holder.data, Table) and key.plain:
        engine.memory.remove(holder.data.parts, str(key.data))
    elif isinstance(holder.data, Sequence):
        engine.memory.rewrite(holder.data, [], complete=False)


def _outer(engine: Engine, node: ast.Global | ast.Nonlocal, scope: Scope) -> Flow:
    for name in node.names:
        home: Scope | None = scope.globals
        if isinstance(node, ast.Nonlocal):
            home = scope.parent
            while home is not None and name not in home.names and home.parent is not None:
                home = home.parent
        if home is not None:
            scope.outer[name] = home
    return Flow.NEXT


def _return(engine: Engine, node: ast.Return, scope: Scope) -> Flow:
    value = Value(None) if node.value is None else engine.evaluate(node.value, scope)
    scope.returned.append(value)
    if engine.state.if_there and not engine.state.certain and truth(value) is False:
        scope.absent = True
    return Flow.RETURN


def _raise(engine: Engine, node: ast.Raise, scope: Scope) -> Flow:
    return Flow.RAISE


def _assert(engine: Engine, node: ast.Assert, scope: Scope) -> Flow:
    engine.evaluate(node.test, scope)
    return Flow.NEXT


def _with(engine: Engine, node: ast.With | ast.AsyncWith, scope: Scope) -> Flow:
    for part in node.items:
        engine.state.target = _named(part.optional_vars) if part.optional_vars else ""
        value = engine.evaluate(part.context_expr, scope)
        engine.state.target = ""
        if part.optional_vars is not None:
            assign(engine, part.optional_vars, _entered(engine, value, Site(scope, node)), scope)
    return engine.execute(node.body, scope)


def _entered(engine: Engine, value: Value, site: Site) -> Value:
    data = value.data
    if isinstance(data, Sequence) and data.kind == "generator":
        return data.items[0] if len(data.items) == 1 else UNKNOWN
    if isinstance(data, Table) and data.of is not None:
        enter = engine.lookup_class(data.of, "__enter__")
        if enter is not None and isinstance(enter.data, LocalFunction):
            return engine.call(engine.attribute(value, "__enter__", site), Arguments(), site)
    return value


def _match(engine: Engine, node: ast.Match, scope: Scope) -> Flow:
    subject = engine.evaluate(node.subject, scope)
    return branches.match_cases(engine, node.cases, subject, scope)


def _next(engine: Engine, node: ast.stmt, scope: Scope) -> Flow:
    return Flow.NEXT


def _break(engine: Engine, node: ast.stmt, scope: Scope) -> Flow:
    return Flow.BREAK


def _continue(engine: Engine, node: ast.stmt, scope: Scope) -> Flow:
    return Flow.CONTINUE


STATEMENTS: dict[type[ast.stmt], Callable[[Engine, Any, Scope], Flow]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Global: _outer,
    ast.Nonlocal: _outer,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.If: branches.interpret_if,
    ast.Try: branches.interpret_try,
    ast.TryStar: branches.interpret_try,
    ast.Match: _match,
    ast.For: loops.interpret_for,
    ast.AsyncFor: loops.interpret_for,
    ast.While: loops.interpret_while,
    ast.FunctionDef: define_function,
    ast.AsyncFunctionDef: define_function,
    ast.ClassDef: define_class,
    ast.Import: import_modules,
    ast.ImportFrom: import_from,
    ast.Pass: _next,
    ast.Break: _break,
    ast.Continue: _continue,
}
