"""Holding a job that cannot succeed: on which grounds, and how often.

A wrong hold costs its user the place in the queue. So it takes a check that is certain or, where a
site asks for it, the same failure many times in a row. A job is held at most once in its life: one
that a person has released is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from schedmate.model import ActionRecord, Advice, Job, JobState, ReasonCode, Remark

HoldPhase = Literal["none", "ours", "over"]
"""Never held by us, held by us now, or not to be held again."""

_CREATED_BY_ANOTHER_JOB = "Dependency"
"""What is missing may be written by the job that this one waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldLimits:
    certain: bool = True
    """Whether a check that is certain is ground enough."""
    after_failures: int = 0
    """How many failures in a row of the same code are ground enough; 0: no number is."""
    check_again_s: float = 120.0
    """How often a held job is read again, since its user may have mended it."""


@dataclass(frozen=True, slots=True)
class HoldGround:
    code: ReasonCode
    remark: Remark


def ground_for_hold(job: Job, advice: Advice | None, limits: HoldLimits) -> HoldGround | None:
    """Why the job should not start as it is now, None where nothing is certain.

    A job that has run before shows that a check may be wrong about it.
    """
    for remark in () if advice is None else advice.advice:
        if limits.certain and remark.certain and not job.restarts:
            return HoldGround("cannot_succeed", remark)
        if 0 < limits.after_failures <= remark.failures:
            return HoldGround("failed_repeatedly", remark)
    return None


def may_be_held(job: Job) -> bool:
    waits = job.state is JobState.PENDING and not job.held
    return waits and not job.reason.startswith(_CREATED_BY_ANOTHER_JOB)


def hold_phase(records: Iterable[ActionRecord], *, held: bool) -> HoldPhase:
    """From all records of a job that the scheduler shows as held or not."""
    about = [record for record in records if record.action.kind in ("hold", "release")]
    if not about:
        return "none"
    last = about[-1]
    ours = last.action.kind == "hold" and last.state in ("done", "intended")
    return "ours" if ours and held else "over"
