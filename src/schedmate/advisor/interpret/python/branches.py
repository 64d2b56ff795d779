"""Branches: the one that will be taken where that is known, else each as one that may be."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Many
from contextlib import contextmanager

from schedmate.advisor.interpret.python.assignment import assign
from schedmate.advisor.interpret.python.budget import JobRaises
from schedmate.advisor.interpret.python.conditions import asks_disk, asks_rank, either_if_there
from schedmate.advisor.interpret.python.engine import Engine, Flow
from schedmate.advisor.interpret.python.lookup import is_undefined
from schedmate.advisor.interpret.python.loops import note_way_out
from schedmate.advisor.interpret.python.operators import compare
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.trace import Presumed, Skipped
from schedmate.advisor.interpret.python.truth import either, truth
from schedmate.advisor.interpret.python.values import UNKNOWN, Table, Value

_CAUGHT = frozenset(
    (
        *("Exception", "BaseException", "ValueError", "SyntaxError", "TypeError", "RuntimeError"),
        "NameError",
    )
)
_Branch = Callable[[], Flow]
_VARIABLE = re.compile(r"(?:environ(?:\.get)?\s?[\[(]|getenv\()\s?[\"'](\w{1,100})[\"']")


def interpret_if(engine: Engine, node: ast.If, scope: Scope) -> Flow:
    note_way_out(engine, node, scope)
    value = engine.evaluate(node.test, scope)
    known = truth(value)
    first_process = known is None and asks_rank(engine, node.test, scope)
    every = None if first_process else _modulus(engine, node.test, scope)
    if known is not None:
        _note_skipped(engine, node, value, scope)
        _note_presumed(engine, node, value, scope)
        with _now_and_then(engine, every):
            return engine.execute(node.body if known else node.orelse, scope)
    with _now_and_then(engine, every):
        return either_branch(
            engine,
            lambda: engine.execute(node.body, scope),
            lambda: engine.execute(node.orelse, scope),
            certain_first=every is not None or first_process,
            on_disk=every is None and not first_process and asks_disk(engine, node.test, scope),
        )


def _note_skipped(engine: Engine, node: ast.If, value: Value, scope: Scope) -> None:
    """Which part is left out because of a setting."""
    body = node.orelse if truth(value) else node.body
    if body and len(engine.trace.skipped) < engine.budget.limits.records:
        engine.trace.skipped.append(
            Skipped(
                test=node.test,
                value=value,
                body=body,
                line=scope.file.line(node),
                reached=engine.state.reached,
                depth=scope.file.depth,
            )
        )


def _note_presumed(engine: Engine, node: ast.If, value: Value, scope: Scope) -> None:
    """Which part is taken only because nothing is seen to set a variable."""
    body = node.body if truth(value) else node.orelse
    if not body or len(engine.trace.presumed) >= engine.budget.limits.records:
        return
    own = scope.file.line(node.test)
    texts = (own.text, *(line.text for line in value.lines))
    names = {found[1] for text in texts for found in _VARIABLE.finditer(text)}
    table = engine.environ.data
    if isinstance(table, Table) and any(name not in table.parts for name in names):
        last = body[-1].end_lineno or body[-1].lineno
        engine.trace.presumed.append(Presumed(own.file, body[0].lineno, last))


def _modulus(engine: Engine, test: ast.expr, scope: Scope) -> Value | None:
    """N of `step % N == 0`, alone or among other conditions."""
    match test:
        case ast.BoolOp(values=parts):
            found = (_modulus(engine, part, scope) for part in parts)
            return next((each for each in found if each is not None), None)
        case (
            ast.Compare(left=ast.BinOp(left=left, op=ast.Mod(), right=right), ops=[ast.Eq()])
            | ast.UnaryOp(op=ast.Not(), operand=ast.BinOp(left=left, op=ast.Mod(), right=right))
        ) if not engine.evaluate(left, scope).plain:
            value = engine.evaluate(right, scope)
            counts = isinstance(value.data, int) and value.data > 0
            return value if counts else None
    return None


@contextmanager
def _now_and_then(engine: Engine, every: Value | None) -> Iterator[None]:
    kept = engine.state.every
    engine.state.every = every or kept
    try:
        yield
    finally:
        engine.state.every = kept


def either_branch(
    engine: Engine,
    one: _Branch,
    other: _Branch,
    *,
    certain_first: bool = False,
    on_disk: bool = False,
) -> Flow:
    """Follow both; what they leave different is known no more. `on_disk`: files decide."""
    memory, certain = engine.memory, certain_first and engine.state.certain
    with memory.tentative() as first:
        flow = _tried(engine, one, certain=certain, if_there=on_disk or certain_first)
    after_first = memory.undo(first)
    with memory.tentative() as second:
        other_flow = _tried(engine, other, certain=False, if_there=on_disk)
    if flow is not Flow.NEXT and other_flow is Flow.NEXT:
        memory.keep(second)
        return Flow.NEXT
    after_second = memory.undo(second)
    if flow is Flow.NEXT and other_flow is not Flow.NEXT:
        memory.redo(first, after_first)
        return Flow.NEXT
    merge = either_if_there if on_disk else either
    memory.merge((first, after_first), (second, after_second), merge)
    if flow is other_flow:
        return flow
    return Flow.RETURN if Flow.RETURN in (flow, other_flow) else Flow.BREAK


def _tried(engine: Engine, branch: _Branch, *, certain: bool, if_there: bool = False) -> Flow:
    state = engine.state
    kept = state.reached, state.if_there
    if not certain:
        state.reached = min(state.reached, Reached.UNDECIDED)
    state.if_there = if_there and state.if_there
    try:
        return branch()
    except JobRaises:
        return Flow.RAISE
    finally:
        state.reached, state.if_there = kept


def interpret_try(engine: Engine, node: ast.Try, scope: Scope) -> Flow:
    caught = next((each for each in node.handlers if _catches(each)), None)
    flow, raised = _try_body(engine, node, scope)
    if raised and caught is not None:
        flow = engine.execute(caught.body, scope)
    else:
        if not all(isinstance(part, (ast.Import, ast.ImportFrom)) for part in node.body):
            _handlers(engine, node.handlers, scope)
        if flow is Flow.NEXT:
            flow = engine.execute(node.orelse, scope)
    last = engine.execute(node.finalbody, scope)
    return flow if last is Flow.NEXT else last


def _try_body(engine: Engine, node: ast.Try, scope: Scope) -> tuple[Flow, bool]:
    """How it ends, and whether something is raised in it."""
    scope.trying += 1
    try:
        safe = _before_an_undefined_name(engine, node.body, scope)
        flow = engine.execute(node.body[:safe], scope)
        if safe < len(node.body) and flow is Flow.NEXT:
            return flow, True
    except JobRaises:
        return Flow.NEXT, True
    finally:
        scope.trying -= 1
    return (Flow.NEXT, True) if flow is Flow.RAISE and node.handlers else (flow, False)


def _before_an_undefined_name(engine: Engine, body: Many[ast.stmt], scope: Scope) -> int:
    """How many statements run before one that uses a name which is bound nowhere: code that asks
    by this whether a tool or a notebook has defined it."""
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and any(
            is_undefined(engine, part.id, scope)
            for part in ast.walk(statement)
            if isinstance(part, ast.Name)
        ):
            return place
    return len(body)


def _catches(handler: ast.ExceptHandler) -> bool:
    """Whether what a wrong value raises is caught here."""
    names = (
        {part.id for part in ast.walk(handler.type) if isinstance(part, ast.Name)}
        if handler.type
        else set()
    )
    return handler.type is None or bool(names & _CAUGHT)


def _handlers(engine: Engine, handlers: Many[ast.ExceptHandler], scope: Scope) -> None:
    """They are looked at, but what they would change is not believed."""
    returned = list(scope.returned)
    for handler in handlers:
        with engine.memory.tentative() as changes:
            _tried(engine, lambda body=handler.body: engine.execute(body, scope), certain=False)  # type: ignore[misc]
        engine.memory.undo(changes)
    scope.returned[:] = returned


def match_cases(engine: Engine, cases: Many[ast.match_case], subject: Value, scope: Scope) -> Flow:
    if not cases:
        return Flow.NEXT
    first, rest = cases[0], cases[1:]
    known = _matches(engine, first.pattern, subject, scope)
    if known and first.guard is not None:
        known = truth(engine.evaluate(first.guard, scope))
    if known is False:
        return match_cases(engine, rest, subject, scope)
    if known:
        return engine.execute(first.body, scope)
    return either_branch(
        engine,
        lambda: engine.execute(first.body, scope),
        lambda: match_cases(engine, rest, subject, scope),
    )


def _matches(engine: Engine, pattern: ast.pattern, subject: Value, scope: Scope) -> bool | None:
    match pattern:
        case ast.MatchValue(value=node):
            return compare(ast.Eq(), subject, engine.evaluate(node, scope))
        case ast.MatchSingleton(value=constant):
            return compare(ast.Is(), subject, Value(constant))
        case ast.MatchOr(patterns=parts):
            found = [_matches(engine, part, subject, scope) for part in parts]
            return True if True in found else (None if None in found else False)
        case ast.MatchAs(pattern=None, name=name):
            if name is not None:
                assign(engine, ast.Name(id=name), subject, scope, record=False)
            return True
    for part in ast.walk(pattern):
        if isinstance(part, ast.MatchAs) and part.name is not None:
            assign(engine, ast.Name(id=part.name), UNKNOWN, scope, record=False)
    return None
