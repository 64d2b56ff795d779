"""Whole numbers as the shell reckons them."""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*(\d{1,20}|0x[0-9a-fA-F]{1,16}|\$?\{?[A-Za-z_]\w{0,200}\}?"
    r"|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%]=|[-+*/%()<>!=?:,])"
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LIMIT = 2**63
_MAX_TOKENS = 400
_MAX_DEPTH = 30

Lookup = Callable[[str], int | None]
Assign = Callable[[str, int | None], None]


class _Nobody(Exception):
    pass


def evaluate(text: str, look_up: Lookup, assign: Assign | None = None) -> int | None:
    """The value of the last of the expressions, or None where unknown."""
    result: int | None = None
    for part in text.split(",")[:_MAX_TOKENS]:
        try:
            result = _Expression(_tokens(part), look_up, assign).whole()
        except (_Nobody, ZeroDivisionError):
            result = None
    return result


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    text = text.strip()
    while at < len(text) and len(found) < _MAX_TOKENS:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _Nobody
        found.append(match[1])
        at = match.end()
    return found


class _Expression:
    def __init__(self, tokens: list[str], look_up: Lookup, assign: Assign | None) -> None:
        self._tokens = tokens
        self._look_up = look_up
        self._assign = assign
        self._at = 0
        self._depth = 0

    def whole(self) -> int:
        value = self._assignment()
        if self._at < len(self._tokens):
            raise _Nobody
        return value

    def _peek(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._tokens[place] if place < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1] if self._at <= len(self._tokens) else ""

    def _assignment(self) -> int:
        """`x = 1`, `x += 1`, `x++`; otherwise a plain expression."""
        name, operator = self._peek(), self._peek(1)
        if name in ("++", "--") and _is_name(operator):
            self._at += 2
            return self._store(operator, self._number(operator) + (1 if name == "++" else -1))
        if not _is_name(name):
            return self._choice()
        if operator in ("++", "--"):
            self._at += 2
            before = self._number(name)
            self._store(name, before + (1 if operator == "++" else -1))
            return before
        if operator == "=" or operator in ("+=", "-=", "*=", "/=", "%="):
            self._at += 2
            return self._changed(name, operator)
        return self._choice()

    def _changed(self, name: str, operator: str) -> int:
        try:
            value = self._choice()
            if operator != "=":
                value = _apply(operator[0], self._number(name), value)
        except _Nobody:
            if self._assign:
                self._assign(name, None)
            raise
        return self._store(name, value)

    def _store(self, name: str, value: int) -> int:
        if self._assign:
            self._assign(name, value)
        return value

    def _choice(self) -> int:
        condition = self._binary(0)
        if self._peek() != "?":
            return condition
        self._take()
        first = self._choice_part()
        if self._take() != ":":
            raise _Nobody
        second = self._choice_part()
        return first if condition else second

    def _choice_part(self) -> int:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Nobody
        value = self._choice()
        self._depth -= 1
        return value

    def _binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._power()
        value = self._binary(level + 1)
        while self._peek() in _LEVELS[level]:
            operator = self._take()
            value = _apply(operator, value, self._binary(level + 1))
        return value

    def _power(self) -> int:
        base = self._unary()
        if self._peek() != "**":
            return base
        self._take()
        exponent = self._unary()
        if not 0 <= exponent < 64 or abs(base) > 1000:  # noqa: PLR2004 - more is no number of ours
            raise _Nobody
        return _bounded(base**exponent)

    def _unary(self) -> int:
        token = self._take()
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Nobody
        try:
            match token:
                case "-":
                    return -self._unary()
                case "+":
                    return self._unary()
                case "!":
                    return int(not self._unary())
                case "(":
                    value = self._choice()
                    if self._take() != ")":
                        raise _Nobody
                    return value
            return self._number(token)
        finally:
            self._depth -= 1

    def _number(self, token: str) -> int:
        if token[:1].isdigit():
            return _bounded(_literal(token))
        value = self._look_up(token.strip("${}")) if token else None
        if value is None:
            raise _Nobody
        return _bounded(value)


def _literal(token: str) -> int:
    try:
        if token.startswith("0x"):
            return int(token, 16)
        return int(token, 8) if len(token) > 1 and token.startswith("0") else int(token)
    except ValueError:
        raise _Nobody from None


def _is_name(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"


def _bounded(value: int) -> int:
    if not -_LIMIT <= value < _LIMIT:
        raise _Nobody
    return value


def _divided(left: int, right: int) -> int:
    """Towards zero, unlike Python."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divided,
    "%": lambda left, right: left - right * _divided(left, right),
    "<<": lambda left, right: left << min(max(right, 0), 64),
    ">>": lambda left, right: left >> min(max(right, 0), 64),
    "<": lambda left, right: int(left < right),
    ">": lambda left, right: int(left > right),
    "<=": lambda left, right: int(left <= right),
    ">=": lambda left, right: int(left >= right),
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "&&": lambda left, right: int(bool(left and right)),
    "||": lambda left, right: int(bool(left or right)),
}


def _apply(operator: str, left: int, right: int) -> int:
    return _bounded(_OPERATIONS[operator](left, right))
