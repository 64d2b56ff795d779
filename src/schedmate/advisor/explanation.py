"""A prediction's reason in one sentence."""

from __future__ import annotations

from schedmate.advisor.matching import Likes, Tier
from schedmate.advisor.scaling import UnitField, unit_name, units_of, with_unit
from schedmate.advisor.target import Target
from schedmate.model import Workload


def explain(likes: Likes, unit: UnitField | None, target: Target, workload: Workload) -> str:
    """`unit` is what the prediction was scaled by."""
    basis = [each.run for each in likes.telling]
    nearest = (with_unit(basis, unit) if unit else basis)[0]
    whose = "" if nearest.job.user == target.user else f" by {nearest.job.user}"
    text = f"like job {nearest.job.id}{whose}: {_likeness_in_words(likes.tier)}"
    if unit is not None:
        text += _length_in_words(unit, nearest.workload, workload)
    if len(basis) > 1:
        text += f"; {len(basis)} such runs"
    return text + _ends_in_words(likes)


def _likeness_in_words(tier: Tier) -> str:
    return {
        "identical": "same code, same arguments",
        "same_code": "same code",
        "similar": "a similar workload",
    }[tier]


def _length_in_words(unit: UnitField, theirs: Workload, mine: Workload) -> str:
    wanted, known = units_of(mine, unit), units_of(theirs, unit)
    if wanted == known:
        return f", also {wanted:g} {unit_name(unit)}"
    return f", {wanted:g} instead of {known:g} {unit_name(unit)}"


def _ends_in_words(likes: Likes) -> str:
    if not likes.completed:
        return "; none of them completed, so this is when they ended"
    short = len(likes.runs) - len(likes.completed)
    if short == 0:
        return ""
    return f"; {short} of {len(likes.runs)} did not complete and end sooner or later than this"
