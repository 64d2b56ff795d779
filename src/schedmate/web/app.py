"""The application: all routes, errors and headers put together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware

import schedmate
from schedmate.service.usecases.quick_advice import QuickAdvice
from schedmate.service.wiring import open_store
from schedmate.web import (
    account_page,
    acting,
    acting_api,
    advise_api,
    api,
    guard,
    health,
    job_page,
    log_api,
    log_view,
    metrics,
    notify_api,
    pages,
    progress_api,
    site_api,
    site_pages,
    stream,
    token_api,
)
from schedmate.web.error_page import add_error_pages
from schedmate.web.problems import add_problems
from schedmate.web.readings import Readings

if TYPE_CHECKING:
    from starlette.responses import Response

    from schedmate.web.site import Site

_WARM_AFTER_S = 1.0
"""The first page needs nothing of it."""
STATIC = Path(__file__).parent / "static"
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Of every answer; the server adds them, since it answers some requests without the application."""


def _warm(advice: QuickAdvice, readings: Readings) -> None:
    """What the first who ask for advice and figures would wait for."""
    advice.rehearse()
    threading.Thread(target=readings.warm, name="warm", daemon=True).start()


def create_app(site: Site) -> FastAPI:
    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        with closing(QuickAdvice(lambda: open_store(site.settings))) as app.state.advice:
            loop = asyncio.get_running_loop()
            warm = loop.call_later(_WARM_AFTER_S, _warm, app.state.advice, app.state.readings)
            try:
                async with stream.open_hub(site) as app.state.hub:
                    yield
            finally:
                warm.cancel()

    app = FastAPI(
        title="SchedMate",
        version=schedmate.__version__,
        description="What the daemon knows of the jobs of a scheduler. It decides nothing.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=running,
    )
    app.state.site = site
    app.state.metrics = metrics.Metrics(site)
    app.state.readings = Readings.of(site)
    for part in (
        *(api, log_api, progress_api, advise_api, acting_api, site_api, token_api, notify_api),
        stream,
        *(health, metrics),
        *(pages, job_page, log_view, site_pages, account_page, acting),
    ):
        app.include_router(part.router)
    files = CachedFiles(directory=STATIC, packages=[("schedmate.design", "static")])
    app.mount("/static", files, name="static")
    add_problems(app)
    add_error_pages(app)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    app.add_middleware(guard.HeadAsGet)
    web = site.settings.web
    app.add_middleware(
        guard.Gate,
        access=lambda: site.access,
        rate=web.requests_a_second,
        names=(web.host, *web.names),
        sign_ins=site.sign_ins,
        warn_of_store=site.warn_of_store,
    )
    app.add_middleware(metrics.CountRequests, metrics=app.state.metrics)
    return app


class CachedFiles(StaticFiles):
    """Asked for once an hour at most, and then by their ETag."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        answer = super().file_response(*args, **kwargs)
        answer.headers["Cache-Control"] = "max-age=3600"
        return answer
