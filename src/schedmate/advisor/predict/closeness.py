"""How far jobs are from each other: 0 is alike in all that both of them state.

A metric: symmetric, and no way round over a third job is shorter. Kriging turns distances that
contradict each other into weights of any size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedmate.advisor.predict.columns import QUANTITIES, Columns, Flags, Floats, Rows
from schedmate.advisor.predict.scaling import TRAITS, Scaling
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
_USER, _NAME = WORDS.index("user"), WORDS.index("name")
_OWN_NAME = 0.7
_NUMBER = 0.15
_ENOUGH_IN_COMMON = 1.0
"""Of the weights of what both state: with less, two jobs cannot be compared."""


def distances(one: Columns, other: Columns, scaling: Scaling) -> tuple[Floats, Floats]:
    """Between each and each, as variances: by words and code, and by numbers."""
    return _by_words(one, other, scaling), _by_numbers(one.quantities, other.quantities, scaling)


def similarity(by_words: Floats, by_numbers: Floats) -> Floats:
    """From 0 to 1."""
    return np.exp(-by_words / WORKLOAD - by_numbers / LOCAL)


def comparable(one: Columns, other: Columns, scaling: Scaling) -> Flags:
    """Whether enough is stated by both; the same code always is."""
    both = np.zeros((len(one), len(other)))
    for place, weight in enumerate(scaling.unlike[: len(WORDS)]):
        if place not in (_USER, _NAME):
            both += weight * _both_state(one.rows, other.rows, place)
    own = _same(one.rows, other.rows, _USER) & _same(one.rows, other.rows, _NAME)
    known = ~np.isnan(one.quantities[:, None, :]) & ~np.isnan(other.quantities[None, :, :])
    both += _OWN_NAME * own + _NUMBER * known[:, :, :_NUMBERS_OF_THE_JOB].sum(axis=-1)
    same_code = (one.rows["code"][:, None] == other.rows["code"]) & (other.rows["code"] != 0)
    return np.asarray((both >= _ENOUGH_IN_COMMON) | same_code)


_NUMBERS_OF_THE_JOB = 10


def differing(one: Columns, other: Columns, place: int) -> Floats:
    """From 0 to 1: do they differ in this of the `TRAITS`?"""
    mine, theirs = _trait(one, place), _trait(other, place)
    unsaid = (mine == 0) | (theirs == 0)
    differs = np.where(mine == theirs, 0.0, np.where(unsaid, _ONE_SIDED, 1.0))
    if TRAITS[place] == "code":
        differs = _by_lines(one.rows["shape"], other.rows["shape"], differs)
    return differs


def _by_lines(one: Any, other: Any, by_hash: Floats) -> Floats:
    """About the share of lines that two programs do not share.

    Where neither's lines are known, their hashes count; where only one's are, it is one-sided.
    """
    shared = np.minimum(np.bitwise_count(one ^ other) / _UNRELATED, 1.0)
    neither, both = (one == 0) & (other == 0), (one != 0) & (other != 0)
    return np.where(both, shared, np.where(neither, by_hash, _ONE_SIDED))


def _trait(columns: Columns, place: int) -> Any:
    if place < len(WORDS):
        return columns.rows["words"][..., place]
    return columns.gpus if TRAITS[place] == "gpu" else columns.rows["code"]


def _by_words(one: Columns, other: Columns, scaling: Scaling) -> Floats:
    total = np.zeros((len(one), len(other)))
    down, across = np.s_[:, None], np.s_[None, :]
    mine, theirs = one.take(down), other.take(across)
    for place in _varied(_traits(one), _traits(other)):
        total += scaling.unlike[place] * differing(mine, theirs, place)
    return total


def _traits(columns: Columns) -> Any:
    words = columns.rows["words"].astype(np.int64)
    return np.column_stack([words, columns.rows["code"], columns.gpus.astype(np.int64)])


def _varied(one: Any, other: Any) -> list[int]:
    """Places in which not all are alike: the others add nothing, and are most of them."""
    both = np.concatenate([one, other])
    if len(both) == 0:
        return []
    alike = (both == both[0]) | ((both != both) & (both[0] != both[0]))  # noqa: PLR0124 - NaN
    places: list[int] = np.flatnonzero(~alike.all(axis=0)).tolist()
    return places


def _by_numbers(one: Floats, other: Floats, scaling: Scaling) -> Floats:
    varied = _varied(one, other)
    one, other, usual = one[:, varied], other[:, varied], _USUAL[varied]
    mine, theirs = np.isnan(one), np.isnan(other)
    one_sided = mine[:, None, :] ^ theirs[None, :, :]
    one, other = np.where(mine, usual, one), np.where(theirs, usual, other)
    apart = np.abs(one[:, None, :] - other[None, :, :])
    return np.asarray((apart + _ONE_SIDED * one_sided) @ np.array(scaling.rough)[varied])


def _same(one: Rows, other: Rows, place: int) -> Flags:
    return np.asarray(one["words"][:, place][:, None] == other["words"][:, place][None, :])


def _both_state(one: Rows, other: Rows, place: int) -> Flags:
    return np.asarray(
        (one["words"][:, place][:, None] != 0) & (other["words"][:, place][None, :] != 0)
    )
