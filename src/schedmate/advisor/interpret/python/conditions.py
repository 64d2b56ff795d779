"""Conditions that only the running job can decide: what lies on disk, which process it is."""

from __future__ import annotations

import ast
import re

from schedmate.advisor.interpret.python.engine import Engine
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.truth import either, truth
from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, IfPresent, LibraryObject, Value
from schedmate.advisor.sources.words import words

_LOOKS = words(
    "exists isfile isdir lexists is_file is_dir glob iglob rglob listdir scandir iterdir walk "
    "latest_checkpoint get_last_checkpoint get_checkpoint_state find_last_checkpoint "
    "latest_step all_steps getsize access"
)
_TURNS = words("sorted list len any bool max min next str Path filter reversed tuple")
_FINDS = re.compile(
    r"(?:latest|last|newest|recent|find|existing|has|exists?|get|auto)_?\w{0,20}"
    r"(?:ckpt|checkpoint|snapshot|state|model|resume|run|epoch|step)|latest|newest",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"^(?:have|found|files|ckpts?|checkpoints?|prev(?:ious)?|state|snapshot|last|latest|newest|"
    r"existing)|(?:last|latest|ckpt|checkpoint|existing)",
    re.IGNORECASE,
)
_MAX_DEPTH = 6


def asks_disk(engine: Engine, test: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """Whether nothing but files that may be there, or not, decides an undecided condition."""
    if depth > _MAX_DEPTH:
        return False
    match test:
        case ast.BoolOp(values=parts):
            open_ = [part for part in parts if is_open(engine, part, scope)]
            return bool(open_) and all(asks_disk(engine, each, scope, depth + 1) for each in open_)
        case ast.UnaryOp(op=ast.Not(), operand=inner) | ast.NamedExpr(value=inner):
            return asks_disk(engine, inner, scope, depth + 1)
        case ast.Compare(left=left, comparators=others):
            return any(asks_disk(engine, each, scope, depth + 1) for each in (left, *others))
        case ast.Call(func=function, args=arguments):
            return _call_asks(engine, function, arguments, scope, depth)
        case ast.Name() | ast.Attribute():
            return _is_found(_once_more(engine, test, scope), test)
    return False


def is_open(engine: Engine, part: ast.expr, scope: Scope) -> bool:
    """Switches of a library that are not given decide nothing."""
    inner = part.operand if isinstance(part, ast.UnaryOp) else part
    if isinstance(inner, ast.Attribute) and inner.attr in engine.libraries.switches:
        return False
    return truth(_once_more(engine, part, scope)) is None


def _once_more(engine: Engine, node: ast.expr, scope: Scope) -> Value:
    """What was evaluated already; the calls in it are made once only."""
    made = len(engine.trace.calls)
    value = engine.evaluate(node, scope)
    del engine.trace.calls[made:]
    return value


def _call_asks(
    engine: Engine, function: ast.expr, arguments: list[ast.expr], scope: Scope, depth: int
) -> bool:
    name = getattr(function, "id", getattr(function, "attr", ""))
    if name in _LOOKS or _FINDS.search(name):
        return True
    if name not in _TURNS:
        return False
    inner = [part.generators[0].iter if isinstance(part, _EACH) else part for part in arguments]
    return any(asks_disk(engine, each, scope, depth + 1) for each in inner)


_EACH = (ast.GeneratorExp, ast.ListComp)


def _is_found(value: Value, node: ast.expr) -> bool:
    """What a look at the disk returned; an unknown setting of the job is no such thing."""
    if isinstance(value, IfPresent):
        return True
    for _ in range(_MAX_DEPTH):
        if not isinstance(value.data, LibraryObject):
            break
        call = value.data.call
        name = call.callee.rpartition(".")[2]
        if name in _LOOKS:
            return True
        if name not in _TURNS or not call.positional:
            return False
        value = call.positional[0]
    unstated = value.data is UNKNOWN_DATA and not value.lines
    return unstated and isinstance(node, ast.Name) and _FOUND.search(node.id) is not None


def either_if_there(one: Value | None, other: Value | None) -> Value | None:
    """What is known when the disk decides: a path, or nothing."""
    found = either(one, other)
    if found is None or found.known or one is None or other is None:
        return found
    for absent, there in ((one, other), (other, one)):
        if absent.plain and not absent.data:
            return IfPresent(UNKNOWN_DATA, there.lines, there.source, there=there)
    return found


_RANK = re.compile(r"(?:^|_)rank$|^(?:gpu|proc(?:ess)?)_id$", re.IGNORECASE)


def asks_rank(engine: Engine, test: ast.expr, scope: Scope) -> bool:
    """Whether an undecided condition is true for the first process: `rank % gpus == 0`."""
    match test:
        case ast.BoolOp(values=parts):
            open_ = [part for part in parts if is_open(engine, part, scope)]
            return bool(open_) and all(asks_rank(engine, each, scope) for each in open_)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            inner = left.left if isinstance(left, ast.BinOp) else left
            modulus = not isinstance(left, ast.BinOp) or isinstance(left.op, ast.Mod)
            name = getattr(inner, "id", getattr(inner, "attr", ""))
            return modulus and _RANK.search(name) is not None
    return False
