"""A time limit that the job will probably run into."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.model import Remark, Spread
from schedmate.model.advice import Level

_TELLING = ("identical", "same_code", "similar")


def time_limit_too_short(checked: Checked) -> Iterator[Remark]:
    asked = checked.launch.asked
    limit = checked.target.request.time_limit_s or asked.time_limit_s
    prediction = checked.prediction
    if limit is None or prediction.duration_s is None or prediction.basis not in _TELLING:
        return
    lines = (asked.options["time"][1],) if "time" in asked.options else ()
    text = _problem(limit, prediction.duration_s)
    if text is not None:
        level: Level = "warning" if limit < prediction.duration_s.p50 else "hint"
        yield Remark(level=level, text=text, evidence=lines)


def _problem(limit: float, expected: Spread) -> str | None:
    if limit < expected.p50:
        return f"the time limit of {_words(limit)} is below the {_words(expected.p50)} it will take"
    if limit < expected.p90:
        longer = f"one such run in ten takes {_words(expected.p90)}"
        return f"the time limit of {_words(limit)} may be too short: {longer}"
    return None


def _words(seconds: float) -> str:
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.0f} seconds"
