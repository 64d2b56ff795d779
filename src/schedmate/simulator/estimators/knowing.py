"""What is known when: at a submission, only of jobs that had ended before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from schedmate.simulator.columns import Columns, Floats, Ints

_FIRST = 100
_GROWTH = 1.1
_NEWEST = 30_000
_JUDGED = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Jobs in the order in which they become known, and how many of them are at each submission."""

    order: Ints
    at_submission: Ints

    @classmethod
    def of(cls, columns: Columns, known_at: Floats) -> Known:
        order = np.argsort(known_at, kind="stable")
        return cls(order, np.searchsorted(known_at[order], columns.submit, side="left"))

    def blocks(self) -> Iterator[tuple[slice, Ints]]:
        """Stretches of submissions, and the newest jobs that are known when each begins.

        A new one begins whenever a tenth more is known: late enough to be cheap, and mostly earlier
        than the papers' trainings, which are a month or a week apart.
        """
        first = int(np.searchsorted(self.at_submission, _FIRST))
        while first < len(self.at_submission):
            known = int(self.at_submission[first])
            last = int(np.searchsorted(self.at_submission, int(known * _GROWTH) + 1))
            yield slice(first, last), self.order[max(0, known - _NEWEST) : known]
            first = last


def spread_around(
    middle: Floats, columns: Columns, known: Known, *, levels: tuple[float, float] = (0.1, 0.9)
) -> tuple[Floats, Floats]:
    """How far off earlier estimates were, put around the new ones; `nan` while none is judged."""
    low, high = np.full(len(middle), np.nan), np.full(len(middle), np.nan)
    off = np.log(np.maximum(columns.duration, 1.0)) - np.log(np.maximum(middle, 1.0))
    for stretch, ended in known.blocks():
        judged = off[ended[-_JUDGED:]]
        judged = judged[np.isfinite(judged)]
        if len(judged):
            below, above = np.quantile(judged, levels)
            low[stretch] = middle[stretch] * np.exp(min(0.0, float(below)))
            high[stretch] = middle[stretch] * np.exp(max(0.0, float(above)))
    return low, high
