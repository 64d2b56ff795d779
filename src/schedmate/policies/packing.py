"""Who runs beside whom: Lucid's binder."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass

from schedmate.policies.share_score import JUMBO

_MUCH_LONGER = 2.0
"""A job is not put beside one that is expected to need less than a part of its own service."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A job as its profile shows it."""

    gpus: int
    score: int
    memory: float
    service: float
    """Expected GPU-seconds."""


class Hosts:
    """Jobs that run alone on their GPUs and may be joined, by size and score, longest first."""

    def __init__(self) -> None:
        self._lists: dict[tuple[int, int], list[tuple[float, int]]] = {}
        self._of: dict[int, Measured] = {}

    def add(self, job: int, measured: Measured) -> None:
        self._of[job] = measured
        insort(self._lists.setdefault((measured.gpus, measured.score), []), _entry(job, measured))

    def discard(self, job: int) -> None:
        measured = self._of.pop(job, None)
        if measured is not None:
            hosts = self._lists[measured.gpus, measured.score]
            del hosts[bisect_left(hosts, _entry(job, measured))]

    def for_(self, guest: Measured, limit: int) -> int | None:
        """The one that is in the way least, of these the longest: as many GPUs, scores within the
        limit together, room for both in memory."""
        for score in range(min(limit - guest.score, JUMBO) + 1):
            for negative, host in self._lists.get((guest.gpus, score), ()):
                if guest.service > -negative * _MUCH_LONGER:
                    break
                if self._of[host].memory + guest.memory <= 1.0:
                    return host
        return None


def _entry(job: int, measured: Measured) -> tuple[float, int]:
    return -measured.service, job
