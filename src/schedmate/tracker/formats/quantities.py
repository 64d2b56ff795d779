"""Numbers as people print them: `5,000`, `1.2B`, `1h 2m`, `1 day, 2:03:04`, `505ms`."""

from __future__ import annotations

import re

from schedmate.tracker.formats.base import MOST

COUNT = (
    r"(?:\d{1,3}(?:[,_]\d{3}){1,5}(?![,_]?\d)"
    r"|\d{1,15}(?!(?:[,_]\d{3}){2})(?:\.\d{1,9})?(?:[eE]\+?\d{1,2}(?!\w)|(?-i:[kKMBGT])(?![A-Za-z]))?)"
)
"""A quantity with or without thousands separators, exponent or scale; `3m` is a time."""
_TIMES = r"(?:ms|[dhms]|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)(?![a-zA-Z])"
DURATION = (
    r"(?:(?:\d{1,6} days?, {0,2})?\d{1,6}(?::\d{2}){1,3}(?:\.\d{1,9})?"
    rf"|\d{{1,12}}(?:\.\d{{1,9}})? ?{_TIMES}(?:,? ?\d{{1,9}}(?:\.\d{{1,9}})? ?{_TIMES}){{0,3}})"
)
"""A time that tells its unit, by colons or by words."""

_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?) ?([a-z]{1,7})")
_DAYS = re.compile(r"(\d{1,6}) days?, {0,2}")
_UNITS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


def count_of(text: str) -> float | None:
    """What `COUNT` matched, if it can be a count."""
    scale = _SCALES.get(text[-1:], 1.0)
    digits = text.rstrip("kKMBGT").replace(",", "").replace("_", "")
    value = float(digits) * scale
    return value if value < MOST else None


def seconds_of(text: str) -> float | None:
    """What `DURATION` matched, as seconds."""
    if ":" in text:
        return _clock(text)
    seconds = sum(float(value) * _unit(name) for value, name in _PART.findall(text.lower()))
    return seconds if seconds < MOST else None


def _clock(text: str) -> float:
    days = _DAYS.match(text)
    parts = text[days.end() if days else 0 :].split(":")
    seconds = 0.0
    for part, base in zip(parts, (1, 24, 60, 60)[-len(parts) :], strict=True):
        seconds = seconds * base + float(part)
    return seconds + (int(days[1]) * 86_400.0 if days else 0.0)


def _unit(name: str) -> float:
    return 0.001 if name == "ms" else _UNITS[name[0]]
