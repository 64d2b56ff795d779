"""Server-sent events: which jobs have changed, one stream a tab."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from schedmate.model import StoreError
from schedmate.web.asking import AViewer

if TYPE_CHECKING:
    from schedmate.model import JobId
    from schedmate.service.visibility import Viewer
    from schedmate.web.site import Site

router = APIRouter()
_KEEP_ALIVE_S = 15.0
_TOKENS_CHECKED_S = 3.0
"""A stream outlives its token by so long at most."""
_MOST_STREAMS, _MOST_OF_ONE = 500, 20
"""Open at once: of all, and of one user. Each holds a file descriptor of the daemon's."""
_MOST_NAMED = 200
"""Of the jobs in one event; where more have changed, all should be asked for."""


class Hub:
    """Wakes every open stream when jobs have changed; a slow one gets fewer, larger events."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[asyncio.Queue[list[JobId] | None], Viewer] = {}
        """By whom: the viewer that each stream is of."""
        site.listeners.append(self._changed)
        self._checking = self._loop.create_task(self._check_tokens())

    def close(self) -> None:
        self._site.listeners.remove(self._changed)
        self._checking.cancel()

    async def _check_tokens(self) -> None:
        """End the streams whose token was revoked or has expired."""
        while True:
            await asyncio.sleep(_TOKENS_CHECKED_S)
            if not any(viewer.token for viewer in self._waiting.values()):
                continue
            try:
                known = await run_in_threadpool(self._site.store.tokens)
            except StoreError as error:
                self._site.warn_of_store(error)
                continue
            now = time.time()
            valid = {token.id for token in known if token.is_valid(now)}
            for queue, viewer in self._waiting.items():
                if viewer.token is not None and viewer.token.id not in valid:
                    _end(queue)

    def _changed(self, jobs: list[JobId]) -> None:
        """From the thread that refreshes the board."""
        self._loop.call_soon_threadsafe(self._wake, jobs)

    def _wake(self, jobs: list[JobId]) -> None:
        for queue in self._waiting:
            pending = queue.get_nowait() if queue.full() else []
            ends = pending is None
            queue.put_nowait(None if ends else [*(pending or ()), *jobs][-_MOST_NAMED - 1 :])

    def end(self) -> None:
        """Of the server: no stream holds it up."""
        for queue in self._waiting:
            _end(queue)

    def has_room(self, user: str) -> bool:
        of_user = sum(one.user == user for one in self._waiting.values())
        return len(self._waiting) < _MOST_STREAMS and of_user < _MOST_OF_ONE

    async def events(self, viewer: Viewer) -> AsyncIterator[str]:
        queue: asyncio.Queue[list[JobId] | None] = asyncio.Queue(1)
        self._waiting[queue] = viewer
        try:
            yield "retry: 3000\n\n"
            while True:
                try:
                    jobs = await asyncio.wait_for(queue.get(), _KEEP_ALIVE_S)
                except TimeoutError:
                    yield ": still there\n\n"
                    continue
                if jobs is None:
                    return
                named = sorted(set(jobs)) if len(jobs) <= _MOST_NAMED else None
                data = json.dumps({"version": self._site.board.version, "jobs": named})
                yield f"id: {self._site.board.version}\nevent: jobs\ndata: {data}\n\n"
        finally:
            del self._waiting[queue]


def _end(queue: asyncio.Queue[list[JobId] | None]) -> None:
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(None)


@asynccontextmanager
async def open_hub(site: Site) -> AsyncIterator[Hub]:
    hub = Hub(site)
    try:
        yield hub
    finally:
        hub.close()


def end_all(app: FastAPI) -> None:
    """The streams of an application that is about to stop."""
    hub = getattr(app.state, "hub", None)
    if isinstance(hub, Hub):
        hub.end()


def hub_of(request: Request) -> Hub:
    hub = request.app.state.hub
    assert isinstance(hub, Hub)  # noqa: S101 - it is there as long as the application runs
    return hub


@router.get("/api/v1/events", response_class=StreamingResponse)
async def events(hub: Annotated[Hub, Depends(hub_of)], viewer: AViewer) -> StreamingResponse:
    """`jobs` events: the ids of the jobs that have changed, null where they are too many."""
    if not hub.has_room(viewer.user):
        raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, "too many open streams; close a tab")
    return StreamingResponse(
        hub.events(viewer),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store"},
    )
