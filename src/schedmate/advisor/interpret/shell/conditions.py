"""`[ … ]` and `[[ … ]]`: true, false, or None where unknown before the job runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from schedmate.advisor.interpret.shell.parameters import matches
from schedmate.advisor.interpret.shell.spans import known, text_of
from schedmate.advisor.interpret.shell.words import Span

Operand = Sequence[Span]
_MAX_DEPTH = 20
_MAX_DIGITS = 18


class Asks(Protocol):
    def exists(self, path: str) -> bool:
        """Whether a file of the job's is there now."""

    def is_set(self, name: str) -> bool | None: ...


def decide(operands: Sequence[Operand], asks: Asks, *, patterns: bool = False) -> bool | None:
    """`patterns`: the right side of `==` is one, as between double brackets."""
    return _Test(operands, asks, patterns=patterns).whole()


def negated(truth: bool | None) -> bool | None:  # noqa: FBT001 - the truth itself
    return None if truth is None else not truth


class _Test:
    def __init__(self, operands: Sequence[Operand], asks: Asks, *, patterns: bool) -> None:
        self._operands = operands
        self._texts = [text_of(operand) for operand in operands]
        self._asks = asks
        self._patterns = patterns
        self._at = 0
        self._depth = 0

    def whole(self) -> bool | None:
        if not self._operands:
            return False
        truth = self._either()
        return truth if self._at >= len(self._operands) else None

    def _text(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._texts[place] if place < len(self._texts) else ""

    def _left(self) -> int:
        return len(self._texts) - self._at

    def _either(self) -> bool | None:
        truth = self._both()
        while self._text() in ("-o", "||") and self._left() > 1:
            self._at += 1
            other = self._both()
            truth = True if truth or other else (None if None in (truth, other) else False)
        return truth

    def _both(self) -> bool | None:
        truth = self._one()
        while self._text() in ("-a", "&&") and self._left() > 1:
            self._at += 1
            other = self._one()
            if truth is False or other is False:
                truth = False
            else:
                truth = None if None in (truth, other) else True
        return truth

    def _one(self) -> bool | None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._at = len(self._texts)
            return None
        try:
            return self._primary()
        finally:
            self._depth -= 1

    def _primary(self) -> bool | None:
        text, operator = self._text(), self._text(1)
        if self._left() >= 3 and operator in _COMPARISONS:  # noqa: PLR2004 - both sides of it
            self._at += 3
            return self._compare(operator, *self._operands[self._at - 3 : self._at : 2])
        if text == "!" and self._left() > 1:
            self._at += 1
            return negated(self._one())
        if text == "(" and self._left() > 1:
            self._at += 1
            truth = self._either()
            self._at += self._text() == ")"
            return truth
        if len(text) == 2 and text.startswith("-") and self._left() > 1:  # noqa: PLR2004 - `-z`
            self._at += 2
            return self._unary(text, self._operands[self._at - 1])
        self._at += 1
        return _filled(self._operands[self._at - 1]) if self._at <= len(self._operands) else None

    def _unary(self, operator: str, operand: Operand) -> bool | None:
        if operator in ("-z", "-n"):
            truth = _filled(operand)
            return negated(truth) if operator == "-z" else truth
        if not known(operand):
            return None
        if operator == "-v":
            return self._asks.is_set(text_of(operand))
        if operator in ("-f", "-e", "-d", "-r", "-s"):
            return self._asks.exists(text_of(operand)) or None
        return None

    def _compare(self, operator: str, left: Operand, right: Operand) -> bool | None:
        if operator in ("=", "==", "!=") and not (known(left) and known(right)):
            return self._with_nothing(operator, left, right)
        if not (known(left) and known(right)):
            return None
        return _COMPARISONS[operator](text_of(left), text_of(right), self._patterns)

    def _with_nothing(self, operator: str, left: Operand, right: Operand) -> bool | None:
        """`[ "$X" == "" ]` asks whether it is set."""
        if known(right) and not text_of(right):
            truth = _filled(left)
            return truth if operator == "!=" else negated(truth)
        return None


def _filled(operand: Operand) -> bool | None:
    """Whether there is any text; a variable that nothing sets has none."""
    unsure = False
    for span in operand:
        if (span.known and span.text) or span.filled:
            return True
        unsure = unsure or not (span.known or span.filled is False)
    return None if unsure else False


def _number(text: str) -> int | None:
    stripped = text.strip().removeprefix("+")
    digits = stripped.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _MAX_DIGITS:
        return None
    return int(stripped)


Comparison = Callable[[str, str, bool], bool | None]


def _numbers(compare: Callable[[int, int], bool]) -> Comparison:
    def compared(left: str, right: str, _patterns: bool) -> bool | None:  # noqa: FBT001 - see Comparison
        numbers = _number(left or "0"), _number(right or "0")
        if numbers[0] is None or numbers[1] is None:
            return None
        return compare(numbers[0], numbers[1])

    return compared


def _equal(left: str, right: str, patterns: bool) -> bool:  # noqa: FBT001 - see Comparison
    return matches(left, right) if patterns else left == right


_COMPARISONS: dict[str, Comparison] = {
    "=": _equal,
    "==": _equal,
    "!=": lambda left, right, patterns: not _equal(left, right, patterns),
    "<": lambda left, right, _: left < right,
    ">": lambda left, right, _: left > right,
    "=~": lambda _left, _right, _patterns: None,
    "-ef": lambda _left, _right, _patterns: None,
    "-nt": lambda _left, _right, _patterns: None,
    "-ot": lambda _left, _right, _patterns: None,
    "-eq": _numbers(lambda left, right: left == right),
    "-ne": _numbers(lambda left, right: left != right),
    "-lt": _numbers(lambda left, right: left < right),
    "-le": _numbers(lambda left, right: left <= right),
    "-gt": _numbers(lambda left, right: left > right),
    "-ge": _numbers(lambda left, right: left >= right),
}
