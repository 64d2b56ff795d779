"""`/api/v1`: what the pages show, as data."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from schedmate.model.legible import short_name
from schedmate.service.views.answers import (
    EtaAnswer,
    HistoryPage,
    JobAnswer,
    JobsPage,
    RunAnswer,
    SimilarRuns,
    WhyAnswer,
    copied,
)
from schedmate.service.views.sentences import eta_sentence
from schedmate.service.views.similar import similar_runs
from schedmate.service.views.site_answers import Identity
from schedmate.web.asking import AJobId, AQueue, ASite, AViewer
from schedmate.web.etags import fresh_json, tagged_json
from schedmate.web.job_page import acts_open_to
from schedmate.web.paging import APage
from schedmate.web.problems import NO_JOB, NOT_MODIFIED, PROBLEMS, described
from schedmate.web.queue import find, next_page
from schedmate.web.wording import in_words

if TYPE_CHECKING:
    from schedmate.model import PastRun

router = APIRouter(prefix="/api/v1", responses={**PROBLEMS, **NOT_MODIFIED}, tags=["jobs"])


@router.get("/jobs", response_model=JobsPage)
def jobs(request: Request, site: ASite, viewer: AViewer, wanted: AQueue) -> Response:
    """The queue, filtered and sorted, a page at a time."""
    found = find(
        site.views(viewer, wanted.reason),
        wanted,
        time.time(),
        lambda one: site.shown_to(viewer, one),
        viewer,
    )
    following = next_page(wanted, found)
    return tagged_json(
        request,
        JobsPage(
            jobs=tuple(found.views),
            total=found.total,
            next=None if following is None else following.url(),
        ),
    )


@router.get("/jobs/{job_id}", response_model=JobAnswer, responses=NO_JOB)
def job(job_id: AJobId, request: Request, site: ASite, viewer: AViewer) -> Response:
    """One job's whole view: record, prediction, progress, diagnoses, actions, what one may do.

    `12_3` is a task of an array, `12+1` a part of a heterogeneous job.
    """
    view = site.job(job_id, viewer)
    may = acts_open_to(site, viewer, view)
    return tagged_json(request, copied(JobAnswer, view, parts=site.parts(job_id), may=may))


@router.get("/jobs/{job_id}/why", response_model=WhyAnswer, responses=NO_JOB)
def why(job_id: AJobId, site: ASite, viewer: AViewer) -> Response:
    """Why it waits, goes on or failed, in one sentence."""
    view = site.job(job_id, viewer)
    return fresh_json(
        WhyAnswer(
            job_id=view.job.id,
            state=view.job.state,
            reason=None if view.diagnosis is None else view.diagnosis.reason,
            answer=site.why(view),
            late_s=view.late_s,
        )
    )


@router.get("/jobs/{job_id}/eta", response_model=EtaAnswer, responses=NO_JOB)
def eta(job_id: AJobId, site: ASite, viewer: AViewer) -> Response:
    """When it ends, in one sentence and in seconds from now."""
    view, now = site.job(job_id, viewer), time.time()
    return fresh_json(
        EtaAnswer(
            job_id=view.job.id,
            state=view.job.state,
            eta_s=view.remaining_s(now),
            predicted_s=view.predicted,
            answer=eta_sentence(view, now, in_words),
        )
    )


@router.get("/jobs/{job_id}/similar", response_model=SimilarRuns, responses=NO_JOB)
def similar(job_id: AJobId, request: Request, site: ASite, viewer: AViewer) -> Response:
    """The past jobs that its prediction goes by, as far as they are the asker's own."""
    view = site.job(job_id, viewer)
    return tagged_json(request, similar_runs(view, site.store, viewer))


@router.get("/history", response_model=HistoryPage, tags=["history"])
def history(
    *,
    request: Request,
    site: ASite,
    viewer: AViewer,
    paging: APage,
    user: Annotated[str, Query(max_length=200)] = "",
    reason: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Past runs, the newest first; by `reason` those that died of it and the asker may read."""
    found = site.past_runs(
        viewer, user=user, reason=reason, limit=paging.limit + 1, offset=paging.offset
    )
    following = paging.following(more=len(found) > paging.limit, user=user, reason=reason)
    runs = tuple(_with_short_name(viewer.run(run)) for run in found[: paging.limit])
    return tagged_json(request, HistoryPage(runs=runs, next=following))


@router.get(
    "/history/{job_id}",
    response_model=RunAnswer,
    responses={404: described("The history has no such job.")},
    tags=["history"],
)
def past_run(job_id: AJobId, request: Request, site: ASite, viewer: AViewer) -> Response:
    """The last run of a past job."""
    run = _with_short_name(viewer.run(site.past_run(job_id)))
    return tagged_json(request, copied(RunAnswer, run))


@router.get("/me", response_model=Identity, tags=["access"])
def me(viewer: AViewer) -> Response:
    """Who asks, as the server knows it; a stranger has no name."""
    return fresh_json(Identity(user=viewer.user, operator=viewer.operator))


def _with_short_name(run: PastRun) -> PastRun:
    return replace(run, job=replace(run.job, name=short_name(run.job.name)))
