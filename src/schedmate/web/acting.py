"""What a person may do from a page. Each act is checked, carried out by a use case, and recorded.

Who asks is known by the connection alone, so that a foreign page could act with a viewer's rights:
a browser must state that the form is of our own page, and the form bring the token it was given.
"""

from __future__ import annotations

import hmac
import time
from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse

from schedmate.model import BadInput, NotFound
from schedmate.service.usecases.audit import CORRECTION
from schedmate.service.usecases.persons_decisions import correct_diagnosis, decide_on_rule
from schedmate.service.usecases.revert import revert
from schedmate.service.visibility import Viewer
from schedmate.service.wiring import open_scheduler
from schedmate.web.asking import ASite, AViewer
from schedmate.web.guard import origin_of
from schedmate.web.job_page import readable_job
from schedmate.web.readings import AReadings

router = APIRouter(include_in_schema=False)
_LONGEST_FORM = 16_384
_LONGEST_NOTE = 500
Form = dict[str, str]


async def form_of(request: Request, viewer: AViewer, readings: AReadings) -> Form:
    """The fields of a form that our own page has sent."""
    if origin_of(request.headers) != "own":
        raise HTTPException(HTTPStatus.FORBIDDEN, "this form did not come from SchedMate's page")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_FORM:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the form is too long")
    fields = {
        name: values[-1] for name, values in parse_qs(body.decode("utf-8", "replace")).items()
    }
    if not hmac.compare_digest(fields.get("token", "").encode(), readings.token(viewer).encode()):
        raise HTTPException(
            HTTPStatus.FORBIDDEN, "this page is from before the server was restarted: load it again"
        )
    return fields


AForm = Annotated[Form, Depends(form_of)]


@router.post("/jobs/{job_id}/correct")
def correct(job_id: str, site: ASite, viewer: AViewer, form: AForm) -> RedirectResponse:
    """What the job's last run really died of."""
    view = readable_job(site, job_id, viewer)
    reason, note = form.get("reason", ""), form.get("note", "")[:_LONGEST_NOTE]
    for_all = viewer.operator and form.get("for_all") == "yes"
    before = view.diagnoses.get(view.job.restarts)
    correct_diagnosis(
        site.store, view.job, reason, by=viewer.user, at=time.time(), note=note, for_all=for_all
    )
    was = "" if before is None else f"was {before.reason}, "
    detail = f"{was}is {reason}{', for all such failures' if for_all else ''}"
    _record(site, viewer, CORRECTION, f"job {view.job.id}", f"{detail} {note}".strip())
    return back_to(f"/jobs/{quote(job_id, safe='')}")


@router.post("/jobs/{job_id}/revert")
def undo(job_id: str, site: ASite, viewer: AViewer, form: AForm) -> RedirectResponse:  # noqa: ARG001 - the form is its proof
    """Undo what SchedMate did to a job, as far as it still can be."""
    readable_job(site, job_id, viewer)
    _operators_only(viewer)
    found = revert(open_scheduler(site.settings), site.store, now=time.time(), job_id=job_id)
    if not found:
        raise BadInput(f"there is nothing to undo of job {job_id}")
    detail = "; ".join(f"{one.kind}: {one.outcome}: {one.text}" for one in found)
    _record(site, viewer, "revert", f"job {job_id}", detail)
    return back_to(f"/jobs/{quote(job_id, safe='')}")


@router.post("/rules/{rule_id}/{decision}")
def rule(
    rule_id: str,
    decision: str,
    site: ASite,
    viewer: AViewer,
    form: AForm,  # noqa: ARG001 - as above
) -> RedirectResponse:
    """Accept or refuse what a model proposes."""
    if decision not in ("accept", "refuse"):
        raise NotFound("there is no such page")
    _operators_only(viewer)
    kept = decide_on_rule(site.store, rule_id, accept=decision == "accept", by=viewer.user)
    outcome = f"refused: {kept.refused}" if kept.refused else "accepted"
    _record(site, viewer, f"{decision} a rule", f"rule {rule_id}", outcome)
    return back_to("/rules")


def _operators_only(viewer: Viewer) -> None:
    if not viewer.operator:
        raise NotFound("there is no such page")


def _record(site: ASite, viewer: Viewer, action: str, about: str, detail: str) -> None:
    site.record(viewer, action, about, detail)
    site.refresh()


def back_to(path: str) -> RedirectResponse:
    return RedirectResponse(path, status_code=HTTPStatus.SEE_OTHER)
