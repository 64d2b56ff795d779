"""`/healthz`: requests are answered. `/readyz`: and the daemon sees the scheduler."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from schedmate.web.access import STRANGER
from schedmate.web.asking import ASite
from schedmate.web.problems import Problem, problem
from schedmate.web.queue import Wanted, find
from schedmate.web.site import Site

router = APIRouter(responses={503: {"model": Problem}})


class Health(BaseModel):
    status: Literal["ok", "ready"]


@router.get("/healthz", response_model=Health, tags=["health"])
def healthz(site: ASite) -> Response:
    """A request like any other: the queue as a stranger sees it, from a worker thread."""
    _look_at_queue(site)
    return JSONResponse({"status": "ok"})


@router.get("/readyz", response_model=Health, tags=["health"])
def readyz(site: ASite) -> Response:
    """The store was read just now, and the scheduler was seen not long ago."""
    site.refresh()
    _look_at_queue(site)
    if site.standing_by:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, "this daemon stands by: another one decides")
    age = site.look_age_s(time.time())
    if age is None:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, "the scheduler has not been looked at yet")
    if age > site.stale_after_s:
        return problem(
            HTTPStatus.SERVICE_UNAVAILABLE, f"the scheduler was last seen {age:.0f} s ago"
        )
    return JSONResponse({"status": "ready"})


def _look_at_queue(site: Site) -> None:
    find(
        site.board.views()[:1],
        Wanted(limit=1),
        time.time(),
        lambda one: site.seen_by(STRANGER, one),
    )
