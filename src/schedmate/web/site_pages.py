"""Pages about the whole site: cluster, nodes, failures, accuracy, the model, rules."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from schedmate.model import JobState
from schedmate.service.views.accuracy import diagnoses
from schedmate.service.views.model_use import model_use
from schedmate.service.views.sentences import turn, why_sentence
from schedmate.service.views.site_load import (
    failure_kinds,
    failures_over_time,
    loads,
    use_over_time,
    uses,
)
from schedmate.web.asking import ASite, AViewer
from schedmate.web.charts import line_chart, stacked_chart
from schedmate.web.readings import AReadings
from schedmate.web.templating import live_page, page
from schedmate.web.wording import in_words

if TYPE_CHECKING:
    from schedmate.service.views.site_load import FailuresOverTime, UseOverTime

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_BINS = 120
_MOST_WAITING = 30
_MOST_REASONS = 6
Days = Annotated[int, Query(ge=1, le=90)]


@router.get("/cluster")
def cluster(
    *,
    request: Request,
    site: ASite,
    viewer: AViewer,
    readings: AReadings,
    hours: Annotated[int, Query(ge=1, le=2160)] = 24,
    by: Literal["user", "partition"] = "user",
) -> HTMLResponse:
    now = time.time()
    views = site.board.views()
    found = uses(readings.window.runs(now, days=hours / 24), views, now)
    over_time = use_over_time(
        found, now, hours=hours, bins=_BINS, by=lambda use: getattr(use, by) or "-"
    )
    jobs = [view.job for view in views]
    pending = sorted(
        (view for view in views if view.job.state is JobState.PENDING),
        key=lambda view: turn(view.job),
    )
    shown = [site.seen_by(viewer, view) for view in pending[:_MOST_WAITING]]
    since = now - 3600 * hours
    recent = [replace(use, begin=max(use.begin, since)) for use in found if use.end >= since]
    return live_page(
        "cluster.html",
        request,
        viewer=viewer,
        hours=hours,
        by=by,
        use=_use_chart(over_time, hours),
        by_user=loads(views, recent, now, lambda user, _: user),
        by_partition=loads(views, recent, now, lambda _, partition: partition or "-"),
        waiting=[(view, why_sentence(view, jobs, now, in_words)) for view in shown],
        more=len(pending) - len(shown),
        starts=readings.starts(now),
    )


@router.get("/nodes")
def nodes(
    request: Request, site: ASite, viewer: AViewer, readings: AReadings, q: str = ""
) -> HTMLResponse:
    now = time.time()
    known = [
        replace(view, suspicion=viewer.suspicion(view.suspicion))
        for view in readings.nodes.views(now)
        if q in view.name
    ]
    running: dict[str, int] = {}
    for job in site.board.jobs():
        if job.state is JobState.RUNNING:
            for node in job.nodes:
                running[node] = running.get(node, 0) + 1
    return live_page("nodes.html", request, viewer=viewer, nodes=known, running=running, q=q)


@router.get("/failures")
def failures(
    request: Request, viewer: AViewer, readings: AReadings, days: Days = 30
) -> HTMLResponse:
    now = time.time()
    runs = readings.window.runs(now, days=days)
    over_time = failures_over_time(runs, now, days=days, bins=min(60, 4 * days))
    return live_page(
        "failures.html",
        request,
        viewer=viewer,
        days=days,
        over_time=_failure_chart(over_time, days),
        kinds=failure_kinds(runs),
        ended=len(runs),
        failed=sum(run.state.failed for run in runs),
    )


@router.get("/accuracy")
def accuracy(request: Request, site: ASite, viewer: AViewer, readings: AReadings) -> HTMLResponse:
    now = time.time()
    runs = readings.window.runs(now)
    measured = readings.accuracy(now)
    corrected = len(site.store.past_failures(teacher="operator", limit=10_000))
    trend = [(at, 100 * error) for at, error in measured.by_week]
    return page(
        "accuracy.html",
        request,
        viewer=viewer,
        predictions=measured.predictions,
        etas=measured.etas,
        diagnoses=diagnoses(runs, corrected=corrected),
        trend=line_chart(
            "Error of predictions by week, in percent", trend, along="clock", from_zero=True
        ),
    )


@router.get("/model")
def model(request: Request, site: ASite, viewer: AViewer, days: Days = 30) -> HTMLResponse:
    now = time.time()
    used = model_use(site.store.model_calls(since=now - days * 86400), now, days=days)
    chart = stacked_chart(
        "Tokens by purpose",
        used.rows,
        begin=used.begin,
        step_s=used.step_s,
        summary=f"Tokens that were asked and answered in the last {days} days, by purpose",
    )
    return page(
        "model.html",
        request,
        viewer=viewer,
        days=days,
        used=used,
        tokens=chart,
        enabled=site.settings.llm.enabled,
        spent=site.store.spending(),
    )


@router.get("/rules")
def rules(request: Request, site: ASite, viewer: AViewer, readings: AReadings) -> HTMLResponse:
    """What was learnt, what a model proposes, and what people did."""
    known = [viewer.rule(rule) for rule in site.store.learned_rules()]
    return page(
        "rules.html",
        request,
        viewer=viewer,
        proposed=[rule for rule in known if rule.proposed],
        learned=[rule for rule in known if not rule.proposed],
        corrections=[
            viewer.failure(past) for past in site.store.past_failures(teacher="operator", limit=200)
        ],
        acts=site.store.acts() if viewer.operator else (),
        token=readings.token(viewer),
    )


def _use_chart(found: UseOverTime, hours: int) -> object:
    what = "Running jobs" if found.counts_jobs else "GPUs in use"
    most = max((max(row) for _, row in found.rows), default=0.0)
    return stacked_chart(
        what,
        found.rows,
        begin=found.begin,
        step_s=found.step_s,
        summary=f"{what} in the last {hours} hours, up to {most:.0f} of {found.rows[0][0]}"
        if found.rows
        else "",
    )


def _failure_chart(found: FailuresOverTime, days: int) -> object:
    shown = list(found.rows[:_MOST_REASONS])
    rest = [row for _, row in found.rows[_MOST_REASONS:]]
    if rest:
        shown.append(("others", tuple(map(sum, zip(*rest, strict=True)))))
    named = ", ".join(f"{sum(row)} {name}" for name, row in shown)
    return stacked_chart(
        "Failures by reason",
        shown,
        begin=found.begin,
        step_s=found.step_s,
        summary=f"Failures of the last {days} days by reason: {named}",
    )
