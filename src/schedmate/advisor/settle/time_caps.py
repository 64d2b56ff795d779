"""How long a run may take at most, in the many ways in which jobs say so."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

_UNITS: dict[str, float] = {
    word: seconds
    for words, seconds in (
        ("s sec secs second seconds", 1.0),
        ("m min mins minute minutes", 60.0),
        ("h hr hrs hour hours", 3600.0),
        ("d day days", 86400.0),
        ("w week weeks", 604800.0),
    )
    for word in words.split()
}
_WORDS = (
    "max_time max_train_time max_training_time max_runtime max_run_time max_wallclock "
    "max_wallclock_time max_wall_clock_time max_walltime max_wall_time max_train_duration "
    "max_training_duration max_duration train_time_limit training_time_limit time_limit "
    "train_time_budget training_time_budget time_budget max_train max_training train_for "
    "stop_time stop_after exit_duration"
)
_STEMS = tuple(_WORDS.split())
_IN_SECONDS = {stem for stem in _STEMS if stem.endswith(("time_limit", "time_budget"))}
"""Libraries that take a bare number under these names take seconds."""
_NO_TIME_BY_THEMSELVES = {"max_train", "max_training", "train_for", "stop_after", "stop_time"}
_NAME = re.compile(rf"({'|'.join(_STEMS)})(?:_(?:in_)?({'|'.join(_UNITS)}))?")
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,6})?) ?([a-z]{1,7}),? ?")
_CLOCK = re.compile(r"(?:(\d{1,5})[:-])?(\d{1,5}):(\d{1,2}):(\d{1,2})")
_LONGEST = 64
_MOST_S = 1e9


@dataclass(frozen=True, slots=True)
class CapName:
    """`unit_s` is what a bare number under this name counts; None: it has to say so itself."""

    rank: int
    unit_s: float | None


def cap_name(name: str) -> CapName | None:
    """What `max_train_minutes` says about its value; None where it is no name of a cap."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    stem, unit = found.groups()
    if unit is None and stem in _NO_TIME_BY_THEMSELVES:
        return None
    if stem == "max_duration" and unit is not None and _UNITS[unit] == 1.0:
        return None  # of a clip: speech recipes leave longer ones out
    bare = 1.0 if stem in _IN_SECONDS else None
    return CapName(_STEMS.index(stem), bare if unit is None else _UNITS[unit])


def cap_seconds(value: Any, unit_s: float | None) -> float | None:
    """A number, `2h`, `1h 30min`, `DD:HH:MM:SS`, a timedelta or a dict of units, in seconds."""
    match value:
        case bool():
            return None
        case int() | float():
            return _sane(value * unit_s) if unit_s else None
        case timedelta():
            return _sane(value.total_seconds())
        case dict():
            return _of_units(value)
        case str():
            return _of_text(value.strip().lower(), unit_s)
    return None


def _of_units(parts: dict[Any, Any]) -> float | None:
    """`{"hours": 2, "minutes": 30}`"""
    known = [
        number * _UNITS[unit]
        for unit, number in parts.items()
        if isinstance(unit, str) and unit in _UNITS and isinstance(number, (int, float))
    ]
    return _sane(sum(known)) if len(known) == len(parts) else None


def _of_text(text: str, unit_s: float | None) -> float | None:
    if len(text) > _LONGEST:
        return None
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return _sane(((days * 24.0 + hours) * 60 + minutes) * 60 + seconds)
    try:
        return cap_seconds(float(text), unit_s)
    except ValueError:
        return _of_parts(text)


def _of_parts(text: str) -> float | None:
    total, place = 0.0, 0
    while place < len(text):
        part = _PART.match(text, place)
        if part is None or part[2] not in _UNITS:
            return None
        total += float(part[1]) * _UNITS[part[2]]
        place = part.end()
    return _sane(total)


def _sane(seconds: float) -> float | None:
    return float(seconds) if math.isfinite(seconds) and 0 < seconds < _MOST_S else None
