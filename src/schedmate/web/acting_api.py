"""What a person may do to a job or a proposed rule, by the API; the same as on the pages."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from schedmate.model.failures import CORRECTIONS
from schedmate.service.views.answers import (
    CorrectedAnswer,
    RevertedAnswer,
    StoppedAnswer,
    copied,
)
from schedmate.service.views.site_answers import RuleAnswer
from schedmate.web import acts
from schedmate.web.asking import AJobId, AKnownViewer, ASite, OneLine
from schedmate.web.etags import fresh_json
from schedmate.web.problems import NO_JOB, PROBLEMS, described, refused_as_conflict

if TYPE_CHECKING:
    from schedmate.service.views.job_view import JobView

router = APIRouter(prefix="/api/v1", responses=PROBLEMS)
_STRICT = ConfigDict(extra="forbid", strict=True)
_RULE: dict[int | str, dict[str, Any]] = {
    404: described("There is no such rule, or the asker is no operator."),
    409: described("It does not wait for a decision."),
}


class CorrectionBody(BaseModel):
    model_config = _STRICT
    reason: Annotated[
        str,
        Field(
            pattern=f"^(?:{'|'.join(CORRECTIONS)})$", json_schema_extra={"enum": list(CORRECTIONS)}
        ),
    ]
    """What the newest attempt really died of; `not_failed` where nothing was wrong."""
    note: Annotated[str, Field(max_length=acts.LONGEST_NOTE), OneLine()] = ""
    """What the next person should know."""
    for_all: bool = False
    """Whether the same failure of any job is answered so, which only operators decide."""


class RevertBody(BaseModel):
    model_config = _STRICT
    dry_run: bool = False
    """Only state what would be undone."""


@router.post(
    "/jobs/{job_id}/correct",
    response_model=CorrectedAnswer,
    responses={**NO_JOB, 409: described("It has not failed, or has no diagnosis yet.")},
    tags=["jobs"],
)
def correct(job_id: AJobId, body: CorrectionBody, site: ASite, viewer: AKnownViewer) -> Response:
    """Correct the diagnosis of a job's newest attempt.

    In mode `act` a job with a reason that is tried again will be queued again within seconds, after
    which the correction cannot be withdrawn.
    """
    if body.for_all and not viewer.operator:
        raise HTTPException(HTTPStatus.FORBIDDEN, "only operators correct the failures of all jobs")
    with refused_as_conflict():
        view = acts.correct(site, viewer, job_id, body.reason, note=body.note, for_all=body.for_all)
    return _diagnosed(view)


@router.post(
    "/jobs/{job_id}/withdraw",
    response_model=CorrectedAnswer,
    responses={
        **NO_JOB,
        409: described(
            "No correction of this attempt stands that the asker may withdraw; the detail names the"
            " job that it was taught on, or the attempt that has begun since."
        ),
    },
    tags=["jobs"],
)
def withdraw(job_id: AJobId, site: ASite, viewer: AKnownViewer) -> Response:
    """Take the correction of a job's newest attempt back: its diagnosis is the one from before."""
    with refused_as_conflict():
        view = acts.withdraw(site, viewer, job_id)
    return _diagnosed(view)


def _diagnosed(view: JobView) -> Response:
    attempt = view.job.restarts
    return fresh_json(
        CorrectedAnswer(job_id=view.job.id, attempt=attempt, diagnosis=view.diagnoses[attempt])
    )


@router.post(
    "/jobs/{job_id}/revert",
    response_model=RevertedAnswer,
    responses={**NO_JOB, 409: described("There is nothing to undo.")},
    tags=["jobs"],
)
def revert(job_id: AJobId, body: RevertBody, site: ASite, viewer: AKnownViewer) -> Response:
    """Undo what SchedMate did to a job, as far as it still can be; for operators."""
    with refused_as_conflict():
        found = acts.undo(site, viewer, job_id, dry_run=body.dry_run)
    return fresh_json(RevertedAnswer(dry_run=body.dry_run, actions=found))


@router.post(
    "/jobs/{job_id}/stop",
    response_model=StoppedAnswer,
    responses={**NO_JOB, 409: described("It does not run on for nothing, or is another user's.")},
    tags=["jobs"],
)
def stop(job_id: AJobId, site: ASite, viewer: AKnownViewer) -> Response:
    """End a run that goes on for nothing; for its owner and operators."""
    with refused_as_conflict():
        view = acts.stop(site, viewer, job_id)
    why = "" if view.doomed is None else view.doomed.action.why
    return fresh_json(StoppedAnswer(job_id=view.job.id, attempt=view.job.restarts, why=why))


@router.post(
    "/rules/{rule_id}/accept",
    response_model=RuleAnswer,
    responses=_RULE,
    tags=["rules"],
)
def accept(rule_id: str, site: ASite, viewer: AKnownViewer) -> Response:
    """Let a model's proposal answer; one that fails its checks is refused, with the reason."""
    return _decided(rule_id, site, viewer, accept=True)


@router.post(
    "/rules/{rule_id}/refuse",
    response_model=RuleAnswer,
    responses=_RULE,
    tags=["rules"],
)
def refuse(rule_id: str, site: ASite, viewer: AKnownViewer) -> Response:
    """Turn a model's proposal down."""
    return _decided(rule_id, site, viewer, accept=False)


def _decided(rule_id: str, site: ASite, viewer: AKnownViewer, *, accept: bool) -> Response:
    with refused_as_conflict():
        rule = acts.decide(site, viewer, rule_id, accept=accept)
    return fresh_json(copied(RuleAnswer, rule))
