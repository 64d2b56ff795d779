"""Times and numbers in the words of a page."""

from __future__ import annotations

from datetime import UTC, datetime

from schedmate.model.diagnosis import DiagnosisSource
from schedmate.model.failures import Retry

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_EXACT_S = 10 * _MINUTE
RETRIES: dict[Retry, str] = {
    "no": "not recommended",
    "same": "recommended, as it was",
    "elsewhere": "recommended, on other nodes",
    "resume": "recommended, from its checkpoint",
    "wait": "recommended, after a while",
}
_SOURCES: dict[DiagnosisSource, str] = {
    "rule": "by a rule",
    "memory": "by a correction",
    "llm": "by the language model",
    "none": "as no rule fits",
}


def in_words(seconds: float | None) -> str:
    """`45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`: two units at most, as people say it."""
    if seconds is None:
        return ""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        minutes, left = divmod(round(seconds), 60)
        return f"{minutes} min {left} s" if seconds < _EXACT_S and left else f"{minutes} min"
    if seconds < _DAY:
        hours, left = divmod(round(seconds / _MINUTE), 60)
        return f"{hours} h {left} min" if left else f"{hours} h"
    days, left = divmod(round(seconds / _HOUR), 24)
    return f"{days} d {left} h" if left else f"{days} d"


def short(seconds: float | None) -> str:
    """The same, and a dash where nothing is known."""
    return in_words(seconds) or "-"


def clock(at: float | None) -> str:
    """ISO 8601 in UTC; a script shows it in the reader's own time zone."""
    if at is None:
        return ""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def percent(share: float | None) -> str:
    """`37 %`, and a dash where nothing is known."""
    return "-" if share is None else f"{100 * share:.0f} %"


def plural(count: float, one: str, many: str = "") -> str:
    """`1 job`, `1,200 jobs`."""
    return f"{count:,.0f} {one if count == 1 else many or one + 's'}"


def source(name: DiagnosisSource) -> str:
    """What a diagnosis rests on."""
    return _SOURCES.get(name, name)
