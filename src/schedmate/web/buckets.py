"""How often each name may do something: token buckets, so many at once and then at a rate."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

_MOST_BUCKETS = 10_000


@dataclass(slots=True)
class Buckets:
    """How much each name may still ask for; tokens drip in at `rate` a second."""

    rate: float
    size: float
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, name: str, now: float) -> bool:
        left, at = self._left.pop(name, (self.size, now))
        left = min(self.size, left + (now - at) * self.rate)
        allowed = left >= 1
        self._left[name] = (left - 1 if allowed else left, now)
        if len(self._left) > _MOST_BUCKETS:
            self._left.popitem(last=False)
        return allowed
