"""What a user's own past jobs predict: Helios' rolling estimate (SC'21).

For a user who ran jobs of a similar name, the mean of their run times, the recent ones counting
more; else those of the user's jobs with as many GPUs; for a new user, those of all jobs with as
many. Where no user is named, the group stands for the user. At a submission only jobs that had
ended before it are known.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.traces.columns import Coded, Floats, Ints, TraceColumns

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
    def of(cls, columns: TraceColumns, known_at: Floats) -> Known:
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
    middle: Floats, columns: TraceColumns, known: Known, *, levels: tuple[float, float] = (0.1, 0.9)
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


_SIMILAR = 0.7
_REMEMBERED = 20
_LETTERS = 60


def name_groups(owner: Ints, name: Coded) -> Ints:
    """The number of each job's group of names, found in order of submission: a name joins the
    newest group of its owner that it is similar to, or founds one."""
    groups: dict[tuple[int, int], int] = {}
    founders: defaultdict[int, deque[tuple[str, int]]] = defaultdict(
        lambda: deque(maxlen=_REMEMBERED)
    )
    found = np.empty(len(owner), dtype=np.int64)
    count = 0
    for job, key in enumerate(zip(owner.tolist(), name.codes.tolist(), strict=True)):
        group = groups.get(key)
        if group is None:
            theirs, word = founders[key[0]], name.words[key[1]][:_LETTERS]
            group = next((number for known, number in theirs if similar(word, known)), None)
            if group is None:
                group, count = count, count + 1
                theirs.appendleft((word, group))
            groups[key] = group
        found[job] = group
    return found


def similar(one: str, other: str) -> bool:
    longest = max(len(one), len(other))
    if abs(len(one) - len(other)) > (1 - _SIMILAR) * longest:
        return False
    return edit_distance(one, other) <= (1 - _SIMILAR) * longest


def edit_distance(one: str, other: str) -> int:
    """Levenshtein's distance, a column of its table at a time in the bits of a number (Myers)."""
    if not one or not other:
        return max(len(one), len(other))
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    up, down, distance = full, 0, len(one)
    for letter in other:
        same = places.get(letter, 0)
        diagonal = (((same & up) + up) ^ up) | same
        right, left = down | ~(diagonal | up) & full, up & diagonal
        distance += bool(right & last) - bool(left & last)
        right, left = (right << 1 | 1) & full, left << 1 & full
        same |= down
        up, down = left | ~(same | right) & full, right & same
    return distance


_FADES = 0.8
"""What a run counts for, compared to the next one with the same key."""


def owners(columns: TraceColumns) -> Ints:
    """A number for the owner of a job: the user, or the group where no user is named."""
    unnamed = np.array([not word for word in columns.user.words], dtype=bool)
    groups = columns.group.codes + len(columns.user.words)
    return np.where(unnamed[columns.user.codes], groups, columns.user.codes)


def keys(columns: TraceColumns) -> tuple[Ints, ...]:
    """What a job has in common with others, the most telling first."""
    owner = owners(columns)
    named = np.array([bool(word) for word in columns.name.words], dtype=bool)[columns.name.codes]
    sizes = np.unique(columns.gpus, return_inverse=True)[1]
    of_name = np.where(named, name_groups(owner, columns.name), -1)
    return of_name, owner * (int(sizes.max(initial=0)) + 1) + sizes, owner, sizes


class RollingMeans:
    """Of run times by what jobs share, `keys`, the most telling first."""

    def __init__(self, shared: tuple[Ints, ...]) -> None:
        self._rows = list(zip(*(key.tolist() for key in shared), strict=True))
        self._sums: list[dict[int, tuple[float, float]]] = [{} for _ in shared]

    def learn(self, job: int, duration_s: float) -> None:
        for sums, key in zip(self._sums, self._rows[job], strict=True):
            if key >= 0:
                total, weight = sums.get(key, (0.0, 0.0))
                sums[key] = _FADES * total + duration_s, _FADES * weight + 1.0

    def recall(self, job: int) -> float:
        """Seconds by the most telling key that a known job shares; `nan` where none does."""
        for sums, key in zip(self._sums, self._rows[job], strict=True):
            if key in sums:
                total, weight = sums[key]
                return total / weight
        return float("nan")


def rolling_mean(columns: TraceColumns, known: Known, shared: tuple[Ints, ...]) -> Floats:
    means = RollingMeans(shared)
    durations, order = columns.duration.tolist(), known.order.tolist()
    predicted = np.full(len(columns), np.nan)
    learnt = 0
    for job, count in enumerate(known.at_submission.tolist()):
        for ended in order[learnt:count]:
            means.learn(ended, durations[ended])
        learnt = count
        predicted[job] = means.recall(job)
    return predicted


def estimate(columns: TraceColumns, known_at: Floats) -> Estimates:
    """The default predictor of `sjf`, `ssf`, `srtf` and `srsf`."""
    known = Known.of(columns, known_at)
    middle = rolling_mean(columns, known, keys(columns))
    low, high = spread_around(middle, columns, known)
    return Estimates(low, middle, high, np.zeros(len(columns)), "history")
