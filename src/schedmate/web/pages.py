"""The queue, as a page."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from schedmate.model import JobState
from schedmate.service.records.pause import pause_of
from schedmate.service.views.queue_row import queue_row
from schedmate.web.asking import AQueue, ASite, AViewer
from schedmate.web.paging import MOST
from schedmate.web.queue import find, last_page, next_page
from schedmate.web.readings import AReadings
from schedmate.web.templating import live_page
from schedmate.web.wording import in_words

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@router.get("/")
def queue(
    request: Request, site: ASite, viewer: AViewer, readings: AReadings, wanted: AQueue
) -> HTMLResponse:
    """The queue, as the query string asks for it."""
    now = time.time()
    found = find(
        site.views(viewer, wanted.reason),
        wanted,
        now,
        lambda one: site.shown_to(viewer, one),
        viewer,
    )
    accuracy = readings.accuracy_by_now(now)
    return live_page(
        "queue.html",
        request,
        viewer=viewer,
        looked_at=site.looked_at,
        stale=site.is_stale(now),
        paused=pause_of(site.store, now),
        wanted=wanted,
        found=found,
        following=next_page(wanted, found),
        before=wanted.before,
        last=last_page(wanted, found),
        most=MOST,
        rows=[queue_row(view, now, in_words) for view in found.views],
        starts=readings.starts(now),
        predictions=accuracy.predictions[0],
        etas=next((one for one in accuracy.etas if one.error is not None), None),
        states=JobState,
        summary=_summary(site.board.jobs()),
    )


def _summary(jobs: list[Any]) -> dict[str, int]:
    running = [job for job in jobs if job.state is JobState.RUNNING]
    return {
        "running": len(running),
        "waiting": sum(job.tasks for job in jobs if job.state is JobState.PENDING),
        "failed": sum(job.state.failed for job in jobs),
        "gpus": sum(job.request.gpus for job in running),
    }
