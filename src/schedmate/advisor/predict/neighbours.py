"""Past runs that a job resembles, in tiers: identical, same code, similar."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from schedmate.advisor.predict.runs import (
    BROKEN_OFF,
    COMPLETED,
    PLACE,
    QUANTITIES,
    TRAITS,
    Columns,
    Flags,
    Floats,
    columns_of,
    query_of,
    rows_of,
)
from schedmate.model import History
from schedmate.model.sketch import WORDS, Sketch, blocks, configuration

Tier = Literal["identical", "same_code", "similar"]
Ending = Literal["steps", "epochs", "open"]
"""What a run's length is stated in; `open`: in nothing, it ends when something is reached."""
_USER, _CODE = WORDS.index("user"), TRAITS.index("code")
_WEIGHTS = {"model": 1.0, "dataset": 0.5, "task": 0.5, "entry_point": 0.3}
_WEIGHTS |= {"user": 0.1, "name": 0.1, "code": 0.1}
_BY_TRAIT = np.array([_WEIGHTS.get(name, 0.05) for name in TRAITS])
"""How far two jobs are apart that differ in one of the `TRAITS`."""
_ROUGH = {"unlinked": 0.2, "steps": 4e-4, "epochs": 4e-4}
_BY_NUMBER = np.array([_ROUGH.get(name, 0.08) for name in QUANTITIES])
"""And two that are one apart in a quantity."""
_STATED = {"batch": 64.0, "steps": 1e4, "epochs": 10.0, "sequence_length": 1024.0}
_STATED |= {"model_parameters": 1e8, "d_model": 768.0, "n_layer": 12.0, "learning_rate": 3e-4}
_STATED |= {"flops": 300.0, "bandwidth": 1500.0}
_USUAL = np.log([_STATED.get(name, 1.0) for name in QUANTITIES])
"""What a job that does not state a number is taken to have. With a fixed distance to all others,
it would be a short way between two jobs that are far apart."""
_ONE_SIDED = 0.5
"""Of what a difference counts: one of the two says nothing."""
_UNRELATED = 32.0
"""Of 64 bits, in which code that has nothing in common differs."""
EDITED = 6
"""Bits in which the shapes of two versions of one code differ at most; of two codes, more."""
_OWN_NAME, _NUMBER, _ENOUGH_IN_COMMON = 0.7, 0.15, 1.0
"""What stating the same counts for, and how much of it two jobs need to be compared at all."""
_NUMBERS_OF_THE_JOB = 10
_NO_MATCH_BELOW = 0.2
_SAME_KIND = 0.5
"""Of those that are close, only such count as differ no more by words from the nearest."""
_LOOKED_AT = 150
"""Configurations whose runs are looked at, the most similar ones."""
_REPEATS = 20
"""Runs of one configuration that count, the newest ones."""
_HARDWARE = [PLACE[name] for name in ("flops", "bandwidth", "unlinked")]


def distances(one: Columns, other: Columns) -> tuple[Floats, Floats]:
    """Between each and each, by words and code, and by numbers: 0 is alike in all that both state.

    A metric: symmetric, and no way round over a third job is shorter.
    """
    mine, theirs = one.traits[:, None], other.traits[None]
    differs = np.where((mine == 0) | (theirs == 0), _ONE_SIDED, 1.0) * (mine != theirs)
    shapes = one.rows["shape"][:, None], other.rows["shape"][None]
    lines = np.minimum(np.bitwise_count(shapes[0] ^ shapes[1]) / _UNRELATED, 1.0)
    stated = (shapes[0] != 0).astype(int) + (shapes[1] != 0)
    by_hash = differs[..., _CODE]
    differs[..., _CODE] = np.where(stated == 1, _ONE_SIDED, np.where(stated == 0, by_hash, lines))
    unknown = np.isnan(one.quantities), np.isnan(other.quantities)
    first = np.where(unknown[0], _USUAL, one.quantities)[:, None]
    second = np.where(unknown[1], _USUAL, other.quantities)[None]
    apart = np.abs(first - second) + _ONE_SIDED * (unknown[0][:, None] ^ unknown[1][None])
    return differs @ _BY_TRAIT, apart @ _BY_NUMBER


def comparable(query: Columns, runs: Columns) -> Flags:
    """Whether enough is stated by both; the same code always is."""
    mine, theirs = query.traits[0], runs.traits
    stated = (mine[:_USER] != 0) & (theirs[:, :_USER] != 0)
    own = (mine[_USER : len(WORDS)] == theirs[:, _USER : len(WORDS)]).all(axis=1)
    known = ~np.isnan(query.quantities[0] + runs.quantities)[:, :_NUMBERS_OF_THE_JOB]
    both = stated @ _BY_TRAIT[:_USER] + _OWN_NAME * own + _NUMBER * known.sum(axis=1)
    same_code = (theirs[:, _CODE] == mine[_CODE]) & (mine[_CODE] != 0)
    return np.asarray((both >= _ENOUGH_IN_COMMON) | same_code)


@dataclass
class Neighbours:
    """Runs that a job is predicted from, newest first: those of the tier, and all close ones."""

    tier: Tier
    query: Columns
    sketch: Sketch
    runs: Columns
    in_tier: Flags
    void: Ending | None = None
    """What they state their length in, where that has said nothing of how long they take."""

    @cached_property
    def apart(self) -> tuple[Floats, Floats]:
        by_words, by_numbers = distances(self.query, self.runs)
        return by_words[0], by_numbers[0]

    @property
    def similarity(self) -> Floats:
        """From 0 to 1."""
        return np.asarray(np.exp(-self.apart[0] - self.apart[1]))

    @cached_property
    def completed(self) -> Flags:
        return np.asarray(self.runs.rows["ending"] == COMPLETED)

    @cached_property
    def unbroken(self) -> Flags:
        """Those that no error ended."""
        return np.asarray(self.runs.rows["ending"] != BROKEN_OFF)

    @property
    def none_ended(self) -> bool:
        """All of the tier broke off, so none of them shows how long they take."""
        return not (self.in_tier & self.unbroken).any()

    @cached_property
    def counted(self) -> Flags:
        """Those whose durations count: the completed ones, if there are any in the tier, else those
        that no error ended; what broke off counts only where there is nothing else."""
        for which in (self.completed, self.unbroken):
            if (self.in_tier & which).any():
                return which
        return np.ones(len(self.runs), bool)

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
        return Neighbours(
            "same_code" if self.of_the_code[members].all() else "similar",
            self.query,
            replace(self.sketch, open_ended=True),
            self.runs.take(members),
            np.ones(int(members.sum()), bool),
            void,
        )


def find_neighbours(
    history: History, sketch: Sketch, *, submitted_at: float | None = None, at: float | None = None
) -> Neighbours | None:
    """The best tier that has a run which completed, else one that did not break off, else any.

    What ended after `submitted_at` is not known yet; `at` is when it runs, if that is another time.
    """
    query = query_of(sketch, at or submitted_at or 0.0)
    keys = blocks(sketch, configuration(query.rows.tobytes()))
    found = columns_of(rows_of(history.sketches(keys)))
    if len(found) == 0:
        return None
    if not (at or submitted_at):
        query = query_of(sketch, float(found.rows["end"].max()))
    _unsay_new_words(query, found)
    if len(found) > _LOOKED_AT:
        alike = np.exp(-np.sum(distances(query, found), axis=0)[0])
        same_code = (found.rows["code"] == sketch.code) & (sketch.code != 0)
        found = found.take(np.argsort(-alike - same_code, kind="stable")[:_LOOKED_AT])
    runs = columns_of(rows_of(history.repeats(found.rows["run"].tolist(), limit=_REPEATS)))
    known = runs.rows["end"] <= (math.inf if submitted_at is None else submitted_at)
    runs = runs.take(known & (runs.rows["duration"] > 0))
    return _best_tier(query, sketch, runs.take(np.argsort(-runs.rows["end"], kind="stable")))


def _unsay_new_words(query: Columns, found: Columns) -> None:
    """A name that was never used before says nothing: it may be new for what is known well."""
    words = query.traits[0, : len(WORDS)]
    used = (found.traits[:, : len(WORDS)] == words).any(axis=0)
    used[_USER] = True
    words[~used] = 0


def _best_tier(query: Columns, sketch: Sketch, runs: Columns) -> Neighbours | None:
    every = Neighbours("similar", query, sketch, runs, np.ones(len(runs), bool))
    same_code, close = every.of_the_code, _close(every)
    identical = same_code & _repeated(query, runs)
    tiers: tuple[tuple[Tier, Flags], ...] = (
        ("identical", identical & every.own),  # what others set around the words is not known
        ("identical", identical),
        ("same_code", same_code),
        ("similar", close),
    )
    kept = close | same_code
    for ended in (every.completed, every.unbroken, np.ones(len(runs), bool)):
        for tier, members in tiers:
            if (members & ended).any():
                return Neighbours(tier, query, sketch, runs.take(kept), members[kept])
    return None


def _close(every: Neighbours) -> Flags:
    """Similar enough, and of the kind of the nearest."""
    alike = every.similarity
    close = (alike >= _NO_MATCH_BELOW) & comparable(every.query, every.runs)
    if close.any():
        nearest = every.runs.take([int(np.argmax(np.where(close, alike, -1.0)))])
        close &= distances(nearest, every.runs)[0][0] <= _SAME_KIND
    return np.asarray(close)


def _repeated(query: Columns, runs: Columns) -> Flags:
    """Which of them had the same arguments, on the same hardware as far as both state it."""
    same = runs.rows["arguments"] == query.rows["arguments"][0]
    either_unknown = (runs.gpus == 0) | (query.gpus[0] == 0)
    differs: Any = np.abs(query.quantities[0, _HARDWARE] - runs.quantities[:, _HARDWARE]) > 0
    alike = (runs.gpus == query.gpus[0]) & ~differs.any(axis=1)
    return np.asarray(same & (either_unknown | alike))
