"""Healthy lines cost little: lines that differ only in digits are judged once.

A rule sees only lines with one of the words below or of its own `words`; the rules' examples
test that none of them is missed.
"""

from __future__ import annotations

from typing import Final

from schedmate.handler.reading.lines import templates
from schedmate.handler.rules import RULES

_ALARMING: Final = (
    "abort|already in use|assertion|cancelled|caught signal|closed by|core dump|denied|error|"
    "exceed|exception|exhaust|exitcode|fail|fallen|segmentation fault|illegal|=inf|:inf|= inf|"
    ": inf|loss inf|interrupt|kill|is lost|runlimit|memlimit|minimum|mismatch|nan|no cuda|"
    "not finite|not found|no such|no space|nonfinite|non-finite|oom|out of memory|preempt|quota|"
    "reset by|shared memory|sigkill|sigterm|stale|term_owner|terminat|timed out|timeout|too old|"
    "too many open|traceback|unable to|system not yet|xid"
)
_WORDS: Final = tuple(
    dict.fromkeys(
        word.encode()
        for word in (*_ALARMING.split("|"), *(word for rule in RULES for word in rule.words))
    )
)
_MOST_TEMPLATES: Final = 50_000
_LONGEST_TEMPLATE: Final = 4096


def suspicious(text: bytes) -> bool:
    lowered = text.lower()
    for word in _WORDS:  # noqa: SIM110 - any() costs twice as much, and this is the hot loop
        if word in lowered:
            return True
    return False


class Prefilter:
    """Remembers which templates are harmless."""

    def __init__(self) -> None:
        self._calm: set[bytes] = set()

    def calm_down(self, piece_template: bytes) -> None:
        """From now on lines like this one are no news."""
        self._calm.add(piece_template)

    def news(self, block: bytes) -> set[bytes]:
        """The templates of those lines of the block that deserve a look."""
        fresh = set(templates(block)) - self._calm
        if not fresh:
            return fresh
        alarming = {one for one in fresh if suspicious(one)} if _suspicious_all(fresh) else set()
        self._remember(fresh - alarming)
        return alarming

    def _remember(self, calm: set[bytes]) -> None:
        if len(self._calm) + len(calm) > _MOST_TEMPLATES:
            self._calm.clear()
        if len(calm) < _MOST_TEMPLATES and max(map(len, calm), default=0) <= _LONGEST_TEMPLATE:
            self._calm |= calm


def _suspicious_all(templates: set[bytes]) -> bool:
    return suspicious(b"\n".join(templates))
