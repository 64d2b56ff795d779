"""`/healthz`: this process answers. `/readyz`: it can read its store, and the daemon looks."""

from __future__ import annotations

import time
from http import HTTPStatus

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from schedmate.web.asking import ASite
from schedmate.web.problems import problem

router = APIRouter()


@router.get("/healthz", response_model=dict[str, str])
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", response_model=dict[str, str])
def readyz(site: ASite) -> Response:
    """A real request: the board is read from the store, and the last look was not long ago."""
    site.refresh()
    age = site.look_age_s(time.time())
    if age is None:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, "the scheduler has not been looked at yet")
    if age > site.stale_after_s:
        return problem(
            HTTPStatus.SERVICE_UNAVAILABLE, f"the scheduler was last seen {age:.0f} s ago"
        )
    return JSONResponse({"status": "ready"})
