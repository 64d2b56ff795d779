"""What follows from what is known of one job or node, as instructions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from schedmate.core.instructions import Act, Diagnose, Instruction, Remember, Track
from schedmate.core.scope import is_opted_out
from schedmate.core.wording import in_words
from schedmate.model import SURE_ENOUGH, Action, ActionKind, DecisionReason, Job, JobState

if TYPE_CHECKING:
    from schedmate.core.drains import SuspectNode
    from schedmate.core.known_job import KnownJob
    from schedmate.core.order import NewNumber
    from schedmate.core.retry import DecisionLimits, RetryPlan
    from schedmate.model import Diagnosis

_LONG_WAIT_S = 60.0
"""A job that waited so long is predicted again as it starts."""


def left_unattended(known: KnownJob) -> list[Instruction]:
    """Without a daemon nothing gives back in time what a job waits for: it is given back now."""
    found: list[Instruction] = []
    if known.is_held_for_others:
        found.append(act("release", known.job, DecisionReason(code="hold_unattended")))
    if not known.job.state.ended and known.is_lowered:
        reason = DecisionReason(code="limit_unattended")
        found.append(act("set_time_limit", known.job, reason, value=known.user_limit_s))
    return found


def about_failure(
    job: Job, found: Diagnosis, plan: RetryPlan, waited_s: float
) -> list[Instruction]:
    """Try again or leave alone. A run that seems to hang is only warned of where it is not tried
    again: nothing that runs is ended."""
    running = job.state is JobState.RUNNING
    reason = DecisionReason(
        code=plan.code,
        failure=found.reason,
        retries=plan.used,
        allowed=plan.allowed,
        detail=found.decision.why,
    )
    if running and found.reason == "not_failed":
        return []
    if running and found.confidence < SURE_ENOUGH:
        return [act("warn", job, replace(reason, code="unsure"))]
    if not plan.again:
        return [act("warn" if running else "leave", job, reason)]
    parts = {"exclude_nodes": plan.exclude_nodes, "delay_s": plan.delay_s}
    return [act("requeue", job, replace(reason, waited_s=waited_s), **parts)]


def looks_at(job: Job) -> list[Instruction]:
    """What is to be looked at in this state of a job; of one that has opted out, no file."""
    if is_opted_out(job):
        return [Remember(job)] if job.state.ended else []
    if job.state is JobState.RUNNING:
        return [Track(job)]
    if job.state.failed and job.started:
        return [Remember(job), Diagnose(job)]
    if job.state.ended:
        return [Remember(job)]
    return []


def waited_long(job: Job) -> bool:
    return (
        job.state is JobState.RUNNING
        and job.start_time is not None
        and job.start_time - job.submit_time >= _LONG_WAIT_S
    )


def why_ordered(
    known: KnownJob,
    number: NewNumber,
    ordering: str,
    limits: DecisionLimits,
    *,
    together: int,
    late_s: float,
) -> DecisionReason:
    prediction = known.prediction
    spread = None if prediction is None else prediction.duration_s
    detail = "" if prediction is None else prediction.explanation
    if together:
        detail += f"; one piece of work with {together} more that its owner submitted then"
    if number.code == "overtaken_enough":
        late = f"{late_s / 3600:.3g} hours late by jobs that its scheduler alone puts behind it"
        detail = f"it may be {late}, and is not overtaken any more"
    if number.code == "left_alone":
        detail = limits.scope.unordered(known.job) or ""
    return DecisionReason(
        code=number.code or ("unknown_duration" if spread is None else "shorter_first"),
        ordering=ordering,
        predicted_s=spread,
        basis="none" if prediction is None else prediction.basis,
        waited_s=known.nice.made_up_s,
        own_nice=known.nice.theirs,
        lift=known.nice.lift,
        own_changes=known.nice.changes,
        detail=detail,
    )


def act(kind: ActionKind, job: Job, reason: DecisionReason, **parts: Any) -> Act:
    return Act(
        Action(
            kind=kind,
            job_id=job.id,
            attempt=job.restarts,
            why=in_words(reason),
            reason=reason,
            **parts,
        )
    )


def drain(seen: SuspectNode, why: str) -> Act:
    reason = DecisionReason(code="suspect_node", detail=why)
    return Act(
        Action(
            kind="drain",
            job_id="",
            attempt=0,
            why=in_words(reason),
            reason=reason,
            value=seen.newest,
            node=seen.node.name,
        )
    )
