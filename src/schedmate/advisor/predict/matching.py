"""Past runs that a job resembles, in tiers: identical, same code, similar."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from schedmate.advisor.predict.closeness import comparable, distances, similarity
from schedmate.advisor.predict.columns import (
    COMPLETED,
    PLACE,
    Columns,
    Flags,
    Floats,
    Places,
    columns_of,
    query_of,
    rows_of,
)
from schedmate.advisor.predict.scaling import Scaling
from schedmate.advisor.target import Target
from schedmate.model import Fingerprint, History, Workload
from schedmate.model.sketch import WORDS, Sketch, blocks, configuration, sketch_of

Tier = Literal["identical", "same_code", "similar"]
TIERS: tuple[Tier, ...] = ("identical", "same_code", "similar")
_USER = WORDS.index("user")
_LOOKED_AT = 150
"""Configurations whose runs are looked at, the most similar ones."""
_SAME_KIND = 0.5
"""Of those that are close, only such count as differ no more (variance) from the nearest."""
_HARDWARE = [PLACE[name] for name in ("flops", "bandwidth", "unlinked")]
_REPEATS = 20
"""Runs of one configuration that count, the newest ones."""


@dataclass(frozen=True, slots=True)
class Likes:
    """Runs that are like a job, newest first: those of the tier, and all that are close."""

    tier: Tier
    query: Columns
    sketch: Sketch
    runs: Columns
    similarity: Floats
    in_tier: Flags

    @property
    def completed(self) -> Flags:
        return np.asarray(self.runs.rows["ending"] == COMPLETED)

    @property
    def telling(self) -> Flags:
        """Of the tier, those whose durations count: the completed ones, if there are any."""
        well = self.in_tier & self.completed
        return well if well.any() else self.in_tier


def sketch_of_target(target: Target, fingerprint: Fingerprint | None, workload: Workload) -> Sketch:
    return sketch_of(
        workload,
        user=target.user,
        name=target.name,
        request=target.request,
        fingerprint=fingerprint,
    )


def find_likes(
    history: History,
    target: Target,
    sketch: Sketch,
    scaling: Scaling,
    *,
    at: float | None = None,
) -> Likes | None:
    """The best tier that has a run which went well, else the best that has any."""
    keys = blocks(sketch, configuration(query_of(sketch, 0.0).rows.tobytes()))
    found = columns_of(rows_of(history.sketches(keys)))
    if len(found) == 0:
        return None
    newest = float(found.rows["end"].max())
    query = query_of(sketch, at or target.submitted_at or newest)
    _unsay_new_words(query, found)
    found = found.take(_closest(query, found, scaling))
    packed = history.repeats(found.rows["run"].tolist(), limit=_REPEATS)
    runs = _ended_before(columns_of(rows_of(packed)), target)
    if len(runs) == 0:
        return None
    by_words, by_numbers = distances(query, runs, scaling)
    alike = similarity(by_words, by_numbers)[0]
    close = (alike >= scaling.no_match_below) & comparable(query, runs, scaling)[0]
    if close.any():
        nearest = runs.take([int(np.argmax(np.where(close, alike, -1.0)))])
        close &= distances(nearest, runs, scaling)[0][0] <= _SAME_KIND
    return _best_tier(query, sketch, runs, alike, close)


def same_code_likes(sketch: Sketch, runs: Columns, at: float) -> Likes | None:
    """Among runs of the very code of a job: the tier that a search for others would find as well.
    None where none of them went well: then it takes that search."""
    usable = np.flatnonzero(runs.rows["duration"] > 0)
    runs = runs.take(usable[np.argsort(-runs.rows["end"][usable], kind="stable")])
    if len(runs) == 0:
        return None
    query = query_of(sketch, at)
    _unsay_new_words(query, runs)
    likes = _best_tier(query, sketch, runs, np.ones(len(runs)), np.ones(len(runs), bool))
    return likes if likes is not None and (likes.in_tier & likes.completed).any() else None


def _unsay_new_words(query: Columns, found: Columns) -> None:
    """A name that nobody used before says nothing: it may be new for what is known well."""
    for place in range(len(WORDS)):
        if (
            place != _USER
            and not (found.rows["words"][:, place] == query.rows["words"][0, place]).any()
        ):
            query.rows["words"][0, place] = 0


def _similarity(query: Columns, runs: Columns, scaling: Scaling) -> Floats:
    return np.asarray(similarity(*distances(query, runs, scaling))[0])


def _closest(query: Columns, found: Columns, scaling: Scaling) -> Places:
    """The same code first, whatever its numbers; then the most similar."""
    same_code = (found.rows["code"] == query.rows["code"]) & (found.rows["code"] != 0)
    return np.argsort(-_similarity(query, found, scaling) - same_code, kind="stable")[:_LOOKED_AT]


def _ended_before(runs: Columns, target: Target) -> Columns:
    """Nothing is predicted from a job's future, nor from what never ran."""
    at = math.inf if target.submitted_at is None else target.submitted_at
    usable = np.flatnonzero((runs.rows["duration"] > 0) & (runs.rows["end"] <= at))
    return runs.take(usable[np.argsort(-runs.rows["end"][usable], kind="stable")])


def repeated(query: Columns, runs: Columns) -> Flags:
    """Which of them had the same arguments, on the same hardware as far as both state it."""
    same = np.asarray(runs.rows["arguments"] == query.rows["arguments"][0])
    either_unknown = (runs.gpus == 0) | (query.gpus[0] == 0)
    mine, theirs = query.quantities[0, _HARDWARE], runs.quantities[:, _HARDWARE]
    alike = (runs.gpus == query.gpus[0]) & ~(np.abs(mine - theirs) > 0).any(axis=1)
    return np.asarray(same & (either_unknown | alike))


def _best_tier(
    query: Columns, sketch: Sketch, runs: Columns, alike: Floats, close: Flags
) -> Likes | None:
    same_code = (runs.rows["code"] == sketch.code) & (sketch.code != 0)
    identical = same_code & repeated(query, runs)
    fallback: Likes | None = None
    for tier, members in zip(TIERS, (identical, same_code, close), strict=True):
        if not members.any():
            continue
        kept = np.flatnonzero(members | close | same_code)
        kept = kept[np.argsort(-alike[kept], kind="stable")]
        likes = Likes(tier, query, sketch, runs.take(kept), alike[kept], members[kept])
        if (likes.in_tier & likes.completed).any():
            return likes
        fallback = fallback or likes
    return fallback
