"""Past runs that a job resembles, in tiers: identical, same code, similar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from schedmate.advisor.predict.distances import (
    comparable,
    distances,
    distances_by_words,
    similarity,
)
from schedmate.advisor.predict.runs import (
    BROKEN_OFF,
    COMPLETED,
    PLACE,
    Columns,
    Flags,
    Floats,
    columns_of,
    query_of,
    rows_of,
)
from schedmate.advisor.predict.scaling import Ending, Scaling
from schedmate.model import History
from schedmate.model.sketch import WORDS, Sketch, blocks

Tier = Literal["identical", "same_code", "similar"]
_USER = WORDS.index("user")
_LOOKED_AT = 150
"""Configurations whose runs are looked at, the most similar ones."""
_SAME_KIND = 0.5
"""Of those that are close, only such count as differ no more (variance) from the nearest."""
_HARDWARE = [PLACE[name] for name in ("flops", "bandwidth", "unlinked")]
EDITED = 6
"""Bits in which the shapes of two versions of one code differ at most; of two codes, more."""
_REPEATS = 20
"""Runs of one configuration that count, the newest ones."""


class Pool:
    """Runs that a job may resemble, newest first, and what was computed of them.

    None of it depends on the job, so a pool that several jobs share computes it once.
    """

    def __init__(self, runs: Columns) -> None:
        usable = np.flatnonzero(runs.rows["duration"] > 0)
        newest_first = np.argsort(-runs.rows["end"][usable], kind="stable")
        self.runs = runs.take(usable[newest_first])
        self.kept: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.runs)

    @cached_property
    def completed(self) -> Flags:
        return np.asarray(self.runs.rows["ending"] == COMPLETED)

    @cached_property
    def unbroken(self) -> Flags:
        """Those that no error ended."""
        return np.asarray(self.runs.rows["ending"] != BROKEN_OFF)

    @cached_property
    def bounded(self) -> Flags:
        """Those that end after so many steps or epochs."""
        return np.asarray(self.runs.rows["open_ended"] == 0)

    @cached_property
    def code(self) -> int:
        """The one code of them all; 0 where they have several, or it is not known."""
        codes = self.runs.rows["code"]
        return int(codes[0]) if len(codes) and (codes == codes[0]).all() else 0


class PastRuns(Protocol):
    """What a search for neighbours asks a history for."""

    def candidates(self, keys: Sequence[int]) -> Columns:
        """The newest run of each configuration that shares one of the keys."""

    def pool(self, numbers: Sequence[int], *, repeats: int) -> Pool:
        """The newest runs of the configurations of those runs."""


@dataclass(frozen=True, slots=True)
class StoredRuns:
    """The past runs of a history that keeps them as packed rows."""

    history: History

    def candidates(self, keys: Sequence[int]) -> Columns:
        return columns_of(rows_of(self.history.sketches(keys)))

    def pool(self, numbers: Sequence[int], *, repeats: int) -> Pool:
        return Pool(columns_of(rows_of(self.history.repeats(numbers, limit=repeats))))


@dataclass(slots=True)
class Neighbours:
    """The runs of a pool that a job is predicted from: those of the tier, and all that are close.

    `which` are their places in the pool, newest first.
    """

    tier: Tier
    query: Columns
    sketch: Sketch
    pool: Pool
    scaling: Scaling
    which: Any
    in_tier: Flags
    apart: tuple[Floats, Floats] | None = None
    """Distances by words and by numbers to all runs of the pool, where they were needed."""
    void: Ending | None = None
    """What they state their length in, where that has said nothing of how long they take."""
    _runs: Columns | None = field(default=None, repr=False)

    @property
    def runs(self) -> Columns:
        if self._runs is None:
            self._runs = self.pool.runs.take(self.which)
        return self._runs

    @property
    def completed(self) -> Flags:
        return np.asarray(self.pool.completed[self.which])

    @property
    def none_ended(self) -> bool:
        """All of the tier broke off, so none of them shows how long they take."""
        return not (self.in_tier & self.pool.unbroken[self.which]).any()

    @property
    def counted(self) -> Flags:
        """Those whose durations count: the completed ones, if there are any in the tier, else those
        that no error ended; what broke off counts only where there is nothing else."""
        for which in (self.completed, self.pool.unbroken[self.which]):
            if (self.in_tier & which).any():
                return np.asarray(which)
        return np.ones(len(self.in_tier), bool)

    @property
    def telling(self) -> Flags:
        """Those of the tier whose durations count."""
        return np.asarray(self.in_tier & self.counted)

    @property
    def own(self) -> Flags:
        """Those of the same user."""
        return np.asarray(self.runs.rows["words"][:, _USER] == self.sketch.word("user"))

    @property
    def of_the_code(self) -> Flags:
        return np.asarray((self.runs.rows["code"] == self.sketch.code) & (self.sketch.code != 0))

    @property
    def of_nearly_the_code(self) -> Flags:
        """Of the same code, or of another version of it."""
        shapes = self.runs.rows["shape"]
        near = np.bitwise_count(shapes ^ np.uint64(self.sketch.shape)) <= EDITED
        return np.asarray(self.of_the_code | (near & (shapes != 0) & (self.sketch.shape != 0)))

    def without_length(self, members: Flags, void: Ending) -> Neighbours:
        """These alone, of which the stated length says nothing."""
        which = np.arange(len(self.pool))[self.which][members]
        return replace(
            self,
            tier="same_code" if self.of_the_code[members].all() else "similar",
            sketch=replace(self.sketch, open_ended=True),
            which=which,
            in_tier=np.ones(len(which), bool),
            void=void,
            _runs=None,
        )

    @property
    def similarity(self) -> Floats:
        if self.apart is not None:
            return np.asarray(similarity(*self.apart)[self.which])
        return _similarity(self.query, self.runs, self.scaling)


def find_neighbours(
    past: PastRuns,
    sketch: Sketch,
    scaling: Scaling,
    *,
    submitted_at: float | None = None,
    at: float | None = None,
) -> Neighbours | None:
    """The best tier that has a run which completed, else one that did not break off, else any.

    What ended after `submitted_at` is not known yet; `at` is when it runs, if that is another time.
    """
    query = query_of(sketch, at or submitted_at or 0.0)
    found = past.candidates(blocks(sketch, int(query.configurations[0])))
    if len(found) == 0:
        return None
    if not (at or submitted_at):
        query = query_of(sketch, float(found.rows["end"].max()))
    _unsay_new_words(query, found)
    if len(found) > _LOOKED_AT:
        found = _closest(query, found, scaling)
    pool = past.pool(found.rows["run"].tolist(), repeats=_REPEATS)
    known = math.inf if submitted_at is None else submitted_at
    if len(pool) and pool.runs.rows["end"][0] > known:
        pool = Pool(pool.runs.take(pool.runs.rows["end"] <= known))
    return _best_tier(query, sketch, pool, scaling) if len(pool) else None


def _unsay_new_words(query: Columns, found: Columns) -> None:
    """A name that was never used before says nothing: it may be new for what is known well."""
    words = query.traits[0, : len(WORDS)]
    used = (found.traits[:, : len(WORDS)] == words).any(axis=0)
    used[_USER] = True
    words[~used] = 0


def _similarity(query: Columns, runs: Columns, scaling: Scaling) -> Floats:
    return np.asarray(similarity(*distances(query, runs, scaling))[0])


def _closest(query: Columns, found: Columns, scaling: Scaling) -> Columns:
    """The same code first, whatever its numbers; then the most similar."""
    same_code = (found.rows["code"] == query.rows["code"]) & (found.rows["code"] != 0)
    alike = _similarity(query, found, scaling) + same_code
    return found.take(np.argsort(-alike, kind="stable")[:_LOOKED_AT])


def _best_tier(query: Columns, sketch: Sketch, pool: Pool, scaling: Scaling) -> Neighbours | None:
    runs = pool.runs
    if pool.code and pool.code == sketch.code:  # similarity adds none to those of the same code
        same_code = close = np.ones(len(runs), bool)
        apart = None
    else:
        same_code = (runs.rows["code"] == sketch.code) & (sketch.code != 0)
        by_words, by_numbers = distances(query, runs, scaling)
        apart = by_words[0], by_numbers[0]
        close = _close(query, runs, apart, scaling)
    identical = same_code & repeated(query, runs)
    kept = close | same_code
    own = runs.rows["words"][:, _USER] == sketch.word("user")
    tiers: tuple[tuple[Tier, Flags], ...] = (
        ("identical", identical & own),  # what others set around the same words is not known
        ("identical", identical),
        ("same_code", same_code),
        ("similar", close),
    )
    which = slice(None) if kept.all() else np.flatnonzero(kept)
    for ended in (pool.completed, pool.unbroken, np.ones(len(runs), bool)):
        for tier, members in tiers:
            if (members & ended).any():
                return Neighbours(tier, query, sketch, pool, scaling, which, members[which], apart)
    return None


def _close(query: Columns, runs: Columns, apart: tuple[Floats, Floats], scaling: Scaling) -> Flags:
    """Similar enough, and of the kind of the nearest."""
    alike = similarity(*apart)
    close = (alike >= scaling.no_match_below) & comparable(query, runs, scaling)[0]
    if close.any():
        nearest = runs.take([int(np.argmax(np.where(close, alike, -1.0)))])
        close &= distances_by_words(nearest, runs, scaling)[0] <= _SAME_KIND
    return np.asarray(close)


def repeated(query: Columns, runs: Columns) -> Flags:
    """Which of them had the same arguments, on the same hardware as far as both state it."""
    same = np.asarray(runs.rows["arguments"] == query.rows["arguments"][0])
    if not same.any():
        return same
    either_unknown = (runs.gpus == 0) | (query.gpus[0] == 0)
    mine, theirs = query.quantities[0, _HARDWARE], runs.quantities[:, _HARDWARE]
    alike = (runs.gpus == query.gpus[0]) & ~(np.abs(mine - theirs) > 0).any(axis=1)
    return np.asarray(same & (either_unknown | alike))
