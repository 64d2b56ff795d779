"""Kinds of jobs that people ask about: by size, by length, by who submitted them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from schedmate.simulator.columns import Coded, Columns, Floats, Ints

_GPU_BORDERS = (1, 2, 4, 8, 16, 32, 64)
_LENGTHS = (
    (600.0, "under 10 min"),
    (3600.0, "10 min to 1 h"),
    (6 * 3600.0, "1 to 6 h"),
    (86400.0, "6 h to 1 d"),
    (np.inf, "over 1 d"),
)
_SHOWN_NAMES = 12


@dataclass(frozen=True, slots=True, eq=False)
class JobClass:
    kind: str
    label: str
    jobs: Ints


def by_gpus(columns: Columns) -> list[JobClass]:
    """1, 2, 3 to 4, 5 to 8 … GPUs, those that are there."""
    largest = _GPU_BORDERS[-1]
    labels = [_gpu_label(low + 1, high) for low, high in _pairs()] + [f"over {largest} GPUs"]
    which = np.searchsorted(np.array(_GPU_BORDERS), columns.gpus)
    return _split("GPUs", labels, which)


def by_length(columns: Columns) -> list[JobClass]:
    """How long they run in the trace."""
    borders = np.array([border for border, _ in _LENGTHS])
    which = np.searchsorted(borders, columns.duration, side="right")
    labels = [label for _, label in _LENGTHS]
    return _split("run time", labels, np.minimum(which, len(labels) - 1))


def by_group(columns: Columns) -> list[JobClass]:
    return _largest("group", columns.group, columns)


def by_user(columns: Columns) -> list[JobClass]:
    return _largest("user", columns.user, columns)


def mean_per_word(column: Coded, values: Floats) -> Floats:
    """The mean over each word's jobs; `nan` for words without jobs."""
    count = np.bincount(column.codes, minlength=len(column.words))
    total = np.bincount(column.codes, values, len(column.words))
    mean: Floats = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return mean


def _pairs() -> Iterator[tuple[int, int]]:
    yield from zip((0, *_GPU_BORDERS[:-1]), _GPU_BORDERS, strict=True)


def _gpu_label(low: int, high: int) -> str:
    if high == 1:
        return "1 GPU"
    return f"{high} GPUs" if low == high else f"{low} to {high} GPUs"


def _split(kind: str, labels: list[str], which: Ints) -> list[JobClass]:
    members = [np.flatnonzero(which == number) for number in range(len(labels))]
    return [
        JobClass(kind, label, jobs)
        for label, jobs in zip(labels, members, strict=True)
        if len(jobs)
    ]


def _largest(kind: str, column: Coded, columns: Columns) -> list[JobClass]:
    """Who asked for most, each alone, and all others together; nothing where all are one."""
    asked = np.bincount(column.codes, columns.duration * columns.gpus, len(column.words))
    present = np.flatnonzero(np.bincount(column.codes, minlength=len(column.words)))
    if len(present) <= 1:
        return []
    ranked = present[np.argsort(-asked[present], kind="stable")]
    shown, others = ranked[:_SHOWN_NAMES], ranked[_SHOWN_NAMES:]
    found = [
        JobClass(kind, f"{kind} {column.words[code]}", np.flatnonzero(column.codes == code))
        for code in shown.tolist()
    ]
    if len(others):
        is_other = np.zeros(len(column.words), dtype=bool)
        is_other[others] = True
        rest = np.flatnonzero(is_other[column.codes])
        found.append(JobClass(kind, f"{len(others)} other {kind}s", rest))
    return found
