"""Times and speeds in a home-made line: since the start, each step, to the end, per second."""

from __future__ import annotations

import re

from schedmate.model import Unit
from schedmate.tracker.formats.base import rate_of
from schedmate.tracker.formats.quantities import COUNT, DURATION, count_of, seconds_of

_IS = r"\)?[\s:=]{0,6}"
_ELAPSED = re.compile(
    r"\b(?:train(?:ing)?[_ ]time|elapsed(?:[_ ](?:time|s))?|time[_ ]elapsed|total[_ ]time"
    r"|wall[_ ]?time|run[_ ]?time|uptime)"
    rf"{_IS}(?:({DURATION})|(\d{{1,12}}(?:\.\d{{1,9}})?)(?![\w.:/]))",
    re.IGNORECASE,
)
_ETA = re.compile(
    r"\b(?:eta|(?:time[_ ])?remaining(?:[_ ]time)?|time[_ ]left|left|restzeit)"
    rf"{_IS}~?({DURATION})",
    re.IGNORECASE,
)
_STEP = r"(?:it(?:er(?:ation)?)?s?|steps?|batch(?:es)?|updates?)"
_EACH = re.compile(
    rf"(?<![\w.])(\d{{1,9}}(?:\.\d{{1,9}})?) ?(ms|s(?:ec(?:onds?)?)?) ?(?:/|per ) ?{_STEP}\b"
    r"(?!\s{0,3}[:=])"
    r"|\b(?:dt|(?:step|iter(?:ation)?|batch)[_ ](?:time|avg)|time(?:/| per )(?:step|iter|batch))"
    rf"{_IS}(\d{{1,9}}(?:\.\d{{1,9}})?) ?(ms|s(?:ec(?:onds?)?)?)\b(?!/)"
    rf"|\b(ms|s(?:ec)?)/{_STEP}{_IS}(\d{{1,9}}(?:\.\d{{1,9}})?)(?![\w./:])",
    re.IGNORECASE,
)
_EACH_EPOCH = re.compile(
    rf"\b(?:epoch[_ ]time|time(?:/| per )epoch){_IS}({DURATION})"
    rf"|(?<![\w.])(\d{{1,9}}(?:\.\d{{1,9}})?) ?s(?:ec(?:onds?)?)? ?(?:/|per ) ?epoch\b",
    re.IGNORECASE,
)
_PER_SECOND = re.compile(
    rf"(?<![\w.,])({COUNT}) ?(?:{_STEP}|(samples?|examples?|images?|imgs?|seq(?:uence)?s?)"
    r"|(tok(?:en)?s?)) ?(?:/|per[ _]) ?s(?:ec(?:ond)?)?\b(?!/|\s{0,3}[:=])",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"\b(?:{_STEP}|(samples?|examples?|images?|imgs?|seq(?:uence)?s?)|(tok(?:en)?s?))"
    rf"(?:/|_per_)s(?:ec(?:ond)?)?{_IS}({COUNT})(?![\w./:])",
    re.IGNORECASE,
)
_ETA_HINTS = ("eta", "remaining", "left", "restzeit")
_PER_SECOND_HINTS = ("/s", "/ s", "per s", "per_s")
_EACH_HINT = re.compile(r"/ ?(?:it|step|batch|update|epoch)|per |dt|[_ ](?:time|avg)|time[/ ]")
THROUGHPUTS: dict[Unit, str] = {"sample": "samples_per_s", "token": "tokens_per_s"}


def elapsed_in(text: str, lowered: str) -> float | None:
    found = _ELAPSED.search(text) if "time" in lowered or "elapsed" in lowered else None
    if found is None:
        return None
    return seconds_of(found[1]) if found[1] else float(found[2])


def eta_in(text: str, lowered: str) -> float | None:
    found = _ETA.search(text) if any(hint in lowered for hint in _ETA_HINTS) else None
    return None if found is None else seconds_of(found[1])


def speeds_in(text: str, lowered: str) -> dict[Unit, float]:
    """How many units a second, for each unit that the line gives a speed of."""
    speeds: dict[Unit, float] = {}
    if any(hint in lowered for hint in _PER_SECOND_HINTS):
        speeds = _per_second(text)
    if _EACH_HINT.search(lowered):
        each: tuple[tuple[Unit, float | None], ...] = (
            ("step", _each_step(text)),
            ("epoch", _each_epoch(text)),
        )
        speeds = {unit: rate for unit, rate in each if rate is not None} | speeds
    return speeds


def _per_second(text: str) -> dict[Unit, float]:
    speeds: dict[Unit, float] = {}
    for pattern, sample, token, value in ((_PER_SECOND, 2, 3, 1), (_NAMED, 1, 2, 3)):
        for found in pattern.finditer(text):
            unit: Unit = "sample" if found[sample] else "token" if found[token] else "step"
            speed = count_of(found[value])
            if speed:
                speeds.setdefault(unit, speed)
    return speeds


def _each_step(text: str) -> float | None:
    found = _EACH.search(text)
    if found is None:
        return None
    first, first_unit, second, second_unit, third_unit, third = found.groups()
    value, unit = first or second or third, first_unit or second_unit or third_unit
    return rate_of(float(value) * (0.001 if unit.lower() == "ms" else 1.0))


def _each_epoch(text: str) -> float | None:
    found = _EACH_EPOCH.search(text)
    if found is None:
        return None
    return rate_of(seconds_of(found[1]) if found[1] else float(found[2]))
