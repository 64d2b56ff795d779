"""`/api/v1`: what the pages show, as data."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from schedmate.model import Job, JobState, PastRun
from schedmate.service.views.answers import (
    EtaAnswer,
    HistoryPage,
    Identity,
    JobAnswer,
    JobsPage,
    Load,
    RunAnswer,
    SimilarRuns,
    SiteStatus,
    Summary,
    WhyAnswer,
)
from schedmate.service.views.job_view import JobView
from schedmate.service.views.sentences import eta_sentence, why_sentence
from schedmate.service.views.similar import similar_runs
from schedmate.service.views.status import site_status
from schedmate.service.wiring import objections
from schedmate.web.asking import AJobId, AnOperator, AQueue, ASite, AViewer
from schedmate.web.etags import fresh_json, tagged_json
from schedmate.web.problems import NO_JOB, NOT_MODIFIED, PROBLEMS, described
from schedmate.web.queue import MOST, find, next_page
from schedmate.web.wording import in_words

router = APIRouter(prefix="/api/v1", responses={**PROBLEMS, **NOT_MODIFIED}, tags=["jobs"])
_FARTHEST = 10_000


@router.get("/jobs", response_model=JobsPage)
def jobs(request: Request, site: ASite, viewer: AViewer, wanted: AQueue) -> Response:
    """The queue, filtered and sorted, a page at a time."""
    found = find(
        site.board.views(),
        wanted,
        time.time(),
        lambda one: site.seen_by(viewer, one),
        viewer.may_read,
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
    """One job's whole view: record, prediction, progress, diagnoses, actions.

    `12_3` is a task of an array, `12+1` a part of a heterogeneous job.
    """
    view = site.job(job_id, viewer)
    known = {one.name: getattr(view, one.name) for one in fields(JobView)}
    return tagged_json(request, JobAnswer(**known, parts=site.parts(job_id)))


@router.get("/jobs/{job_id}/why", response_model=WhyAnswer, responses=NO_JOB)
def why(job_id: AJobId, site: ASite, viewer: AViewer) -> Response:
    """Why it waits, goes on or failed, in one sentence."""
    view = site.job(job_id, viewer)
    return fresh_json(
        WhyAnswer(
            job_id=view.job.id,
            state=view.job.state,
            reason=None if view.diagnosis is None else view.diagnosis.reason,
            answer=why_sentence(
                view,
                site.board.jobs(),
                time.time(),
                in_words,
                objection=objections(site.settings)(view.job),
            ),
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
    request: Request,
    site: ASite,
    viewer: AViewer,
    *,
    user: str = "",
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
    offset: Annotated[int, Query(ge=0, le=_FARTHEST)] = 0,
) -> Response:
    """Past runs, the newest first."""
    found = site.store.page_of_runs(user=user or None, limit=limit + 1, offset=offset)
    page = tuple(viewer.run(run) for run in found[:limit])
    more = len(found) > limit and offset + limit <= _FARTHEST
    following = (
        f"?{urlencode({'user': user, 'limit': limit, 'offset': offset + limit})}" if more else None
    )
    return tagged_json(request, HistoryPage(runs=page, next=following))


@router.get(
    "/history/{job_id}",
    response_model=RunAnswer,
    responses={404: described("The history has no such job.")},
    tags=["history"],
)
def past_run(job_id: AJobId, request: Request, site: ASite, viewer: AViewer) -> Response:
    """The last run of a past job."""
    run = viewer.run(site.past_run(job_id))
    return tagged_json(
        request, RunAnswer(**{one.name: getattr(run, one.name) for one in fields(PastRun)})
    )


@router.get("/summary", response_model=Summary, tags=["cluster"])
def summary(site: ASite, viewer: AViewer) -> Response:  # noqa: ARG001 - numbers, as squeue shows
    """Who runs and waits for how much, and what listed jobs failed of."""
    listed = site.board.jobs()
    active = [job for job in listed if not job.state.ended]
    reasons = Counter(one.reason for view in site.board.views() for one in view.diagnoses.values())
    states: Counter[str] = Counter()
    for job in listed:
        states[job.state.value] += job.tasks
    return fresh_json(
        Summary(
            states=dict(states),
            load=_load(active),
            users=_loads(active, lambda job: job.user),
            partitions=_loads(active, lambda job: job.request.partition or ""),
            failures=dict(reasons),
            looked_at=site.looked_at,
        )
    )


@router.get(
    "/status",
    response_model=SiteStatus,
    responses={404: described("For operators only.")},
    tags=["cluster"],
)
def status(site: ASite, viewer: AnOperator) -> Response:  # noqa: ARG001 - its being there counts
    """Daemon, store, decisions of a day, what the model cost, and who did what."""
    return fresh_json(site_status(site.settings, site.store, time.time()))


@router.get("/me", response_model=Identity, tags=["access"])
def me(viewer: AViewer) -> Response:
    """Who asks, as the server knows it; a stranger has no name."""
    return fresh_json(Identity(user=viewer.user, operator=viewer.operator))


def _loads(jobs: list[Job], name_of: Callable[[Job], str]) -> dict[str, Load]:
    by_name: dict[str, list[Job]] = {}
    for job in jobs:
        by_name.setdefault(name_of(job), []).append(job)
    return {name: _load(found) for name, found in sorted(by_name.items())}


def _load(jobs: list[Job]) -> Load:
    running = [job for job in jobs if job.state is JobState.RUNNING]
    pending = [job for job in jobs if job.state is JobState.PENDING]
    return Load(
        running=len(running),
        pending=sum(job.tasks for job in pending),
        gpus_running=sum(job.request.gpus for job in running),
        gpus_pending=sum(job.tasks * job.request.gpus for job in pending),
    )
