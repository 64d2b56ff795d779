"""Runs that nothing tells apart, taken together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedmate.advisor.predict.columns import Columns, Floats, Places

_KEY = ("numbers", "words", "code", "arguments", "shape", "gpu", "open_ended")
_LEAST_S = 1e-3
_ODD = 0.25
"""Squared difference (log) that one run counts at most: one that hung says little of the others."""


@dataclass(frozen=True, slots=True)
class Configurations:
    """`columns` holds the newest run of each; the rest is about all its runs."""

    columns: Columns
    log_s: Floats
    """The median of what they took after start-up."""
    count: Floats
    deviation: Floats
    """Sum of the squared differences from that median."""

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, which: Places) -> Configurations:
        return Configurations(
            self.columns.take(which), self.log_s[which], self.count[which], self.deviation[which]
        )


def grouped(columns: Columns, seconds: Floats) -> Configurations:
    """`seconds` is what each of the runs took after start-up."""
    logs = np.log(np.maximum(seconds, _LEAST_S))
    which = _configuration(columns)
    order = np.lexsort((-columns.rows["end"], which))
    starts = np.flatnonzero(np.r_[True, np.diff(which[order]) > 0])
    counts = np.diff(np.r_[starts, len(which)])
    medians = _medians(logs[np.lexsort((logs, which))], starts, counts)
    off = np.minimum((logs[order] - np.repeat(medians, counts)) ** 2, _ODD)
    return Configurations(
        columns.take(order[starts]),
        medians,
        counts.astype(float),
        np.add.reduceat(off, starts) if len(starts) else off,
    )


def _medians(ordered: Floats, starts: Places, counts: Places) -> Floats:
    """Of each stretch of values that are in order."""
    below, above = starts + (counts - 1) // 2, starts + counts // 2
    return np.asarray((ordered[below] + ordered[above]) / 2)


def _configuration(columns: Columns) -> Places:
    rows = columns.rows
    wanted = [
        np.ascontiguousarray(rows[name]).view(np.uint8).reshape(len(rows), -1) for name in _KEY
    ]
    together = np.ascontiguousarray(np.hstack(wanted))
    whole = together.view(np.dtype((np.void, together.shape[1]))).ravel()
    return np.asarray(np.unique(whole, return_inverse=True)[1], np.intp)


def repeat_variance(found: Configurations, believed: float, *, belief: float = 3.0) -> float:
    """Between runs of one configuration, where some ran more than once."""
    freedom = float((found.count - 1).sum())
    return (belief * believed + float(found.deviation.sum())) / (belief + freedom)
