"""Pages about the whole site: cluster, nodes, failures, accuracy, the model, rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from schedmate.service.views.site_load import OF_OTHERS, UNDIAGNOSED
from schedmate.web.asking import ASite, AViewer
from schedmate.web.charts import line_chart, stacked_chart
from schedmate.web.overview import accuracy_of, cluster_of, failures_of, model_of, nodes_of
from schedmate.web.paging import Paging
from schedmate.web.readings import AReadings, By
from schedmate.web.site_api import MOST_CORRECTIONS, Days, Hours
from schedmate.web.templating import live_page, page

if TYPE_CHECKING:
    from schedmate.service.views.site_answers import ClusterAnswer, OverTime

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_MOST_WAITING = 30
_MOST_NODES = 500
_MOST_REASONS = 6
_MOST_SHOWN = 200
"""Corrections on the page."""


@router.get("/cluster")
def cluster(
    *,
    request: Request,
    site: ASite,
    viewer: AViewer,
    readings: AReadings,
    hours: Hours = 24,
    by: By = "user",
) -> HTMLResponse:
    found = cluster_of(site, readings, viewer, Paging(limit=_MOST_WAITING), hours=hours, by=by)
    return live_page(
        "cluster.html",
        request,
        viewer=viewer,
        hours=hours,
        by=by,
        use=_use_chart(found, hours),
        by_user=found.users,
        by_partition=found.partitions,
        waiting=found.waiting,
        more=found.total - len(found.waiting),
    )


@router.get("/nodes")
def nodes(request: Request, site: ASite, viewer: AViewer, q: str = "") -> HTMLResponse:
    found = nodes_of(site, viewer, Paging(limit=_MOST_NODES), q=q, suspect=False)
    return live_page(
        "nodes.html", request, viewer=viewer, nodes=found.nodes, total=found.total, q=q
    )


@router.get("/failures")
def failures(
    request: Request, viewer: AViewer, readings: AReadings, days: Days = 30
) -> HTMLResponse:
    found = failures_of(readings, viewer, days=days)
    return live_page(
        "failures.html",
        request,
        viewer=viewer,
        days=days,
        over_time=_failure_chart(found.over_time, days),
        kinds=found.kinds,
        without_jobs=(UNDIAGNOSED, OF_OTHERS),
        ended=found.ended,
        failed=found.failed,
    )


@router.get("/accuracy")
def accuracy(request: Request, viewer: AViewer, readings: AReadings) -> HTMLResponse:
    found = accuracy_of(readings)
    trend = [(week.at, 100 * week.error) for week in found.by_week]
    return page(
        "accuracy.html",
        request,
        viewer=viewer,
        predictions=found.predictions,
        etas=found.etas,
        diagnoses=found.diagnoses,
        trend=line_chart(
            "Error of predictions by week, in percent", trend, along="clock", from_zero=True
        ),
    )


@router.get("/model")
def model(
    request: Request, site: ASite, viewer: AViewer, readings: AReadings, days: Days = 30
) -> HTMLResponse:
    used = model_of(site, readings, days=days)
    chart = stacked_chart(
        "Tokens by purpose",
        _rows(used.over_time),
        begin=used.over_time.begin,
        step_s=used.over_time.step_s,
        summary=f"Tokens that were asked and answered in the last {days} days, by purpose",
    )
    return page("model.html", request, viewer=viewer, days=days, used=used, tokens=chart)


@router.get("/rules")
def rules(request: Request, site: ASite, viewer: AViewer, readings: AReadings) -> HTMLResponse:
    """What was learnt, what a model proposes, and what people did."""
    known = viewer.rules(site.store.learned_rules())
    corrections = site.store.past_failures(
        teacher="operator", limit=_MOST_SHOWN if viewer.operator else MOST_CORRECTIONS
    )
    return page(
        "rules.html",
        request,
        viewer=viewer,
        proposed=[rule for rule in known if rule.proposed],
        learned=[rule for rule in known if not rule.proposed],
        corrections=viewer.failures(corrections)[:_MOST_SHOWN],
        acts=site.store.acts() if viewer.operator else (),
        token=readings.token(viewer),
    )


def _use_chart(found: ClusterAnswer, hours: int) -> object:
    what = "Running jobs" if found.counts_jobs else "GPUs in use"
    rows = _rows(found.use)
    most = max((max(row) for _, row in rows), default=0.0)
    return stacked_chart(
        what,
        rows,
        begin=found.use.begin,
        step_s=found.use.step_s,
        summary=f"{what} in the last {hours} hours, up to {most:.0f} of {rows[0][0]}"
        if rows
        else "",
    )


def _failure_chart(found: OverTime, days: int) -> object:
    rows = _rows(found)
    shown, rest = rows[:_MOST_REASONS], [row for _, row in rows[_MOST_REASONS:]]
    if rest:
        shown.append(("others", tuple(map(sum, zip(*rest, strict=True)))))
    named = ", ".join(f"{sum(row):.0f} {name}" for name, row in shown)
    return stacked_chart(
        "Failures by reason",
        shown,
        begin=found.begin,
        step_s=found.step_s,
        summary=f"Failures of the last {days} days by reason: {named}",
    )


def _rows(found: OverTime) -> list[tuple[str, tuple[float, ...]]]:
    return [(one.name, one.values) for one in found.series]
