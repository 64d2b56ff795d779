"""`/api/v1`: what the pages show, as data."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import Response

from schedmate.model.wire import dumps
from schedmate.service.views.job_view import JobView
from schedmate.web.asking import AQueue, ASite, AViewer
from schedmate.web.problems import Problem
from schedmate.web.queue import find, next_page

router = APIRouter(
    prefix="/api/v1",
    responses={404: {"model": Problem}, 422: {"model": Problem}, 503: {"model": Problem}},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsPage:
    """One page of the queue; `next` is the query string of the one after it."""

    schema: Literal["schedmate.jobs/1"] = "schedmate.jobs/1"
    jobs: tuple[JobView, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAnswer(JobView):
    schema: Literal["schedmate.job/1"] = "schedmate.job/1"


@router.get("/jobs", response_model=JobsPage)
def jobs(site: ASite, viewer: AViewer, wanted: AQueue) -> Response:
    """The queue, filtered and sorted, a page at a time."""
    found = find(site.board.views(), wanted, time.time(), lambda one: site.seen_by(viewer, one))
    following = next_page(wanted, found)
    return as_json(
        JobsPage(
            jobs=tuple(found.views),
            total=found.total,
            next=None if following is None else following.url(),
        )
    )


@router.get("/jobs/{job_id}", response_model=JobAnswer)
def job(job_id: str, site: ASite, viewer: AViewer) -> Response:
    """One job's whole view: record, prediction, progress, diagnoses, actions."""
    view = site.job(job_id, viewer)
    known = {one.name: getattr(view, one.name) for one in fields(JobView)}
    return as_json(JobAnswer(**known))


def as_json(value: object) -> Response:
    """The one dialect of our JSON, which the response model only documents."""
    return Response(dumps(value), media_type="application/json")
