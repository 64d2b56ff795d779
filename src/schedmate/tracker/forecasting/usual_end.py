"""Where runs like this one end: at their total, at a cap, or before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from schedmate.model import EndsBy, RunProfile

_REACHED = 0.98
_SAME_TIME = 0.02
"""Runs that end at a cap differ by no more than this."""


@dataclass(frozen=True, slots=True)
class UsualEnd:
    """`likes` are the runs that ended so; `total` is None where only they can tell the end."""

    ends_by: EndsBy
    total: float | None
    likes: tuple[RunProfile, ...]
    after_s: float | None = None


def usual_end(likes: Sequence[RunProfile], total: float | None) -> UsualEnd:
    """The total, unless most of the similar runs ended before theirs."""
    early = tuple(like for like in likes if _ended_early(like))
    if 2 * len(early) <= len(likes):
        ends_by: EndsBy = "unknown" if total is None else "total"
        return UsualEnd(ends_by, total, tuple(likes))
    said = Counter(like.ends_by for like in early if like.ends_by not in ("unknown", "total"))
    ends_by = said.most_common(1)[0][0] if said else _guessed(early)
    if ends_by in ("cap", "limit"):
        return UsualEnd(ends_by, None, early, median(like.duration_s for like in early))
    return UsualEnd(ends_by, None, early)


def _ended_early(like: RunProfile) -> bool:
    if like.ends_by in ("cap", "limit", "early_stop"):
        return True
    return like.total is not None and like.done < _REACHED * like.total


def _guessed(early: Sequence[RunProfile]) -> EndsBy:
    """Several that ended after the same time but not at the same count were cut off."""
    times = [like.duration_s for like in early]
    counts = [like.done for like in early]
    alike = max(times) <= (1 + _SAME_TIME) * min(times)
    return "cap" if alike and max(counts) > (1 + _SAME_TIME) * min(counts) else "early_stop"
