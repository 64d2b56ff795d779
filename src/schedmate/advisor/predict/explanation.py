"""A prediction's reason in one sentence."""

from __future__ import annotations

import math
from typing import Any

from schedmate.advisor.launch.target import Target
from schedmate.advisor.predict.jobs import unused_gpus_in_words
from schedmate.advisor.predict.neighbours import Ending, Neighbours, Tier
from schedmate.model import PastRun, Workload
from schedmate.model.sketch import Sketch, gpus_used

_FIELDS: dict[Ending, str] = {"steps": "max_steps", "epochs": "epochs"}


def explain(
    neighbours: Neighbours,
    nearest: PastRun,
    ending: Ending | None,
    target: Target,
    workload: Workload,
) -> str:
    """`ending` is what the prediction was scaled by; None where nothing was scaled."""
    own = nearest.job.user == target.user
    whose = f"job {nearest.job.id}" if own else "a run by another user"
    text = f"like {whose}: {_likeness_in_words(neighbours.tier)}"
    if ending is not None:
        text += _differences(neighbours.sketch, ending, nearest, target, workload)
    telling = int(neighbours.telling.sum())
    if telling > 1:
        text += f"; {telling} such runs"
    if neighbours.void:
        text += f"; their stated {neighbours.void} made none of them shorter"
    unused = unused_gpus_in_words(neighbours.sketch, workload, target.request)
    return text + unused + _ends_in_words(neighbours)


def _likeness_in_words(tier: Tier) -> str:
    return {
        "identical": "same code, same arguments",
        "same_code": "same code",
        "similar": "a similar workload",
    }[tier]


def _differences(
    sketch: Sketch, ending: Ending, nearest: PastRun, target: Target, workload: Workload
) -> str:
    text = ""
    if ending != "open":
        mine, theirs = (_value(each, _FIELDS[ending]) for each in (workload, nearest.workload))
        if mine is not None and theirs is not None:
            text += (
                f", also {mine:g} {ending}" if mine == theirs else _instead(mine, theirs, ending)
            )
    log_gpus = sketch.number("gpus")
    theirs = gpus_used(nearest.workload, nearest.job.request, nearest.fingerprint)
    if theirs and not math.isnan(log_gpus) and (mine := round(math.exp(log_gpus))) != theirs:
        text += _instead(mine, theirs, "GPUs")
    mine, theirs = target.request.gpu_type, nearest.job.request.gpu_type
    if mine and theirs and mine != theirs:
        text += f", {mine} instead of {theirs}"
    return text


def _instead(mine: float, theirs: float, what: str) -> str:
    return f", {mine:g} instead of {theirs:g} {what}"


def _value(workload: Workload, field: str) -> Any:
    finding = getattr(workload, field)
    return None if finding is None else finding.value


def _ends_in_words(neighbours: Neighbours) -> str:
    well = neighbours.in_tier & neighbours.completed
    if not well.any():
        return "; none of them completed, so this is when they were ended"
    short, total = (
        int((neighbours.in_tier & ~neighbours.completed).sum()),
        int(neighbours.in_tier.sum()),
    )
    if short == 0:
        return ""
    return f"; {short} of {total} did not complete and end sooner or later than this"
