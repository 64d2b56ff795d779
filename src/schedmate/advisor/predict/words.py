"""Whose past a forecast rests on, in words, and how it will end by that past."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedmate.advisor.predict.facts import Facts
from schedmate.advisor.predict.grid import Weights
from schedmate.advisor.predict.kin import FLOWN, KINDS, STARTED, Group
from schedmate.model import JobState, Outcome

_DOUBT = 1 / 3
_WORDS = {
    "user": "{user}'s last {runs}",
    "user_request": "{user}'s last {runs} with the same request",
    "user_bursts": "the first of {user}'s jobs each time, {runs}",
    "request": "the last {runs} of anybody with the same request",
    "everyone": "the site's last {runs}",
    "user_limit": "how much of the limit {user}'s last {runs} used",
    "limit": "how much of the limit the site's last {runs} used",
    "user_stem": "{user}'s last {runs} of about that name",
    "user_name": "{user}'s last {runs} of that very name",
    "user_word": "{user}'s last {runs} whose names begin alike",
    "stem": "the last {runs} of anybody's of about that name",
}


def in_words(facts: Facts, groups: Sequence[Group | None], weights: Weights) -> str:
    """`weights` says how much each kind of group counts."""
    told = [
        (float(weight), kind, group)
        for weight, kind, group in zip(weights, KINDS, groups, strict=True)
        if group is not None and (group.states or group.submissions)
    ]
    if not told:
        return "nothing has run here yet"
    _, kind, group = max(told, key=lambda each: each[0])
    return _WORDS[kind].format(user=facts.user, runs=_runs(group))


def _runs(group: Group) -> str:
    ended = len(group.states)
    running = int((np.isnan(group.recent[FLOWN]) & ~np.isnan(group.recent[STARTED])).sum())
    text = f"{ended} run" if ended == 1 else f"{ended} runs"
    return f"{text} and {running} that still run" if running else text


def outcome_of(groups: Sequence[Group | None], weights: Weights) -> Outcome:
    """Rates of the groups by how much each counts, with one run's worth of doubt."""
    completed = cancelled = total = 0.0
    for group, weight in zip(groups, weights, strict=True):
        if group is None or not group.states:
            continue
        share = float(weight) / len(group.states)
        completed += share * group.states.count(JobState.COMPLETED)
        cancelled += share * group.states.count(JobState.CANCELLED)
        total += float(weight)
    return _rates(completed, cancelled, total, _runs_behind(groups))


def _runs_behind(groups: Sequence[Group | None]) -> int:
    return max((len(group.states) for group in groups if group), default=0)


def _rates(completed: float, cancelled: float, total: float, runs: int) -> Outcome:
    doubted = runs + 3 * _DOUBT
    scale = runs / total if total else 0.0
    good = (completed * scale + _DOUBT) / doubted
    stopped = (cancelled * scale + _DOUBT) / doubted
    return Outcome(
        completed=round(good, 3),
        failed=round(max(0.0, 1 - good - stopped), 3),
        cancelled=round(stopped, 3),
    )
