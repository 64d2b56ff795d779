"""What the clients of the load ask for, and how often."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.web.filled_store import SCRIPT
from bench.web.site import USERS
from schedmate.model import JobState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Job


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the table: `path` may hold what is filled in anew for each request."""

    name: str
    weight: int
    path: str
    body: str = ""
    is_page: bool = True


_ADVISE = json.dumps({"script": SCRIPT, "gpus": 1})
MIX: tuple[Route, ...] = (
    Route("queue", 20, "/"),
    Route("queue, live part", 10, "/?live"),
    Route("queue, by state", 5, "/?state=failed"),
    Route("queue, by user", 5, "/?user={user}"),
    Route("queue, search", 5, "/?q={word}"),
    Route("queue, sorted", 5, "/?sort={sort}&down=1"),
    Route("queue, a later page", 3, "/?offset={offset}"),
    Route("queue, 250 rows", 1, "/?limit=250"),
    Route("running job", 10, "/jobs/{running}"),
    Route("waiting job", 4, "/jobs/{waiting}"),
    Route("past job", 4, "/jobs/{past}"),
    Route("log", 6, "/jobs/{running}/log"),
    Route("log, a range", 4, "/jobs/{running}/log/lines?at={place}"),
    Route("log, search", 2, "/jobs/{running}/log?q=loss"),
    Route("cluster", 4, "/cluster"),
    Route("cluster, 90 days", 1, "/cluster?hours=2160&by=partition"),
    Route("nodes", 2, "/nodes"),
    Route("failures", 2, "/failures"),
    Route("failures, 90 days", 1, "/failures?days=90"),
    Route("accuracy", 2, "/accuracy"),
    Route("model", 1, "/model"),
    Route("rules", 1, "/rules"),
    Route("style sheet", 2, "/static/schedmate.css"),
    Route("api jobs", 5, "/api/v1/jobs", is_page=False),
    Route("api jobs, 250", 1, "/api/v1/jobs?limit=250", is_page=False),
    Route("api jobs, filtered", 3, "/api/v1/jobs?user={user}&state=running", is_page=False),
    Route("api job", 5, "/api/v1/jobs/{running}", is_page=False),
    Route("api job, past", 2, "/api/v1/jobs/{past}", is_page=False),
    Route("api why", 3, "/api/v1/jobs/{waiting}/why", is_page=False),
    Route("api eta", 3, "/api/v1/jobs/{running}/eta", is_page=False),
    Route("api similar", 1, "/api/v1/jobs/{running}/similar", is_page=False),
    Route("api progress", 5, "/api/v1/jobs/{running}/progress", is_page=False),
    Route("api prediction", 3, "/api/v1/jobs/{waiting}/prediction", is_page=False),
    Route("api predictions", 2, "/api/v1/predictions", is_page=False),
    Route("api history", 2, "/api/v1/history", is_page=False),
    Route("api history, 250", 1, "/api/v1/history?limit=250", is_page=False),
    Route("api history, far", 1, "/api/v1/history?offset=5000&user={user}", is_page=False),
    Route("api past run", 1, "/api/v1/history/{past}", is_page=False),
    Route("api summary", 2, "/api/v1/summary", is_page=False),
    Route("api status", 1, "/api/v1/status", is_page=False),
    Route("api me", 1, "/api/v1/me", is_page=False),
    Route("api advise", 2, "/api/v1/advise", body=_ADVISE, is_page=False),
    Route("openapi", 1, "/api/v1/openapi.json", is_page=False),
    Route("metrics", 1, "/metrics", is_page=False),
    Route("healthz", 1, "/healthz", is_page=False),
    Route("readyz", 1, "/readyz", is_page=False),
)


class Chooser:
    """Fills in what a route leaves open."""

    def __init__(self, listed: Sequence[Job], ended: int, seed: int) -> None:
        self._rng = random.Random(seed)
        self._running = [job.id for job in listed if job.state is JobState.RUNNING]
        self._waiting = [job.id for job in listed if job.state is JobState.PENDING]
        self._ended, self._listed = ended, len(listed)

    def route(self) -> Route:
        return self._rng.choices(MIX, [one.weight for one in MIX])[0]

    def path(self, route: Route) -> str:
        rng = self._rng
        return route.path.format(
            user=rng.choice(USERS),
            word=rng.choice(("bert", "gpu041", "resnet50-6", "ada")),
            sort=rng.choice(("ends", "predicted", "progress", "submitted", "user")),
            offset=rng.randrange(0, max(1, self._listed - 100), 100),
            running=rng.choice(self._running),
            waiting=rng.choice(self._waiting),
            past=rng.randint(1, self._ended),
            place=rng.randrange(0, 1000),
        )
