"""Loops: a body is interpreted once, with what it changes unknown; the bound is noted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Literal

from schedmate.advisor.interpret.python.assignment import assign
from schedmate.advisor.interpret.python.engine import Engine, Flow, Site
from schedmate.advisor.interpret.python.iteration import items_of, looped_over
from schedmate.advisor.interpret.python.memory import Changes
from schedmate.advisor.interpret.python.references import Range
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.trace import Loop
from schedmate.advisor.interpret.python.truth import any_of, either, truth
from schedmate.advisor.interpret.python.values import UNKNOWN, Sequence, Table, Value
from schedmate.advisor.sources.words import words

_Loop = ast.For | ast.AsyncFor | ast.While
_MAX_UNROLLED, _MAX_UNROLLED_PLAIN = 64, 300
_BUILDS = words(
    "setattr __setattr__ __setitem__ append extend add add_argument update setdefault globals "
    "exec pop remove insert DEFINE_integer DEFINE_string DEFINE_float DEFINE_bool"
)
_UP = (ast.Lt, ast.LtE, ast.NotEq)
_DOWN = (ast.Gt, ast.GtE, ast.Eq)


def interpret_for(engine: Engine, node: ast.For | ast.AsyncFor, scope: Scope) -> Flow:
    over = engine.evaluate(node.iter, scope)
    about = looped_over(over)
    bound = _rounds(about.data) if isinstance(about.data, Range) else None
    index = _note(
        engine, "for", ast.unparse(node.target)[:80], bound, Site(scope, node), over=about
    )
    items = items_of(engine, over)
    if items == []:
        return engine.execute(node.orelse, scope)
    rounds = engine.state.rounds * len(items or ())
    if items is not None and rounds <= _most_rounds(node) and _builds(node, over):
        return _unrolled(engine, node, items, scope)
    item = any_of(items) if items and not isinstance(about.data, Range) else UNKNOWN

    def begin() -> int:
        assign(engine, node.target, item, scope, record=False)
        return index

    flow = _once(engine, node, scope, begin)
    return engine.execute(node.orelse, scope) if flow is Flow.NEXT else flow


def _most_rounds(node: ast.For | ast.AsyncFor) -> int:
    """More where a round takes a step or two: `for key in settings: setattr(self, key, …)`."""
    plain = all(isinstance(part, (ast.Expr, ast.Assign)) for part in node.body)
    return _MAX_UNROLLED_PLAIN if plain and len(node.body) == 1 else _MAX_UNROLLED


def _rounds(over: Range) -> Value:
    """`range(1, epochs + 1)` counts from one: what it gets is `epochs`."""
    stop = over.stop
    if over.start.data != 1 or not isinstance(stop.data, int) or not over.start.lines:
        return stop
    here = over.start.lines[0]
    lines = tuple(line for line in stop.lines if line != here) or stop.lines
    return Value(stop.data - 1, lines, stop.source)


def interpret_while(engine: Engine, node: ast.While, scope: Scope) -> Flow:
    known = truth(engine.evaluate(node.test, scope))
    if known is False:
        return engine.execute(node.orelse, scope)

    def begin() -> int:
        variable, bound = _bound(engine, node.test, scope, _UP)
        return _note(engine, "while", variable, bound, Site(scope, node))

    return _once(engine, node, scope, begin)


def _once(engine: Engine, node: _Loop, scope: Scope, begin: Callable[[], int]) -> Flow:
    """The body may run any number of times: what it changes is unknown before and after it."""
    forget(engine, node, scope)
    around = engine.state.loops
    with engine.memory.tentative() as changes:
        engine.state.loops = (*around, begin())
        scope.loops += 1
        try:
            flow = engine.execute(node.body, scope)
        finally:
            scope.loops -= 1
            engine.state.loops = around
    after = engine.memory.undo(changes)
    engine.memory.merge((changes, after), (Changes(), {}), either)
    return flow if flow is Flow.RETURN and engine.state.certain and _endless(node) else Flow.NEXT


def _endless(node: _Loop) -> bool:
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant)


def forget(engine: Engine, node: ast.AST, scope: Scope) -> None:
    """What the body of a loop assigns may have been assigned by an earlier round."""
    if node not in engine.targets:
        engine.targets[node] = tuple(_targets(node))
    for target in engine.targets[node]:
        if isinstance(target, ast.Name):
            home = scope.home_of(target.id)
            if target.id in home.names:
                engine.memory.write(home.names, target.id, UNKNOWN)
        elif isinstance(target, ast.Attribute):
            holder = engine.evaluate(target.value, scope).data
            if isinstance(holder, Table) and target.attr in holder.parts:
                engine.memory.write(holder.parts, target.attr, UNKNOWN)


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    waiting: list[ast.AST] = list(getattr(node, "body", ()))
    while waiting:
        part = waiting.pop()
        if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Store):
            yield part
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(part))


def _builds(node: ast.For | ast.AsyncFor, over: Value) -> bool:
    """Whether the body makes settings out of what it runs through, so that every round counts."""
    if isinstance(over.data, Range):
        return False
    if isinstance(over.data, Sequence) and any(item.source == "cli" for item in over.data.items):
        return True
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            return True
        if isinstance(part, ast.Call):
            name = getattr(part.func, "id", getattr(part.func, "attr", ""))
            if name in _BUILDS:
                return True
    return False


def _unrolled(
    engine: Engine, node: ast.For | ast.AsyncFor, items: list[Value], scope: Scope
) -> Flow:
    kept = engine.state.rounds
    engine.state.rounds = kept * len(items)
    try:
        for item in items:
            assign(engine, node.target, item, scope, record=False)
            flow = engine.execute(node.body, scope)
            if flow is Flow.BREAK:
                return Flow.NEXT
            if flow in (Flow.RETURN, Flow.RAISE):
                return flow
    finally:
        engine.state.rounds = kept
    return engine.execute(node.orelse, scope)


def note_way_out(engine: Engine, node: ast.If, scope: Scope) -> None:
    """`if step >= N: break` ends a loop as `while step < N` does."""
    if not scope.loops or not node.body or not isinstance(node.body[-1], (ast.Break, ast.Return)):
        return
    for test in node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]:
        variable, bound = _bound(engine, test, scope, _DOWN)
        if bound is not None:
            _note(engine, "break", variable, bound, Site(scope, node))


def _bound(
    engine: Engine, test: ast.expr, scope: Scope, ops: tuple[type[ast.cmpop], ...]
) -> tuple[str, Value | None]:
    """The changing side of a comparison, and the value of the other."""
    if isinstance(test, ast.BoolOp):
        found = [_bound(engine, part, scope, ops) for part in test.values]
        return next((each for each in found if each[1] is not None), ("", None))
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return "", None
    left, right = test.left, test.comparators[0]
    turned = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
    if isinstance(test.ops[0], ops) and not isinstance(left, ast.Constant):
        return _sides(engine, left, right, scope)
    if turned.get(type(test.ops[0])) in ops and not isinstance(right, ast.Constant):
        return _sides(engine, right, left, scope)
    return "", None


def _sides(
    engine: Engine, variable: ast.expr, bound: ast.expr, scope: Scope
) -> tuple[str, Value | None]:
    value = engine.evaluate(bound, scope)
    number = isinstance(value.data, (int, float)) and not isinstance(value.data, bool)
    return ast.unparse(variable)[:80], value if number else None


def _note(
    engine: Engine,
    kind: Literal["for", "while", "break"],
    variable: str,
    bound: Value | None,
    site: Site,
    *,
    over: Value | None = None,
) -> int:
    """Put a loop into the trace; return where it is there."""
    if len(engine.trace.loops) < engine.budget.limits.records:
        engine.trace.loops.append(
            Loop(
                kind=kind,
                variable=variable,
                bound=bound,
                over=over,
                line=site.line,
                inside=len(engine.state.loops),
                reached=engine.state.reached,
                depth=site.scope.file.depth,
                within=engine.state.within,
            )
        )
    return len(engine.trace.loops) - 1
