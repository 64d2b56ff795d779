"""When a line was written, as it says itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

_HEAD = 120
_DATE = re.compile(
    r"(?<![\d/:.-])(?:(\d{4})[-/](\d{2})[-/](\d{2})|(\d{2})/(\d{2})/(\d{4}))[T _-]{1,2}"
    r"(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?(?![\d:])(?: ([AP])M\b)?",
    re.ASCII,
)
_ASCTIME = re.compile(
    r"(?<!\w)(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "
    r"[ 0]?(\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (?:[A-Z]{3,4} )?(\d{4})(?!\d)",
    re.ASCII,
)
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_GLOG = re.compile(r"[IWEF](\d{2})(\d{2}) (\d{2}):(\d{2}):(\d{2})\.(\d{1,9}) ", re.ASCII)
_LEAP_YEAR = "2000"
_TIME = re.compile(r"\[?(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?\]?[\s|:-]", re.ASCII)
_EPOCH = re.compile(r"\[?(1[5-9]\d{8})\.(\d{1,9})\]?[\s,|:]", re.ASCII)
DAY_S = 86_400.0


def stamped_at(line: str) -> float | None:
    """When the line says it was written, on the log's own clock, in any time zone.

    A time without a date counts from midnight.
    """
    head = line[:_HEAD].lstrip()
    try:
        return _date(head) or _short(head)
    except ValueError:  # no such day
        return None


def _date(head: str) -> float | None:
    found = _DATE.search(head)
    if found is not None:
        day = found.group(1, 2, 3) if found[1] else found.group(6, 4, 5)
        at = _seconds(day, found.group(7, 8, 9), found[10])
        return at + _half_day(found[7], found[11])
    found = _ASCTIME.search(head)
    if found is not None:
        month = str(_MONTHS.index(found[1]) // 3 + 1)
        return _seconds((found[6], month, found[2]), found.group(3, 4, 5), None)
    found = _GLOG.match(head)
    if found is None:
        return None
    return _seconds((_LEAP_YEAR, *found.group(1, 2)), found.group(3, 4, 5), found[6])


def _short(head: str) -> float | None:
    found = _EPOCH.match(head)
    if found is not None:
        return float(f"{found[1]}.{found[2]}")
    found = _TIME.match(head)
    if found is None:
        return None
    hours, minutes, seconds, part = found.groups()
    at = int(hours) * 3600 + int(minutes) * 60 + int(seconds) + _part(part)
    return at if at < DAY_S else None


def _seconds(day: Sequence[str], time: Sequence[str], part: str | None) -> float:
    year, month, date = map(int, day)
    hours, minutes, seconds = map(int, time)
    at = datetime(year, month, date, hours, minutes, min(59, seconds), tzinfo=UTC)
    return at.timestamp() + _part(part)


def _half_day(hour: str, half: str | None) -> float:
    """What a clock of twelve hours leaves out."""
    twelve = int(hour) == 12  # noqa: PLR2004 - the hour that such a clock begins with
    if half is None or int(hour) > 12:  # noqa: PLR2004 - see above
        return 0.0
    return (DAY_S / 2 if half == "P" else 0.0) - (DAY_S / 2 if twelve else 0.0)


def _part(digits: str | None) -> float:
    return float(f"0.{digits}") if digits else 0.0
