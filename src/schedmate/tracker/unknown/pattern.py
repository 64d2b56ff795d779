"""A learnt format as an expression: written from sample lines, compiled, and read with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Final

import re2

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import BadInput, LearnedPattern, LearntFrom
from schedmate.tracker.formats.base import MAX_COUNT, Sighting, clock_seconds
from schedmate.tracker.unknown.behaviour import Meaning
from schedmate.tracker.unknown.fields import Column, Table
from schedmate.tracker.unknown.numbers import BAR, head_of, number

_MAX_EXPRESSION: Final = 6000
_MAX_MEMORY: Final = 1 << 20
_ROLES: Final = frozenset({"current", "total", "epoch", "epochs", "elapsed", "remaining"})
_METRIC = lazy_pattern(r"m_[a-z][a-z0-9_]{0,40}")
_COUNT: Final = r"\d+(?:[,_]\d{3})*(?:\.\d*)?[kKMB]?"
_TIME: Final = r"[\d:.,]*\d"
_ANY: Final = (
    r"[-+]?(?:\d+(?:[,_]\d{3})*(?:\.\d*)?(?:[eE][-+]?\d+)?"
    r"|\.\d+(?:[eE][-+]?\d+)?|nan|NaN|inf|Inf)"
)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_UNIT = lazy_pattern(r"(?:ms|min|sec|s|m|h)$")
_UNIT_IN_FRONT = lazy_pattern(r"\s?(?:ms|min|sec|s|m|h)(?!\w)")
_BAR_WORD: Final = "\N{FULL BLOCK}"
_ANY_BAR: Final = r"[\[|(][^\d]*?[\])|]"
_PERCENT: Final = 100.0


@dataclass(frozen=True, slots=True)
class _Compiled:
    match: Any
    groups: tuple[str, ...]
    """In their order; every group has a name."""
    metrics: tuple[tuple[str, str], ...]
    """Groups and the names of what they hold."""
    has_epoch: bool
    has_total: bool
    """Every line says what the count runs up to."""


class LearnedFormat:
    """A learnt pattern as a format; `read` never raises and takes linear time."""

    name: ClassVar[str] = "learned"

    def __init__(self, pattern: LearnedPattern) -> None:
        compiled(pattern.expression)
        self.pattern = pattern

    def read(self, line: str) -> Sighting | None:
        return read_with(self.pattern, line)


def read_with(pattern: LearnedPattern, line: str) -> Sighting | None:
    program = compiled(pattern.expression)
    match = program.match(head_of(line).encode("utf-8", "replace"))
    if match is None:
        return None
    return _sighting(pattern, program, dict(zip(program.groups, match.groups(), strict=True)))


def _sighting(
    pattern: LearnedPattern, program: _Compiled, found: Mapping[str, bytes | None]
) -> Sighting | None:
    total = _total(pattern, found)
    current = _current(found, total)
    if current is None or (total is not None and total <= 0):
        return None
    if pattern.unit == "percent" and total is not None:
        current, total = round(current / total * _PERCENT, 9), _PERCENT
    epoch = _count(found.get("epoch"))
    return Sighting(
        unit=pattern.unit,
        current=current,
        total=total if total is None or current <= total else None,
        epoch=epoch,
        epochs=_count(found.get("epochs")),
        per_epoch=epoch is not None and total is not None,
        elapsed_s=_elapsed(found.get("elapsed")),
        metrics=_metrics(program, found),
    )


def _total(pattern: LearnedPattern, found: Mapping[str, bytes | None]) -> float | None:
    """As printed, or what is done and what is left together, or as it was learnt."""
    if "total" in found:
        return _count(found["total"])
    done, left = _count(found.get("current")), _count(found.get("remaining"))
    return pattern.total if done is None or left is None else done + left


def _current(found: Mapping[str, bytes | None], total: float | None) -> float | None:
    if "current" in found:
        return _count(found["current"])
    left = _count(found.get("remaining"))
    return None if left is None or total is None else max(0.0, total - left)


def _value(data: bytes) -> float | None:
    try:
        return float(data)
    except ValueError:
        return number(data.decode("utf-8", "replace"))


def _count(data: bytes | None) -> float | None:
    if data is not None and b":" in data:
        return _elapsed(data)
    value = None if data is None else _value(data)
    return value if value is not None and 0 <= value < MAX_COUNT else None


def _elapsed(data: bytes | None) -> float | None:
    if data is None:
        return None
    text = data.decode("utf-8", "replace")
    if ":" in text:
        return clock_seconds(text.partition(".")[0])
    unit = _UNIT.search(text)
    value = number(text[: unit.start()] if unit else text)
    seconds = -1.0 if value is None else value * _SECONDS[unit[0] if unit else "s"]
    return seconds if 0 <= seconds < MAX_COUNT else None


def _metrics(program: _Compiled, found: Mapping[str, bytes | None]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for group, name in program.metrics:
        data = found[group]
        value = None if data is None else _value(data)
        if value is not None and not math.isinf(value):
            metrics[name] = value
    return metrics


@lru_cache(maxsize=512)
def compiled(expression: str) -> _Compiled:
    """Compile with RE2, which takes linear time on any text; refuse what is no learnt pattern."""
    if len(expression) > _MAX_EXPRESSION:
        raise BadInput("the learnt expression is too long")
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    try:
        program = re2.compile(expression, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise BadInput(f"the learnt expression is not valid RE2: {error}") from error
    groups: dict[str, int] = program.groupindex
    strange = [name for name in groups if name not in _ROLES and not _METRIC.fullmatch(name)]
    unnamed = program.groups != len(groups)
    if strange or unnamed or groups.keys().isdisjoint({"current", "remaining"}):
        raise BadInput("the learnt expression does not say which number is the count")
    names = tuple(sorted(groups, key=groups.__getitem__))
    return _Compiled(
        match=program.match,
        groups=names,
        metrics=tuple((name, name[2:]) for name in names if name.startswith("m_")),
        has_epoch="epoch" in groups,
        has_total="total" in groups or {"current", "remaining"} <= groups.keys(),
    )


def pattern_of(
    table: Table, meaning: Meaning, learnt_from: LearntFrom = "behaviour"
) -> LearnedPattern | None:
    """Write the expression; None where it does not read its own samples back."""
    names = {index: role for role, index in meaning.roles.items()}
    parts, used = [], max(names, default=-1)
    gaps = list(table.gaps)
    for index, column in enumerate(table.columns[: used + 1]):
        parts.append(_gap(gaps[index], first=index == 0))
        if names.get(index) == "elapsed":
            unit, gaps[index + 1] = _unit_in_front(gaps[index + 1])
            parts.append(rf"\+?(?P<elapsed>{_TIME}{unit})")
        else:
            parts.append(_number(column, names.get(index), gaps[index + 1]))
    parts.append(_gap_start(gaps[used + 1]))
    pattern = LearnedPattern(
        expression="".join(parts)[:_MAX_EXPRESSION],
        unit=meaning.unit,
        total=meaning.total,
        learnt_from=learnt_from,
        confidence=round(meaning.confidence, 3),
    )
    return pattern if _reads_back(pattern, table) else None


def for_later_runs(pattern: LearnedPattern) -> LearnedPattern | None:
    """What is true of every run of the code: a total that its lines do not print is this run's."""
    if pattern.total is None or _is_percentage(pattern):
        return pattern
    if pattern.unit == "percent" or "(?P<current>" not in pattern.expression:
        return None
    return replace(pattern, total=None)


def _is_percentage(pattern: LearnedPattern) -> bool:
    """`12 %` is of a hundred in every run."""
    behind = pattern.expression.partition("(?P<current>")[2]
    return pattern.unit == "percent" and pattern.total == _PERCENT and "%" in behind


def _reads_back(pattern: LearnedPattern, table: Table) -> bool:
    try:
        kind = LearnedFormat(pattern)
    except BadInput:
        return False
    return all(kind.read(text) is not None for text in table.texts)


def _number(column: Column, role: str | None, behind: tuple[str, ...]) -> str:
    if column.kind == "other":
        return _name(column, behind)
    scaled = column.suffix in ("k", "K", "M", "B", "%")
    if role is None:
        shape = _TIME if column.kind == "clock" else _ANY + ("[kKMB]?" if scaled else "")
        return shape + (r"\s?%?" if column.suffix == "%" else "")
    if column.kind == "clock":
        return f"(?P<{role}>{_TIME})"
    plain = column.whole or column.suffix in ("k", "K", "M", "B", "%")
    shape = _COUNT if plain and not role.startswith("m_") else _ANY
    return f"(?P<{role}>{shape})" + (r"\s?%" if column.suffix == "%" else "")


def _unit_in_front(behind: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The unit that follows the time in every line, and the gap without it."""
    found = {match[0] for gap in behind if (match := _UNIT_IN_FRONT.match(gap))}
    unit = found.pop() if len(found) == 1 else ""
    if not unit or not all(gap.startswith(unit) for gap in behind):
        return "", behind
    return str(re2.escape(unit)), tuple(gap[len(unit) :] for gap in behind)


def _name(column: Column, behind: tuple[str, ...]) -> str:
    """Anything up to the sign that follows in every line, or up to a space."""
    ends = {gap[:1] for gap in behind}
    sign = ends.pop() if len(ends) == 1 else ""
    if sign.isspace() or sign.isalnum() or any(sign in text for text in column.texts):
        sign = ""
    word = rf"[^\s{re2.escape(sign)}]+"
    spaces = max(text.count(" ") for text in column.texts)
    return r"\s".join([word] * (spaces + 1))


def _gap(variants: tuple[str, ...], *, first: bool) -> str:
    """Constant words as they are, varying ones as any word, anything where even their number is."""
    split = [BAR.sub(_BAR_WORD, variant).split() for variant in variants]
    lead = r"\s*" if first or any(v[:1].isspace() or not v for v in variants) else ""
    tail = r"\s*" if any(v[-1:].isspace() for v in variants) else ""
    if len({len(parts) for parts in split}) > 1 or len(split[0]) > 30:  # noqa: PLR2004 - a wordy line
        return r".*?[^\d.,]" if all(v and not v[-1].isdigit() for v in variants) else ".*?"
    if not split[0]:
        return lead or tail
    places = zip(*split, strict=True)
    return lead + r"\s+".join(_word(place) for place in places) + tail


def _word(variants: tuple[str, ...]) -> str:
    if len(set(variants)) == 1:
        return str(re2.escape(variants[0])).replace(_BAR_WORD, _ANY_BAR)
    ends = {variant[-1] for variant in variants}
    kept = ends.pop() if len(ends) == 1 else ""
    if kept.isalnum():
        kept = ""
    return r"\S*?" + str(re2.escape(kept))


def _gap_start(variants: tuple[str, ...]) -> str:
    """The sign or word right behind the last number, so that half a number is never read."""
    first = {variant[:1] for variant in variants}
    if len(first) == 1 and "" not in first:
        sign = first.pop()
        return r"\s" if sign.isspace() else str(re2.escape(sign))
    return r"(?:[^\d.,]|$)"
