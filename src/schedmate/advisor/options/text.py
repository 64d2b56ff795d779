"""What a text on a command line or in an override stands for: careful, never clever."""

from __future__ import annotations

import ast
import re
from typing import Any

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Sequence, Table, Value
from schedmate.advisor.options.given import Given

INTEGER = re.compile(r"[+-]?[0-9](?:_?[0-9]){0,40}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,4})?")
_BOOLEANS = {"true": True, "false": False}
_LOOSE = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}
_NULLS = {"none", "null", "~"}
_MAX_LITERAL = 4_000
_MAX_DEPTH = 20


def number(text: str) -> int | float | None:
    """`3`, `1_000`, `3e-4`; None for anything else, `nan` and `inf` included."""
    stripped = text.strip()
    if INTEGER.fullmatch(stripped):
        return int(stripped)
    return float(stripped) if _FLOAT.fullmatch(stripped) else None


def boolean(text: str) -> bool | None:
    """As a person would answer a question: `yes`, `0`, `False`."""
    return _LOOSE.get(text.strip().lower())


def scalar(text: str) -> Any:
    """A number, a truth value or None where the text is clearly one; else the text."""
    found = number(text)
    if found is not None:
        return found
    lowered = text.strip().lower()
    if lowered in _NULLS:
        return None
    return _BOOLEANS.get(lowered, text)


def typed(word: Given) -> Value:
    """What an undeclared option's text stands for: a scalar, a list, a mapping or a quoted text."""
    if not word.known:
        return word.value
    text = word.text.strip()
    if text[:1] in "[{('\"" and text[:1]:
        return _literal(text, word)
    return word.holding(scalar(word.text))


def literal(word: Given) -> Value:
    """As `eval`, `ast.literal_eval` or `json.loads` would read a constant."""
    if not word.known:
        return word.value
    try:
        tree = ast.parse(word.text[:_MAX_LITERAL].strip(), mode="eval")
        return _from_node(tree.body, word, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Value(UNKNOWN_DATA, word.lines, word.source)


def _literal(text: str, word: Given) -> Value:
    read = literal(Given(text, word.lines, word.source))
    if read.known:
        return read
    if text[0] == "[" and text[-1] == "]" and not any(mark in text[1:-1] for mark in "[]{}"):
        parts = [part.strip() for part in text[1:-1].split(",")]
        return word.holding(Sequence([word.holding(scalar(part)) for part in parts if part]))
    return word.value


def _from_node(node: ast.expr, word: Given, depth: int) -> Value:
    match node:
        case _ if depth > _MAX_DEPTH:
            pass
        case ast.Constant(value=str() | int() | float() | None as value):
            return word.holding(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return word.holding(-value)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return word.holding(Sequence([_from_node(part, word, depth + 1) for part in parts]))
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            names = [str(key.value) for key in keys if isinstance(key, ast.Constant)]
            items = [_from_node(value, word, depth + 1) for value in values]
            return word.holding(Table(dict(zip(names, items, strict=True))))
        case ast.Name(id="true" | "false" | "null" | "none" as name):
            return word.holding(_BOOLEANS.get(name))
    return Value(UNKNOWN_DATA, word.lines, word.source)


def like(default: Value | None, word: Given) -> Value:
    """A text as a value of the same type as a default."""
    if not word.known:
        return word.value
    example = None if default is None else default.data
    if isinstance(example, bool):
        parsed = boolean(word.text)
        return word.value if parsed is None else word.holding(parsed)
    if isinstance(example, str):
        return word.value
    return typed(word)
