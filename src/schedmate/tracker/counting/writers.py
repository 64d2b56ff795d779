"""Several processes that count side by side in one log: `Chain 2, Iteration: 300 / 2000`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sighting

_MAX_LENGTH, _MAX_WRITERS = 160, 256
_ENOUGH_RETURNS = 3
_WRITER = lazy_pattern(
    r"(?<![\w.])(?P<kind>chain|worker|process|proc|replica|walker|thread|agent|member|island|job"
    r"|partition|shard|task|core|cpu|gpu|rank|slot)s?[\s#:=_-]{0,3}(?P<number>\d{1,4})(?![\w./])",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Writers:
    """Where each of them stands; they run side by side once the log has gone back and forth."""

    done: dict[str, float] = field(default_factory=dict)
    kind: str = ""
    last: str = ""
    returns: int = 0
    """How often a writer went on after another had written."""

    @property
    def parallel(self) -> bool:
        return self.returns >= _ENOUGH_RETURNS

    def see(self, text: str, sighting: Sighting) -> str | None:
        """The kind of writer that the line names, where it counts to a total of its own."""
        if sighting.total is None or sighting.per_epoch or sighting.current is None:
            return None
        found = _WRITER.search(text[:_MAX_LENGTH])
        kind = None if found is None else found["kind"].lower()
        if found is None or kind is None or self.kind not in ("", kind):
            return None
        self.kind, number = kind, found["number"]
        behind = self.done.get(self.last, sighting.total) < sighting.total
        self.returns += number in self.done and number != self.last and behind
        if len(self.done) < _MAX_WRITERS or number in self.done:
            self.done[number] = sighting.current
        self.last = number
        return kind

    def all_of_them(self, sighting: Sighting, known: float | None) -> Sighting:
        """The mean of what they have done; `known` is how many of them there will be."""
        number = max(len(self.done), int(known or 0))
        mean = sum(self.done.values()) / number
        return replace(sighting, current=mean, series=f"{sighting.series} of every {self.kind}")
