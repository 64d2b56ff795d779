"""Who gains and who loses when one policy takes the place of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedmate.simulator.columns import Coded, Columns, Floats
from schedmate.simulator.report.classes import (
    JobClass,
    by_gpus,
    by_group,
    by_length,
    by_user,
    mean_per_word,
)
from schedmate.simulator.result import quantiles

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
    """What those lose, in the median; 0 where nobody does."""


@dataclass(frozen=True, slots=True)
class Gains:
    before: str
    after: str
    rows: tuple[Gain, ...]
    """All jobs first."""
    faster: float
    users: int
    users_better_off: int


def gains(columns: Columns, jct: dict[str, Floats]) -> tuple[Gains, ...]:
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
