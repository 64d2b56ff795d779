"""gin files as values: one table of bindings, `Trainer.learning_rate = 1e-3` under its whole name.

`@Adam` and `@Adam()` are tables of the kind `REFERENCE`, `%rate` one of the kind `MACRO`; files
that are included stand under `INCLUDED`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from schedmate.advisor.interpret.python.injected import MACRO, REFERENCE
from schedmate.advisor.interpret.python.values import Sequence, Table, Value
from schedmate.advisor.options.configs.building import MAX_DEPTH, Builder

INCLUDED = "<included>"
_BINDING = re.compile(r"\s*([\w./]{1,300})\s*=(?!=)(.*)", re.DOTALL)
_INCLUDE = re.compile(r"\s*include\s+(['\"])([^'\"\n]{1,500})\1")
_TOKEN = re.compile(
    r"'''.{0,20000}?'''|\"\"\".{0,20000}?\"\"\"|'(?:[^'\\\n]|\\.){0,5000}'"
    r"|\"(?:[^\"\\\n]|\\.){0,5000}\"|#[^\n]*|@[\w./]{1,300}(?:\(\))?|%[\w./]{1,300}",
    re.DOTALL,
)
_MAX_LINES = 200
"""Of one binding."""


def read(text: str, builder: Builder) -> Value | None:
    root = Table({})
    included: list[Value] = []
    for number, statement in _statements(text):
        if not builder.spend():
            root.complete = False
            break
        include, binding = _INCLUDE.match(statement), _BINDING.match(statement)
        if include is not None:
            included.append(builder.value(include.group(2), number))
        elif binding is not None:
            root.parts[binding.group(1)] = _value(binding.group(2), number, builder)
    if included:
        root.parts[INCLUDED] = builder.value(Sequence(included), 1)
    return builder.value(root, 1) if root.parts else None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines, each with the number of its first; brackets and backslashes join lines."""
    waiting: list[str] = []
    first = open_ = 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = _TOKEN.sub(_blank, line)
        first = first if waiting else number
        waiting.append(line.rstrip().removesuffix("\\"))
        open_ += sum(bare.count(sign) for sign in "([{") - sum(bare.count(sign) for sign in ")]}")
        ended = open_ <= 0 and not bare.rstrip().endswith(("\\", "="))
        if ended or len(waiting) >= _MAX_LINES:
            yield first, "\n".join(waiting)
            waiting, open_ = [], 0
    if waiting:
        yield first, "\n".join(waiting)


def _blank(match: re.Match[str]) -> str:
    return "" if match.group().startswith("#") else "_"


def _value(text: str, number: int, builder: Builder) -> Value:
    try:
        node = ast.parse(f"({_TOKEN.sub(_as_call, text).strip()}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return builder.unknown(number)
    return _built(node, number - 1, builder, 0)


def _as_call(match: re.Match[str]) -> str:
    token = match.group()
    if token.startswith("#"):
        return ""
    if token[0] not in "@%":
        return token
    name = token[1:].removesuffix("()")
    return f"{REFERENCE if token[0] == '@' else MACRO}({name!r}, {token.endswith('()')})"


def _built(node: ast.expr, above: int, builder: Builder, depth: int) -> Value:
    number = above + node.lineno
    if depth > MAX_DEPTH or not builder.spend():
        return builder.unknown(number)
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            items = [_built(part, above, builder, depth + 1) for part in parts]
            return builder.value(Sequence(items), number)
        case ast.Dict(keys=keys, values=values):
            table = {
                str(key.value): _built(part, above, builder, depth + 1)
                for key, part in zip(keys, values, strict=True)
                if isinstance(key, ast.Constant)
            }
            return builder.value(Table(table), number)
        case ast.Call(func=ast.Attribute(attr=kind), args=[ast.Constant(value=name), called]):
            parts_ = {"name": builder.value(name, number)}
            parts_["called"] = _built(called, above, builder, depth + 1)
            return builder.value(Table(parts_, f"config.{kind}"), number)
        case _:
            return builder.value(_literal(node), number)


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
