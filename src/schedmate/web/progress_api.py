"""Progress and predictions of jobs in the form that a scheduler plans with.

Sizes for Lucid (duration, GPU use), Sia (progress, remaining time), Kueue and the like: quantiles
in seconds, what a job asks for, how far it is, and how much the numbers are worth.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from schedmate.model.advice import Basis
from schedmate.model.job import is_among
from schedmate.service.views.answers import JobProgress, Predictions, ScheduledPrediction
from schedmate.service.views.job_view import JobView
from schedmate.web.asking import AJobId, ASite, AViewer
from schedmate.web.etags import fresh_json, tagged_json
from schedmate.web.paging import MOST_SMALL
from schedmate.web.problems import NO_JOB, PROBLEMS
from schedmate.web.queue import States
from schedmate.web.readings import AReadings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.model import Advice, JobId

router = APIRouter(prefix="/api/v1", responses=PROBLEMS, tags=["predictions"])
BASIS_CONFIDENCE: dict[Basis, float] = {
    "identical": 0.9,
    "same_code": 0.8,
    "similar": 0.6,
    "history": 0.4,
    "prior": 0.2,
    "none": 0.0,
}
"""How far a prediction is to be trusted before its run shows anything: an order, not measured."""


@router.get("/jobs/{job_id}/progress", response_model=JobProgress, responses=NO_JOB)
def progress(job_id: AJobId, request: Request, site: ASite, viewer: AViewer) -> Response:
    """How far a job is."""
    view = site.job(job_id, viewer)
    seen = view.progress
    return tagged_json(
        request,
        JobProgress(
            job_id=view.job.id,
            attempt=view.job.restarts,
            state=view.job.state,
            at=view.progress_at,
            progress=seen,
            work_fraction=None if seen is None else seen.work_fraction,
            time_fraction=None if seen is None else seen.time_fraction,
        ),
    )


@router.get("/jobs/{job_id}/prediction", response_model=ScheduledPrediction, responses=NO_JOB)
def prediction(job_id: AJobId, site: ASite, viewer: AViewer, readings: AReadings) -> Response:
    """Duration, remaining time, use of GPUs and progress of one job."""
    now = time.time()
    return fresh_json(scheduled(site.job(job_id, viewer), readings.starts(now), now))


@router.get("/predictions", response_model=Predictions)
def predictions(
    *,
    site: ASite,
    readings: AReadings,
    state: States = "PENDING,RUNNING",
    limit: Annotated[int, Query(ge=1, le=MOST_SMALL)] = MOST_SMALL,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """The same of all jobs that wait or run, in the order of their ids' submission."""
    now = time.time()
    starts = readings.starts(now)
    fitting = [view for view in site.board.views() if is_among(view.job.state, state)]
    fitting.sort(key=lambda view: (view.job.submit_time, view.job.id))
    page = fitting[offset : offset + limit]
    following = offset + len(page)
    more = f"?state={state}&limit={limit}&offset={following}" if following < len(fitting) else None
    return fresh_json(
        Predictions(
            predictions=tuple(scheduled(view, starts, now) for view in page),
            total=len(fitting),
            next=more,
        )
    )


def scheduled(view: JobView, starts: Mapping[JobId, float], now: float) -> ScheduledPrediction:
    """Numbers that everyone may see; `starts` are the seconds to when waiting jobs could start."""
    job, seen = view.job, view.progress
    left = view.remaining_s(now)
    from_log = left is not None and seen is not None and seen.eta_s is not None
    made = None if view.advice is None else view.advice.prediction
    basis: Basis = "none" if made is None else made.basis
    return ScheduledPrediction(
        job_id=job.id,
        user=job.user,
        state=job.state,
        partition=job.request.partition,
        gpus=job.request.gpus,
        nodes=job.request.nodes,
        duration_s=None if made is None else made.duration_s,
        elapsed_s=_elapsed_s(view, now),
        remaining_s=left,
        remaining_from=None if left is None else ("log" if from_log else "prediction"),
        progress=None if seen is None else seen.work_fraction,
        time_progress=None if seen is None else seen.time_fraction,
        rate_per_s=None if seen is None else seen.rate_per_s,
        unit=None if seen is None else seen.unit,
        gpu_memory_mb=None if made is None else made.gpu_memory_mb,
        gpu_utilization=None if made is None else made.gpu_utilization,
        outcome=None if made is None else made.outcome,
        start_s=starts.get(job.id),
        basis=basis,
        confidence=seen.confidence if from_log and seen is not None else BASIS_CONFIDENCE[basis],
        at=now,
    )


def scheduled_advice(
    advice: Advice, *, user: str, gpus: int, nodes: int, partition: str | None
) -> ScheduledPrediction:
    """Of a job that is not submitted yet."""
    made, workload = advice.prediction, advice.workload
    return ScheduledPrediction(
        job_id=None,
        user=user,
        state=None,
        partition=partition,
        gpus=gpus if workload.gpus is None else workload.gpus.value,
        nodes=nodes if workload.nodes is None else workload.nodes.value,
        duration_s=made.duration_s,
        elapsed_s=None,
        remaining_s=None,
        remaining_from=None,
        progress=None,
        rate_per_s=None,
        unit=None,
        gpu_memory_mb=made.gpu_memory_mb,
        gpu_utilization=made.gpu_utilization,
        outcome=made.outcome,
        basis=made.basis,
        confidence=BASIS_CONFIDENCE[made.basis],
        at=time.time(),
    )


def _elapsed_s(view: JobView, now: float) -> float | None:
    job = view.job
    if job.start_time is None:
        return None
    return max(0.0, (now if job.end_time is None else job.end_time) - job.start_time)
