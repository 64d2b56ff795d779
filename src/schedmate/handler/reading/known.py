"""What is known of lines that differ only in their digits, so that each is judged a few times."""

from __future__ import annotations

from enum import Enum
from typing import Final

from schedmate.handler.reading.findings import Hit

_MOST_TEMPLATES: Final = 20_000
_LONGEST_TEMPLATE: Final = 400
_TRIES: Final = 64


class Harmless(Enum):
    CALM = 1
    ECHO = 2
    """No evidence, and no sign of life either."""


Verdict = Hit | Harmless


class KnownLines:
    def __init__(self) -> None:
        self.verdicts: dict[bytes, Verdict] = {}
        self.calm: set[bytes] = set()
        self._tries: dict[bytes, tuple[Verdict, int]] = {}

    def learn(self, key: bytes, verdict: Verdict) -> None:
        """Lines that were all judged alike are not judged for ever."""
        if len(key) > _LONGEST_TEMPLATE:
            return
        if len(self._tries) > _MOST_TEMPLATES:
            self._tries.clear()
            self.verdicts.clear()
            self.calm.clear()
        before, times = self._tries.get(key, (verdict, 0))
        times = times + 1 if before is verdict else 1
        self._tries[key] = (verdict, times)
        if times >= _TRIES:
            self.verdicts[key] = verdict
            if verdict is Harmless.CALM:
                self.calm.add(key)
