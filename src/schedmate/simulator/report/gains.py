"""Which jobs gain and which lose when one policy takes the place of another: by size, length,
user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedmate.design.words import plural
from schedmate.simulator.engine.outcome import quantiles
from schedmate.simulator.traces.columns import Coded, Floats, Ints, TraceColumns

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


def by_gpus(columns: TraceColumns) -> list[JobClass]:
    """1, 2, 3 to 4, 5 to 8 … GPUs, those that are there."""
    largest = _GPU_BORDERS[-1]
    labels = [_gpu_label(low + 1, high) for low, high in _gpu_ranges()] + [f"over {largest} GPUs"]
    which = np.searchsorted(np.array(_GPU_BORDERS), columns.gpus)
    return _split("GPUs", labels, which)


def by_length(columns: TraceColumns) -> list[JobClass]:
    """How long they run in the trace."""
    borders = np.array([border for border, _ in _LENGTHS])
    which = np.searchsorted(borders, columns.duration, side="right")
    labels = [label for _, label in _LENGTHS]
    return _split("run time", labels, np.minimum(which, len(labels) - 1))


def by_group(columns: TraceColumns) -> list[JobClass]:
    return _largest("group", columns.group, columns)


def by_user(columns: TraceColumns) -> list[JobClass]:
    return _largest("user", columns.user, columns)


def mean_per_word(column: Coded, values: Floats) -> Floats:
    """The mean over each word's jobs; `nan` for words without jobs."""
    count = np.bincount(column.codes, minlength=len(column.words))
    total = np.bincount(column.codes, values, len(column.words))
    mean: Floats = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return mean


def _gpu_ranges() -> Iterator[tuple[int, int]]:
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


def _largest(kind: str, column: Coded, columns: TraceColumns) -> list[JobClass]:
    """Those that requested most, each alone, and all others together; nothing where all are one."""
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
        found.append(JobClass(kind, plural(len(others), f"other {kind}"), rest))
    return found


MATE = "+schedmate"
NOTICED_S = 1.0
NOTICED_SHARE = 0.01
_MOST_PAIRS = 14


@dataclass(frozen=True, slots=True)
class Gain:
    """One kind of jobs; `ratio` is the average completion time before over that after."""

    kind: str
    label: str
    jobs: int
    ratio: float
    slower: float
    """The share of its jobs that ends later by more than a second and a hundredth."""
    slower_by_s: float
    """What those lose, in the median; 0 where none does."""


@dataclass(frozen=True, slots=True)
class Gains:
    before: str
    after: str
    rows: tuple[Gain, ...]
    """All jobs first."""
    faster: float
    users: int
    users_better_off: int


def gains(columns: TraceColumns, jct: dict[str, Floats]) -> tuple[Gains, ...]:
    """Each policy with SchedMate against itself; where none is, each against the first."""
    kinds = [
        JobClass("", "all jobs", np.arange(len(columns))),
        *by_gpus(columns),
        *by_length(columns),
        *by_group(columns),
        *by_user(columns),
    ]
    return tuple(
        _gains(before, after, jct, kinds, columns.user)
        for before, after in _pairs(list(jct))[:_MOST_PAIRS]
    )


def _pairs(policies: Sequence[str]) -> list[tuple[str, str]]:
    aided = [name for name in policies if name.endswith(MATE)]
    pairs = [(name.removesuffix(MATE), name) for name in aided]
    pairs = [pair for pair in pairs if pair[0] in policies]
    return pairs or [(policies[0], name) for name in policies[1:]]


def _gains(
    before: str, after: str, jct: dict[str, Floats], kinds: Sequence[JobClass], user: Coded
) -> Gains:
    old, new = jct[before], jct[after]
    later = new - old
    slower = (later > NOTICED_S) & (later > NOTICED_SHARE * old)
    faster = (-later > NOTICED_S) & (-later > NOTICED_SHARE * old)
    per_user = mean_per_word(user, later)
    return Gains(
        before=before,
        after=after,
        rows=tuple(_gain(kind, old, new, slower) for kind in kinds),
        faster=float(faster.mean()),
        users=int(np.isfinite(per_user).sum()),
        users_better_off=int((per_user < 0).sum()),
    )


def _gain(kind: JobClass, old: Floats, new: Floats, slower: NDArray[np.bool_]) -> Gain:
    hit = kind.jobs[slower[kind.jobs]]
    return Gain(
        kind=kind.kind,
        label=kind.label,
        jobs=len(kind.jobs),
        ratio=ratio(float(old[kind.jobs].mean()), float(new[kind.jobs].mean())),
        slower=len(hit) / len(kind.jobs),
        slower_by_s=quantiles(new[hit] - old[hit], 0.5)[0] if len(hit) else 0.0,
    )


def ratio(before: float, after: float) -> float:
    """How many times better `after` is; 1 where both are nothing."""
    if after > 0:
        return before / after
    return 1.0 if before <= 0 else float("inf")
