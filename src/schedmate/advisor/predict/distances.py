"""How far jobs are from each other: 0 is alike in all that both of them state.

A metric: symmetric, and no way round over a third job is shorter. Kriging turns distances that
contradict each other into weights of any size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedmate.advisor.predict.runs import (
    QUANTITIES,
    TRAITS,
    Columns,
    Flags,
    Floats,
    Places,
)
from schedmate.advisor.predict.scaling import Scaling
from schedmate.model.sketch import WORDS

LOCAL = 0.25
"""Variance of what slopes and words do not explain, between jobs that are far apart."""
WORKLOAD = 1.0
"""Variance between workloads that have nothing in common."""
_UNRELATED = 32.0
"""Of 64 bits, in which code that has nothing in common differs."""
_ONE_SIDED = 0.5
"""Of what a difference counts: one of the two says nothing."""
_STATED = {
    "gpus": 1.0,
    "nodes": 1.0,
    "batch": 64.0,
    "steps": 10_000.0,
    "epochs": 10.0,
    "sequence_length": 1024.0,
    "model_parameters": 1e8,
    "d_model": 768.0,
    "n_layer": 12.0,
    "learning_rate": 3e-4,
    "flops": 300.0,
    "bandwidth": 1500.0,
}
_USUAL = np.log([_STATED.get(name, 1.0) for name in QUANTITIES])
"""What a job that does not state a number is taken to have. With a fixed distance to all others,
it would be a short way between two jobs that are far apart."""
_OWN = WORDS.index("user")
"""From there on words say whose a job is and how it is called, not what it is."""
_CODE = TRAITS.index("code")
_OWN_NAME = 0.7
_NUMBER = 0.15
_NUMBERS_OF_THE_JOB = 10
_ENOUGH_IN_COMMON = 1.0
"""Of the weights of what both state: with less, two jobs cannot be compared."""


def distances(one: Columns, other: Columns, scaling: Scaling) -> tuple[Floats, Floats]:
    """Between each and each, as variances: by words and code, and by numbers."""
    return distances_by_words(one, other, scaling), _by_numbers(one, other, scaling)


def distances_by_words(one: Columns, other: Columns, scaling: Scaling) -> Floats:
    total = np.zeros((len(one), len(other)))
    for place in _varied(one.traits, other.traits):
        mine, theirs = one.traits[:, None, place], other.traits[None, :, place]
        differs = _differing(mine, theirs)
        if place == _CODE:
            shapes = one.rows["shape"][:, None], other.rows["shape"][None, :]
            differs = _by_lines(*shapes, differs)
        total += scaling.unlike[place] * differs
    return total


def similarity(by_words: Floats, by_numbers: Floats) -> Floats:
    """From 0 to 1."""
    return np.exp(-by_words / WORKLOAD - by_numbers / LOCAL)


def comparable(one: Columns, other: Columns, scaling: Scaling) -> Flags:
    """Whether enough is stated by both; the same code always is."""
    mine, theirs = one.traits[:, None, :], other.traits[None, :, :]
    stated = (mine[..., :_OWN] != 0) & (theirs[..., :_OWN] != 0)
    own = (mine[..., _OWN : len(WORDS)] == theirs[..., _OWN : len(WORDS)]).all(axis=-1)
    numbers = np.s_[..., :_NUMBERS_OF_THE_JOB]
    known = ~np.isnan(one.quantities[numbers])[:, None] & ~np.isnan(other.quantities[numbers])
    both = stated @ np.array(scaling.unlike[:_OWN])
    both += _OWN_NAME * own + _NUMBER * known.sum(axis=-1)
    same_code = (mine[..., _CODE] == theirs[..., _CODE]) & (theirs[..., _CODE] != 0)
    return np.asarray((both >= _ENOUGH_IN_COMMON) | same_code)


def differing(one: Columns, other: Columns, place: int) -> Floats:
    """From 0 to 1: does each of one differ from its counterpart in this of the `TRAITS`?"""
    differs = _differing(one.traits[:, place], other.traits[:, place])
    if place == _CODE:
        differs = _by_lines(one.rows["shape"], other.rows["shape"], differs)
    return differs


def _differing(mine: Places, theirs: Places) -> Floats:
    differs: Floats = (mine != theirs).astype(float)
    if not (mine.all() and theirs.all()):
        differs[((mine == 0) | (theirs == 0)) & (mine != theirs)] = _ONE_SIDED
    return differs


def _by_lines(one: Any, other: Any, by_hash: Floats) -> Floats:
    """About the share of lines that two programs do not share.

    Where neither's lines are known, their hashes count; where only one's are, it is one-sided.
    """
    shared = np.minimum(np.bitwise_count(one ^ other) / _UNRELATED, 1.0)
    if one.all() and other.all():
        return np.asarray(shared)
    neither, both = (one == 0) & (other == 0), (one != 0) & (other != 0)
    return np.where(both, shared, np.where(neither, by_hash, _ONE_SIDED))


def _varied(one: Any, other: Any) -> list[int]:
    """Places in which not all are alike: the others add nothing, and are most of them."""
    if len(one) == 0 or len(other) == 0:
        return []
    differ = (other != one[0]).any(axis=0)
    if len(one) > 1:
        differ |= (one != one[0]).any(axis=0)
    places: list[int] = np.flatnonzero(differ).tolist()
    return places


def _by_numbers(one: Columns, other: Columns, scaling: Scaling) -> Floats:
    mine, theirs = np.isnan(one.quantities), np.isnan(other.quantities)
    filled = np.where(mine, _USUAL, one.quantities), np.where(theirs, _USUAL, other.quantities)
    total = np.zeros((len(one), len(other)))
    for place in _varied(*filled):
        apart = filled[0][:, None, place] - filled[1][None, :, place]
        total += scaling.rough[place] * np.abs(apart)
    for place in _varied(mine, theirs):
        one_sided = mine[:, None, place] ^ theirs[None, :, place]
        total += scaling.rough[place] * _ONE_SIDED * one_sided
    return total
