"""Whether a condition asks which of the processes it is, as for what only one of them does."""

from __future__ import annotations

import ast
import re

from schedmate.advisor.interpret.python.disk import is_open
from schedmate.advisor.interpret.python.engine import Engine
from schedmate.advisor.interpret.python.scope import Scope

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
