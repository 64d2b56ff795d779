"""Phases that a log announces in one line, each with a count of its own: `A:900, B:300 steps`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.quantities import COUNT, count_of
from schedmate.tracker.unknown.words import vocabulary

_MAX_LENGTH = 400
_MAX_PHASES, _MAX_EQUAL = 12, 500
_NUMBER = lazy_pattern(
    rf"(?<![\w./-])(?<!\d,)({COUNT})(?![\w/%]|[.,]\d)(?:\s{{1,2}}([^\W\d_]{{2,20}}))?"
)
_COUNTED = lazy_pattern(
    r"\b(?:epochs?|steps|iterations|iters|sweeps|updates|rounds|generations|cycles|episodes"
    r"|batches|passes|frames)\b",
    re.IGNORECASE,
)
_NO_PHASE = lazy_pattern(
    r"\b(?:val|valid|validation|test|dev|eval|evaluat\w{1,4}|every|per|each|patience|log"
    r"|save|decay)\b",
    re.IGNORECASE,
)
_WARMUP = lazy_pattern(r"\b(?:warm-?up|burn-?in|tun(?:e|ing)|cool-?down)\b", re.IGNORECASE)
_TOTAL = lazy_pattern(r"\b(?:total|max|all|overall)\b", re.IGNORECASE)
_EACH = lazy_pattern(
    rf"(?<![\w./-])(?P<length>{COUNT}) (?:epochs|steps|iterations|iters|sweeps|updates|rounds"
    r"|generations|cycles|episodes|passes) (?:each|apiece)\b",
    re.IGNORECASE,
)
_PARALLEL = vocabulary(
    "gpus gpu workers clients chains envs environments processes threads nodes ranks actors"
    " replicas walkers agents cores images samples"
)
_GOES_ON = lazy_pattern(r"\b(?:resum\w*|restart\w*|continu\w*|more)\b", re.IGNORECASE)
_ROUNDS = vocabulary(
    "epoch epochs steps iterations iters sweeps updates rounds generations cycles episodes passes"
)


def plan_in(text: str) -> tuple[float, ...]:
    """The lengths of the phases in their order, or nothing.

    A line that also prints their sum proves itself; else all have to be of the same thing.
    """
    text = text[:_MAX_LENGTH]
    if _COUNTED.search(text) is None or _GOES_ON.search(text):
        return ()
    found = [(count_of(one[1]), one[2] or "") for one in _NUMBER.finditer(text)]
    numbers = [(value, unit.lower()) for value, unit in found if value is not None and value > 1]
    values = [value for value, _ in numbers]
    return _each(text) or _summed(values) or _of_one_thing(text, numbers)


def _each(text: str) -> tuple[float, ...]:
    """`4 seeds, 25 epochs each`: as many phases of one length."""
    found = _EACH.search(text)
    length = count_of(found["length"]) if found else None
    if found is None or not length:
        return ()
    before = [one for one in _NUMBER.finditer(text[: found.start()]) if one[2]]
    things = before[-1][2].lower() if before else ""
    number = count_of(before[-1][1]) if before else None
    if not number or things in _PARALLEL or not 1 < number <= _MAX_EQUAL:
        return ()
    return (length,) * int(number)


def is_warmup(text: str) -> bool:
    """A warm-up may be a phase of its own, or the first part of what is counted after it."""
    return _WARMUP.search(text) is not None


def _summed(values: Sequence[float]) -> tuple[float, ...]:
    """The longest row of numbers whose sum stands beside it."""
    for length in range(min(_MAX_PHASES, len(values) - 1), 1, -1):
        for start in range(len(values) - length):
            row = tuple(values[start : start + length])
            if sum(row) in (values[start - 1] if start else None, values[start + length]):
                return row
    return ()


def _of_one_thing(text: str, numbers: Sequence[tuple[float, str]]) -> tuple[float, ...]:
    units = [unit for _, unit in numbers if unit in _ROUNDS]
    if len(units) < 2 or len(set(units)) > 1 or _NO_PHASE.search(text):  # noqa: PLR2004 - one is no row
        return ()
    if is_warmup(text) and _TOTAL.search(text):
        return ()
    return tuple(value for value, unit in numbers if unit in _ROUNDS)[:_MAX_PHASES]
