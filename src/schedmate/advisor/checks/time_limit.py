"""A time limit that the job will probably run into."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.checks.base import Checked
from schedmate.advisor.checks.wording import in_words
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
        needs = f"is below the {in_words(expected.p50)} it will take"
        return f"the time limit of {in_words(limit)} {needs}"
    if limit < expected.p90:
        longer = f"one such run in ten takes {in_words(expected.p90)}"
        return f"the time limit of {in_words(limit)} may be too short: {longer}"
    return None
