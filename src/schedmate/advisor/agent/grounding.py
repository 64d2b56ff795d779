"""Whether a value stands in the line that is quoted for it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

_NUMBER = re.compile(
    r"(?<![\w.])(\d[\d_]{0,20}(?:\.\d{0,20})?|\.\d{1,20})([eE][-+]?\d{1,3})?(?![\w.])"
)
_PRODUCT = re.compile(r"(?<![\w.*])(\d{1,9}) {0,2}(\*\*|\*|<<) {0,2}(\d{1,9})(?![\w.*])")
_LARGEST_POWER = 64
_CLOSE = 1e-9
_COMMENT = re.compile(r"(?:^|\s)#.{0,2000}$|(?:^|\s)//(?!\s?[\w(]{1,40}\)*,?$).{0,2000}$")
"""`// 8` at the end of a line divides."""
_QUOTES = re.compile(r"\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'")


def stands_in(value: object, line: str) -> bool:
    """A number however it is written, a text letter by letter; what a comment says does not
    count."""
    code = without_comment(line)
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return any(_same(_float(value), each) for each in numbers_in(code))
    text = str(value).strip().strip("/").removeprefix("./").lower()
    return len(text) > 1 and text in code.lower()


def numbers_in(text: str) -> Iterator[float]:
    for found in _NUMBER.finditer(text):
        yield float((found[1] + (found[2] or "")).replace("_", ""))
    for first, sign, second in _PRODUCT.findall(text):
        one, other = int(first), int(second)
        if sign == "*":
            yield float(one * other)
        elif other <= _LARGEST_POWER:
            yield _float(one**other if sign == "**" else one << other)


def without_comment(line: str) -> str:
    """The line up to a `#` that stands in no quotes."""
    hidden = _QUOTES.sub(lambda found: "x" * len(found[0]), line)
    comment = _COMMENT.search(hidden)
    return line if comment is None else line[: comment.start()]


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_CLOSE)
