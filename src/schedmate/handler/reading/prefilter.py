"""Healthy lines cost little: lines that differ only in digits are judged once.

A rule sees only lines with one of the words below or of its own `words`; the rules' examples
test that none of them is missed.
"""

from __future__ import annotations

from typing import Final

from schedmate.handler.reading.lines import templates
from schedmate.handler.rules import RuleBook

_ALARMING: Final = (
    "abort|already in use|assertion|cancelled|caught signal|closed by|core dump|denied|error|"
    "exceed|exception|exhaust|exitcode|fail|fallen|segmentation fault|illegal|=inf|:inf|= inf|"
    ": inf|loss inf|interrupt|kill|is lost|runlimit|memlimit|minimum|mismatch|nan|no cuda|"
    "not finite|not found|no such|no space|nonfinite|non-finite|oom|out of memory|preempt|quota|"
    "reset by|shared memory|sigkill|sigterm|stale|term_owner|terminat|timed out|timeout|too old|"
    "too many open|traceback|unable to|system not yet|xid"
)
_MOST_TEMPLATES: Final = 50_000
_LONGEST_TEMPLATE: Final = 4096


class Prefilter:
    """Remembers which templates are harmless."""

    def __init__(self, book: RuleBook) -> None:
        words = (*_ALARMING.split("|"), *book.words)
        self._words = tuple(dict.fromkeys(word.encode() for word in words))
        self._calm: set[bytes] = set()

    def suspicious(self, text: bytes) -> bool:
        lowered = text.lower()
        for word in self._words:  # noqa: SIM110 - any() costs twice as much, and this is hot
            if word in lowered:
                return True
        return False

    def calm_down(self, piece_template: bytes) -> None:
        """From now on lines like this one are no news."""
        self._calm.add(piece_template)

    def news(self, block: bytes) -> set[bytes]:
        """The templates of those lines of the block that deserve a look."""
        fresh = set(templates(block)) - self._calm
        if not fresh:
            return fresh
        whole = self.suspicious(b"\n".join(fresh))
        alarming = {one for one in fresh if self.suspicious(one)} if whole else set()
        self._remember(fresh - alarming)
        return alarming

    def _remember(self, calm: set[bytes]) -> None:
        if len(self._calm) + len(calm) > _MOST_TEMPLATES:
            self._calm.clear()
        if len(calm) < _MOST_TEMPLATES and max(map(len, calm), default=0) <= _LONGEST_TEMPLATE:
            self._calm |= calm
