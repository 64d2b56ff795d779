"""Past runs that a job resembles, in tiers: identical, same code, similar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from schedmate.advisor.similarity import similarity
from schedmate.advisor.target import Target
from schedmate.model import Fingerprint, History, JobState, PastRun, Workload

Tier = Literal["identical", "same_code", "similar"]
NO_MATCH_BELOW = 0.6
_NEWEST = 50
_RECENT = 1000
_SAME_CODE = 0.7
"""What the same code is worth by itself; the fields give the rest."""
_ABOUT = 0.05


@dataclass(frozen=True, slots=True)
class Likeness:
    run: PastRun
    similarity: float

    @property
    def completed(self) -> bool:
        return self.run.job.state is JobState.COMPLETED


@dataclass(frozen=True, slots=True)
class Likes:
    """Runs of one tier, the user's own before others', each newest first."""

    tier: Tier
    runs: tuple[Likeness, ...]

    @property
    def completed(self) -> tuple[Likeness, ...]:
        return tuple(each for each in self.runs if each.completed)

    @property
    def telling(self) -> tuple[Likeness, ...]:
        """Those whose durations count: the completed ones, if there are any."""
        return self.completed or self.runs


def find_likes(
    history: History, target: Target, fingerprint: Fingerprint | None, workload: Workload
) -> Likes | None:
    """The best tier that has a run which went well, else the best that has any."""
    fallback: Likes | None = None
    for tier in ("identical", "same_code", "similar"):
        likes = _tier(tier, history, target, fingerprint, workload)
        if likes.completed:
            return likes
        if likes.runs and fallback is None:
            fallback = likes
    return fallback


def ended_before(runs: Iterable[PastRun], target: Target) -> list[PastRun]:
    """Runs that were over when the job was submitted: nothing is predicted from its future."""
    at = target.submitted_at
    return [
        run
        for run in runs
        if run.duration_s > 0 and (at is None or (run.job.end_time or 0.0) <= at)
    ]


def _tier(
    tier: Tier,
    history: History,
    target: Target,
    fingerprint: Fingerprint | None,
    workload: Workload,
) -> Likes:
    if tier == "similar":
        return Likes(tier, _similar(history, target, workload))
    if fingerprint is None:
        return Likes(tier, ())
    if tier == "identical":
        found = ended_before(history.runs_with_fingerprint(fingerprint), target)
        return Likes(tier, _own_first([Likeness(run, 1.0) for run in found], target))
    found = ended_before(history.runs_of_code(fingerprint.code), target)
    return Likes(tier, _closest([_same_code(run, target, workload) for run in found], target))


def _same_code(run: PastRun, target: Target, workload: Workload) -> Likeness:
    alike = similarity(workload, target.user, target.name, run, least=0.0)
    return Likeness(run, _SAME_CODE + (1 - _SAME_CODE) * alike)


def _similar(history: History, target: Target, workload: Workload) -> tuple[Likeness, ...]:
    """The user's own when there are any, else everybody's."""
    for user in (target.user, None):
        recent = ended_before(history.recent_runs(user=user, limit=_RECENT), target)
        likes = [
            Likeness(run, similarity(workload, target.user, target.name, run)) for run in recent
        ]
        close = [each for each in likes if each.similarity >= NO_MATCH_BELOW]
        if close:
            return _closest(close, target)
    return ()


def _closest(likes: Sequence[Likeness], target: Target) -> tuple[Likeness, ...]:
    """Those about as alike as the best one: a nearer run says more than many far ones."""
    went_well = [each for each in likes if each.completed] or likes
    best = max((each.similarity for each in went_well), default=0.0)
    return _own_first([each for each in likes if each.similarity >= best - _ABOUT], target)


def _own_first(likes: Sequence[Likeness], target: Target) -> tuple[Likeness, ...]:
    """Stable, so that each part stays newest first as the history gave it."""
    ordered = sorted(likes, key=lambda each: each.run.job.user != target.user)
    return tuple(ordered[:_NEWEST])
