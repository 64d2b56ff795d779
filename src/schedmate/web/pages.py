"""The pages: HTML made here, readable without JavaScript."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from schedmate.model import JobState
from schedmate.service.views.queue_row import queue_row
from schedmate.service.views.sentences import (
    actions_in_words,
    eta_sentence,
    expected_in_words,
    why_sentence,
)
from schedmate.web.asking import AQueue, ASite, AViewer
from schedmate.web.queue import find, next_page
from schedmate.web.wording import clock, in_words, short

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=select_autoescape(default=True, default_for_string=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {"short": short, "clock": clock}


def page(name: str, request: Request, **context: Any) -> HTMLResponse:
    """`name` in full, or only its changing part where htmx asks for that."""
    live = request.headers.get("HX-Request") == "true"
    template = _TEMPLATES.get_template(f"parts/{name}" if live else name)
    return HTMLResponse(template.render(request=request, now=time.time(), **context))


@router.get("/")
def queue(request: Request, site: ASite, viewer: AViewer, wanted: AQueue) -> HTMLResponse:
    """The queue, as the query string asks for it."""
    now = time.time()
    found = find(site.board.views(), wanted, now, lambda one: site.seen_by(viewer, one))
    return page(
        "queue.html",
        request,
        viewer=viewer,
        looked_at=site.looked_at,
        stale=site.is_stale(now),
        wanted=wanted,
        found=found,
        following=next_page(wanted, found),
        before=wanted.before,
        rows=[queue_row(view, now, in_words) for view in found.views],
        states=JobState,
        summary=_summary(site.board.jobs()),
    )


@router.get("/jobs/{job_id}")
def job(job_id: str, request: Request, site: ASite, viewer: AViewer) -> HTMLResponse:
    """One job's whole story."""
    now = time.time()
    view = site.job(job_id, viewer)
    return page(
        "job.html",
        request,
        viewer=viewer,
        view=view,
        row=queue_row(view, now, in_words),
        eta=eta_sentence(view, now, in_words),
        why=why_sentence(view, site.board.jobs(), now, in_words),
        expected=None if view.predicted is None else expected_in_words(view.predicted, in_words),
        actions=list(zip(view.actions, actions_in_words(view.actions, in_words), strict=True)),
    )


def _summary(jobs: list[Any]) -> dict[str, int]:
    running = [job for job in jobs if job.state is JobState.RUNNING]
    return {
        "running": len(running),
        "waiting": sum(job.tasks for job in jobs if job.state is JobState.PENDING),
        "failed": sum(job.state.failed for job in jobs),
        "gpus": sum(job.request.gpus for job in running),
    }
