"""Phases that others follow: a warm-up, a burn-in. What is counted in one does not end the run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sighting

_MAX_HEADING = 80
_NAMES = (
    r"warm(?:ing)?[ _-]?up|burn(?:ing)?[ _-]?in|equilibrat\w{1,5}|thermali[sz]\w{1,6}"
    r"|calibrat\w{1,5}|initiali[sz]ation|preparation|preprocessing|dry[ -]?run|spin[ -]?up"
)
_NAMED = lazy_pattern(rf"\b(?:{_NAMES})\b(?![\w-]|\s?[=:]\s?\d)", re.IGNORECASE)
_HEADING = lazy_pattern(
    r"[\W\d]{0,40}(?:(?:(?:start|enter|begin|runn?)(?:ing|ning)?|now|info|phase|stage|part|step)"
    rf"\b[\W\d]{{0,8}}){{0,3}}(?:the )?(?:{_NAMES})"
    r"(?: (?:phase|stage|period|run|steps|epochs|sweeps|iterations|loop))?(?:\W{0,8}\(.{0,40}\))?"
    r"[\W\d]{0,60}",
    re.IGNORECASE,
)
_OTHER = lazy_pattern(
    r"\b(?:phase|stage|train(?:ing)?|main|production|sampling|start(?:ing|ed)?|begin\w{0,4}"
    r"|done|finished|completed?|over)\b",
    re.IGNORECASE,
)
_COUNT = lazy_pattern(r"\d\s{0,3}(?:/|of|out of)\s{0,3}\d")


def names_preliminary(text: str) -> bool:
    """Whether a line names such a phase before its count, or is nothing but its heading."""
    count = _COUNT.search(text)
    if count is not None and _NAMED.search(text, 0, count.start()) is not None:
        return True
    return len(text) <= _MAX_HEADING and _HEADING.fullmatch(text) is not None


@dataclass(slots=True)
class Preliminaries:
    heading: bool = False
    """The newest heading names such a phase, ..."""
    series: str = ""
    """... in which this was the first thing that was counted."""

    def see(self, text: str, *, named: bool) -> None:
        """Take in a line that counts nothing; `named`: it names a phase that others follow."""
        if named:
            self.heading, self.series = True, ""
        elif self.heading and len(text) <= _MAX_HEADING and _OTHER.search(text):
            self.heading, self.series = False, ""

    def holds(self, format_name: str, sighting: Sighting) -> bool:
        """Whether it is the first thing that is counted below the heading of the phase."""
        if not self.heading:
            return False
        series = f"{format_name} {sighting.series} {sighting.unit} {sighting.total}"
        self.series = self.series or series
        return series == self.series
