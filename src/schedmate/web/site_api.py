"""`/api/v1` about the whole site: what its pages show, as data."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from schedmate.service.usecases import pausing
from schedmate.service.views.answers import ActsPage
from schedmate.service.views.site_answers import (
    AccuracyAnswer,
    ClusterAnswer,
    CorrectionsPage,
    FailuresAnswer,
    ModelAnswer,
    NodesPage,
    PauseAnswer,
    RulesPage,
    SiteStatus,
    Summary,
)
from schedmate.web.asking import AnOperator, ASite, AViewer
from schedmate.web.etags import fresh_json, tagged_json
from schedmate.web.overview import (
    accuracy_of,
    cluster_of,
    failures_of,
    model_of,
    nodes_of,
    summary_of,
)
from schedmate.web.paging import APage, page_of
from schedmate.web.problems import NOT_MODIFIED, PROBLEMS, described
from schedmate.web.readings import AReadings, By

router = APIRouter(prefix="/api/v1", responses=PROBLEMS, tags=["cluster"])
Hours = Annotated[int, Query(ge=1, le=2160)]
Days = Annotated[int, Query(ge=1, le=90)]
MOST_CORRECTIONS = 10_000
"""Among which a user's own are looked for."""
LONGEST_PAUSE_S = 366 * 86_400.0
Word = Annotated[str, Query(max_length=200)]
_OPERATORS: dict[int | str, dict[str, Any]] = {404: described("For operators only.")}


@router.get("/summary", response_model=Summary)
def summary(site: ASite, viewer: AViewer) -> Response:
    """Who runs and waits for how much, and what listed jobs of the asker failed of."""
    return fresh_json(summary_of(site, viewer))


@router.get("/cluster", response_model=ClusterAnswer)
def cluster(
    *,
    site: ASite,
    viewer: AViewer,
    readings: AReadings,
    paging: APage,
    hours: Hours = 24,
    by: By = "user",
) -> Response:
    """GPUs in use over time, by user or partition, and who waits for what until when."""
    return fresh_json(cluster_of(site, readings, viewer, paging, hours=hours, by=by))


@router.get("/nodes", response_model=NodesPage, responses=NOT_MODIFIED)
def nodes(
    *,
    request: Request,
    site: ASite,
    viewer: AViewer,
    paging: APage,
    q: Word = "",
    suspect: bool = False,
) -> Response:
    """The nodes, the most suspect first, with the failures that are held against each."""
    return tagged_json(request, nodes_of(site, viewer, paging, q=q, suspect=suspect))


@router.get("/failures", response_model=FailuresAnswer)
def failures(viewer: AViewer, readings: AReadings, days: Days = 30) -> Response:
    """Failures by reason over time, and the GPU hours that they cost.

    Only operators get the reasons of other users' failures.
    """
    return fresh_json(failures_of(readings, viewer, days=days))


@router.get("/accuracy", response_model=AccuracyAnswer, responses=NOT_MODIFIED)
def accuracy(request: Request, viewer: AViewer, readings: AReadings) -> Response:  # noqa: ARG001 - numbers
    """How good predictions, shown ends and diagnoses have been here."""
    return tagged_json(request, accuracy_of(readings))


@router.get("/model", response_model=ModelAnswer)
def model(site: ASite, viewer: AViewer, readings: AReadings, days: Days = 30) -> Response:  # noqa: ARG001 - numbers
    """What the language model was asked for and what it cost."""
    return fresh_json(model_of(site, readings, days=days))


@router.get("/rules", response_model=RulesPage, responses=NOT_MODIFIED, tags=["rules"])
def rules(
    *,
    request: Request,
    site: ASite,
    viewer: AViewer,
    paging: APage,
    proposed: bool | None = None,
) -> Response:
    """Rules that failures have taught; `proposed`: those of a model that wait for a decision.

    Only operators get those of other users' failures.
    """
    known = viewer.rules(
        rule for rule in site.store.learned_rules() if proposed is None or rule.proposed is proposed
    )
    asked = "" if proposed is None else str(proposed).lower()
    shown, following = page_of(known, paging, proposed=asked)
    return tagged_json(request, RulesPage(rules=shown, total=len(known), next=following))


@router.get("/corrections", response_model=CorrectionsPage, responses=NOT_MODIFIED, tags=["rules"])
def corrections(request: Request, site: ASite, viewer: AViewer, paging: APage) -> Response:
    """Diagnoses that people have corrected for all such failures.

    Only operators get those of other users' failures.
    """
    limit = paging.end + 1 if viewer.operator else MOST_CORRECTIONS
    found = site.store.past_failures(teacher="operator", limit=limit)
    shown, following = page_of(viewer.failures(found), paging)
    return tagged_json(request, CorrectionsPage(corrections=shown, next=following))


@router.get("/status", response_model=SiteStatus, responses=_OPERATORS)
def status(readings: AReadings, viewer: AnOperator) -> Response:  # noqa: ARG001 - its being there counts
    """Daemon, store, decisions of a day, what the model cost, and who did what."""
    return fresh_json(readings.status(time.time()))


class PauseBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    for_s: Annotated[float, Field(gt=0, le=LONGEST_PAUSE_S)] | None = None
    """After which it ends by itself; null: until it is resumed."""


@router.post("/pause", response_model=PauseAnswer, responses=_OPERATORS)
def pause(body: PauseBody, site: ASite, viewer: AnOperator) -> Response:
    """Let the daemon do nothing from now on; it goes on watching."""
    made = pausing.pause(site.store, body.for_s, user=viewer.user)
    return fresh_json(PauseAnswer(paused=made))


@router.post("/resume", response_model=PauseAnswer, responses=_OPERATORS)
def resume(site: ASite, viewer: AnOperator) -> Response:
    """Let it act again, as its mode allows."""
    pausing.resume(site.store, user=viewer.user)
    return fresh_json(PauseAnswer(paused=None))


@router.get(
    "/audit", response_model=ActsPage, responses={**_OPERATORS, **NOT_MODIFIED}, tags=["access"]
)
def audit(
    *,
    request: Request,
    site: ASite,
    viewer: AnOperator,  # noqa: ARG001 - as above
    paging: APage,
    user: Word = "",
    action: Word = "",
    about: Word = "",
) -> Response:
    """Who did what, the newest first, with sign-ins that failed."""
    found = site.store.acts(
        user=user or None,
        action=action or None,
        about=about or None,
        limit=paging.limit + 1,
        offset=paging.offset,
    )
    following = paging.following(
        more=len(found) > paging.limit, user=user, action=action, about=about
    )
    return tagged_json(request, ActsPage(acts=tuple(found[: paging.limit]), next=following))
