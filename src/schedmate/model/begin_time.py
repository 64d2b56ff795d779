"""`--begin`: when a job may start, as sbatch writes it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from schedmate.model.errors import BadInput

_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s?([AaPp][Mm]))?")
_LATER: Final = re.compile(r"now(?:\+(\d{1,9})\s?([a-z]*))?")
_UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_WORDS: Final = {"midnight": 0, "noon": 12, "elevenses": 11, "fika": 15, "teatime": 16}
_DATES: Final = ("%Y-%m-%d", "%m%d%y", "%m/%d/%y", "%m.%d.%y", "%m/%d", "%m.%d")
_HALF_DAY: Final = 12


def read_begin(text: str, now: float) -> float:
    """Seconds since the epoch; BadInput for what is no time. Without a date, the next such time."""
    stated = text.strip()
    later = _LATER.fullmatch(stated.lower())
    if later is not None:
        unit = (later[2] or "second").rstrip("s")
        if unit in _UNITS:
            return now + int(later[1] or 0) * _UNITS[unit]
    here = datetime.fromtimestamp(now)  # noqa: DTZ006 - people mean their own clock
    try:
        return _moment(stated, here).timestamp()
    except ValueError:
        raise BadInput(
            f"--begin wants a time such as now+1hour, 16:00, tomorrow or 2026-01-20T12:34, "
            f"not {text!r}"
        ) from None


def _moment(stated: str, here: datetime) -> datetime:
    day, separator, clock = stated.partition("T") if "T" in stated else stated.partition(" ")
    today = here.replace(hour=0, minute=0, second=0, microsecond=0)
    if not separator and (at := _time_of_day(stated)) is not None:
        moment = today + at
        return moment if moment >= here else moment + timedelta(days=1)
    at = _time_of_day(clock) if separator else timedelta()
    if at is None:
        raise ValueError(clock)
    return _date(day.lower(), today) + at


def _time_of_day(text: str) -> timedelta | None:
    if text.lower() in _WORDS:
        return timedelta(hours=_WORDS[text.lower()])
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if found[4]:
        hour = hour % _HALF_DAY + (_HALF_DAY if found[4].lower() == "pm" else 0)
    datetime(2000, 1, 1, hour, minute, second)  # noqa: DTZ001 - ValueError where there is none
    return timedelta(hours=hour, minutes=minute, seconds=second)


def _date(text: str, today: datetime) -> datetime:
    if text in ("today", "tomorrow"):
        return today + timedelta(days=text == "tomorrow")
    for form in _DATES:
        try:
            found = datetime.strptime(text, form)  # noqa: DTZ007 - as above
        except ValueError:
            continue
        return found if "y" in form.lower() else found.replace(year=today.year)
    raise ValueError(text)
