"""The forms by which a person acts on a page.

Who asks is known by the connection alone, so that a foreign page could act with a viewer's rights:
a browser must state that the form is of our own page, and the form bring the token it was given.
"""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse

from schedmate.model import NotFound
from schedmate.model.legible import one_line
from schedmate.web import acts
from schedmate.web.asking import ASite, AViewer
from schedmate.web.guard import origin_of
from schedmate.web.readings import AReadings

router = APIRouter(include_in_schema=False)
_LONGEST_FORM = 16_384
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
    for text in fields.values():
        one_line(text)
    if not hmac.compare_digest(fields.get("token", "").encode(), readings.token(viewer).encode()):
        raise HTTPException(
            HTTPStatus.FORBIDDEN, "this page is from before the server was restarted: load it again"
        )
    return fields


AForm = Annotated[Form, Depends(form_of)]


@router.post("/jobs/{job_id}/correct")
def correct(job_id: str, site: ASite, viewer: AViewer, form: AForm) -> RedirectResponse:
    """What the job's last run really died of."""
    note = form.get("note", "")[: acts.LONGEST_NOTE]
    for_all = viewer.operator and form.get("for_all") == "yes"
    acts.correct(site, viewer, job_id, form.get("reason", ""), note=note, for_all=for_all)
    return back_to(f"/jobs/{quote(job_id, safe='')}")


@router.post("/jobs/{job_id}/withdraw")
def withdraw(job_id: str, site: ASite, viewer: AViewer, form: AForm) -> RedirectResponse:  # noqa: ARG001 - the form is its proof
    """Take a correction back."""
    acts.withdraw(site, viewer, job_id)
    return back_to(f"/jobs/{quote(job_id, safe='')}")


@router.post("/jobs/{job_id}/revert")
def undo(job_id: str, site: ASite, viewer: AViewer, form: AForm) -> RedirectResponse:  # noqa: ARG001 - as above
    """Undo what SchedMate did to a job, as far as it still can be."""
    acts.undo(site, viewer, job_id)
    return back_to(f"/jobs/{quote(job_id, safe='')}")


@router.post("/jobs/{job_id}/stop")
def stop(job_id: str, site: ASite, viewer: AViewer, form: AForm) -> RedirectResponse:  # noqa: ARG001 - as above
    """End a run that goes on for nothing."""
    acts.stop(site, viewer, job_id)
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
    acts.decide(site, viewer, rule_id, accept=decision == "accept")
    return back_to("/rules")


def back_to(path: str) -> RedirectResponse:
    return RedirectResponse(path, status_code=HTTPStatus.SEE_OTHER)
