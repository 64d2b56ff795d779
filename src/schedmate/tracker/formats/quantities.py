"""Numbers and durations as people print them (`5,000`, `1.2B`, `1h 2m`, `505ms`), and speeds."""

from __future__ import annotations

import re

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats.base import MAX_COUNT, rate_of

COUNT = (
    r"(?:\d{1,3}(?:[,_]\d{3}){1,5}(?![,_]?\d)"
    r"|\d{1,15}(?!(?:[,_]\d{3}){2})(?:\.\d{1,16})?(?:[eE]\+?\d{1,2}(?!\w)|(?-i:[kKMBGT])(?![A-Za-z]))?)"
)
"""A quantity with or without thousands separators, exponent or scale; `3m` is a time."""
_TIMES = r"(?:ms|[dhms]|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)(?![a-zA-Z])"
DURATION = (
    r"(?:(?:\d{1,6} days?, {0,2})?\d{1,6}(?::\d{2}){1,3}(?:\.\d{1,9})?"
    rf"|\d{{1,12}}(?:\.\d{{1,9}})? ?{_TIMES}(?:,? ?\d{{1,9}}(?:\.\d{{1,9}})? ?{_TIMES}){{0,3}})"
)
"""A time with its unit, by colons or by words."""

_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
_PART = lazy_pattern(r"(\d{1,12}(?:\.\d{1,9})?) ?([a-z]{1,7})")
_DAYS = lazy_pattern(r"(\d{1,6}) days?, {0,2}")
_UNITS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


def count_of(text: str) -> float | None:
    """What `COUNT` matched, if it can be a count."""
    scale = _SCALES.get(text[-1:], 1.0)
    digits = text.rstrip("kKMBGT").replace(",", "").replace("_", "")
    value = float(digits) * scale
    return value if value < MAX_COUNT else None


def seconds_of(text: str) -> float | None:
    """What `DURATION` matched, as seconds."""
    if ":" in text:
        return _clock(text)
    seconds = sum(float(value) * _unit(name) for value, name in _PART.findall(text.lower()))
    return seconds if seconds < MAX_COUNT else None


def _clock(text: str) -> float:
    days = _DAYS.match(text)
    parts = text[days.end() if days else 0 :].split(":")
    seconds = 0.0
    for part, base in zip(parts, (1, 24, 60, 60)[-len(parts) :], strict=True):
        seconds = seconds * base + float(part)
    return seconds + (int(days[1]) * 86_400.0 if days else 0.0)


def _unit(name: str) -> float:
    return 0.001 if name == "ms" else _UNITS[name[0]]


_IS = r"\)?[\s:=]{0,6}"
_ELAPSED = lazy_pattern(
    r"\b(?:train(?:ing)?[_ ]time|elapsed(?:[_ ](?:time|s))?|time[_ ]elapsed|total[_ ]time"
    r"|wall[_ ]?time|run[_ ]?time|uptime)"
    rf"{_IS}(?:({DURATION})|(\d{{1,12}}(?:\.\d{{1,9}})?)(?![\w.:/]))"
)
_ETA = lazy_pattern(
    r"\b(?:eta|(?:time[_ ])?remaining(?:[_ ]time)?|time[_ ]left|left|restzeit)"
    rf"{_IS}~?({DURATION})"
)
_STEP = r"(?:it(?:er(?:ation)?)?s?|steps?|batch(?:es)?|updates?)"
_EACH = lazy_pattern(
    rf"(?<![\w.])(\d{{1,9}}(?:\.\d{{1,9}})?) ?(ms|s(?:ec(?:onds?)?)?) ?(?:/|per ) ?{_STEP}\b"
    r"(?!\s{0,3}[:=])"
    r"|\b(?:dt|(?:step|iter(?:ation)?|batch)[_ ](?:time|avg)|time(?:/| per )(?:step|iter|batch))"
    rf"{_IS}(\d{{1,9}}(?:\.\d{{1,9}})?) ?(ms|s(?:ec(?:onds?)?)?)\b(?!/)"
    rf"|\b(ms|s(?:ec)?)/{_STEP}{_IS}(\d{{1,9}}(?:\.\d{{1,9}})?)(?![\w./:])"
)
_EACH_EPOCH = lazy_pattern(
    rf"\b(?:epoch[_ ]time|time(?:/| per )epoch){_IS}({DURATION})"
    rf"|(?<![\w.])(\d{{1,9}}(?:\.\d{{1,9}})?) ?s(?:ec(?:onds?)?)? ?(?:/|per ) ?epoch\b"
)
_PER_SECOND = lazy_pattern(
    rf"(?<![\w.,])({COUNT}) ?(?:{_STEP}|(samples?|examples?|images?|imgs?|seq(?:uence)?s?)"
    r"|(tok(?:en)?s?)) ?(?:/|per[ _]) ?s(?:ec(?:ond)?)?\b(?!/|\s{0,3}[:=])",
    re.IGNORECASE,
)
_NAMED = lazy_pattern(
    rf"\b(?:{_STEP}|(samples?|examples?|images?|imgs?|seq(?:uence)?s?)|(tok(?:en)?s?))"
    rf"(?:/|_per_)s(?:ec(?:ond)?)?{_IS}({COUNT})(?![\w./:])",
    re.IGNORECASE,
)
_MAX_BEFORE = 48
"""No value and name that a hint belongs to are longer."""
_ELAPSED_HINTS = ("time", "elapsed")
_ETA_HINTS = ("eta", "remaining", "left", "restzeit")
_PER_SECOND_HINTS = ("/s", "/ s", "per s", "per_s")
_EACH_HINT = lazy_pattern(r"/ ?(?:it|step|batch|update|epoch)|per |dt|[_ ](?:time|avg)|time[/ ]")
THROUGHPUTS: dict[Unit, str] = {"sample": "samples_per_s", "token": "tokens_per_s"}


def elapsed_in(lowered: str) -> float | None:
    start = _first(lowered, _ELAPSED_HINTS)
    found = None if start is None else _ELAPSED.search(lowered, start)
    if found is None:
        return None
    return seconds_of(found[1]) if found[1] else float(found[2])


def eta_in(lowered: str) -> float | None:
    start = _first(lowered, _ETA_HINTS)
    found = None if start is None else _ETA.search(lowered, start)
    return None if found is None else seconds_of(found[1])


def speeds_in(text: str, lowered: str) -> dict[Unit, float]:
    """How many units a second, for each unit that the line gives a speed of."""
    start = _first(lowered, _PER_SECOND_HINTS)
    speeds = {} if start is None else _per_second(text, start)
    if _EACH_HINT.search(lowered):
        each: tuple[tuple[Unit, float | None], ...] = (
            ("step", _each_step(lowered)),
            ("epoch", _each_epoch(lowered)),
        )
        speeds = {unit: rate for unit, rate in each if rate is not None} | speeds
    return speeds


def _first(lowered: str, hints: tuple[str, ...]) -> int | None:
    """Where to begin to look: a little before the first of the hints."""
    places = [lowered.find(hint) for hint in hints if hint in lowered]
    return max(0, min(places) - _MAX_BEFORE) if places else None


def _per_second(text: str, start: int) -> dict[Unit, float]:
    speeds: dict[Unit, float] = {}
    for pattern, sample, token, value in ((_PER_SECOND, 2, 3, 1), (_NAMED, 1, 2, 3)):
        for found in pattern.finditer(text, start):
            unit: Unit = "sample" if found[sample] else "token" if found[token] else "step"
            speed = count_of(found[value])
            if speed:
                speeds.setdefault(unit, speed)
    return speeds


def _each_step(lowered: str) -> float | None:
    found = _EACH.search(lowered)
    if found is None:
        return None
    first, first_unit, second, second_unit, third_unit, third = found.groups()
    value, unit = first or second or third, first_unit or second_unit or third_unit
    return rate_of(float(value) * (0.001 if unit == "ms" else 1.0))


def _each_epoch(lowered: str) -> float | None:
    found = _EACH_EPOCH.search(lowered)
    if found is None:
        return None
    return rate_of(seconds_of(found[1]) if found[1] else float(found[2]))
