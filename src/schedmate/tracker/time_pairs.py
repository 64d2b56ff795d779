"""A time of a whole in the lines of a log, `[0.40h/4.00h]`: the run ends by the clock."""

from __future__ import annotations

from dataclasses import dataclass, replace

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sighting
from schedmate.tracker.formats.quantities import seconds_of

_MAX_LENGTH = 512
_UNIT = r"(?:h|hr|hrs|hours?|m|min|mins|minutes?|s|sec|secs|seconds?)"
_NUMBER = r"\d{1,7}(?:\.\d{1,4})?"
_CLOCK = r"\d{1,3}:\d{2}(?::\d{2})?"
_PAIR = lazy_pattern(
    rf"(?<![\w.:/])(?:(?P<done>{_NUMBER})\s?(?P<unit>{_UNIT})?\s{{0,2}}(?:/|of|out of)\s{{0,2}}"
    rf"(?P<all>{_NUMBER})\s?(?P<each>{_UNIT})"
    rf"|(?P<from>{_CLOCK})\s{{0,2}}(?:/|of)\s{{0,2}}(?P<to>{_CLOCK}))(?![\w.:/])"
)
_ENOUGH = 3


def pair_of_times(text: str) -> tuple[float, float] | None:
    """Seconds that have passed, and of how many."""
    found = _PAIR.search(text[:_MAX_LENGTH])
    if found is None:
        return None
    if found["from"]:
        passed, whole = seconds_of(found["from"]), seconds_of(found["to"])
    else:
        unit = found["each"]
        passed = seconds_of(f"{found['done']}{found['unit'] or unit}")
        whole = seconds_of(f"{found['all']}{unit}")
    fits = passed is not None and whole is not None and 0 <= passed <= whole and whole > 0
    return (passed or 0.0, whole or 0.0) if fits else None


@dataclass(slots=True)
class TimePairs:
    """Believed where the second time stays the same while the first one rises."""

    passed: float = 0.0
    whole: float = 0.0
    rises: int = 0

    def timed(self, text: str, sighting: Sighting) -> Sighting:
        """The sighting with what has passed, and the whole as a cap, once that is sure."""
        pair = pair_of_times(text)
        if pair is None:
            return sighting
        passed, whole = pair
        same = whole == self.whole and passed >= self.passed
        self.rises = self.rises + (passed > self.passed) if same else 0
        self.passed, self.whole = passed, whole
        if self.rises < _ENOUGH:
            return sighting
        return replace(sighting, elapsed_s=passed, cap_s=whole)
