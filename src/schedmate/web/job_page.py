"""One job's whole story: its record, prediction and reality, curves, diagnoses, decisions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from schedmate.model import JobState, NotFound
from schedmate.model.failures import CORRECTIONS
from schedmate.service.usecases.persons_decisions import may_withdraw
from schedmate.service.usecases.revert import is_revertible
from schedmate.service.views.doomed import doomed_line, doomed_sentence
from schedmate.service.views.job_story import (
    is_file_name,
    job_logs,
    logs_of_attempts,
    path_of,
    quoted_file,
    record_fields,
    written_logs,
)
from schedmate.service.views.log_ranges import open_log
from schedmate.service.views.queue_row import queue_row
from schedmate.service.views.run_curves import speed_seen
from schedmate.service.views.sentences import (
    actions_in_words,
    eta_sentence,
    expected_in_words,
    retry_sentence,
)
from schedmate.service.views.similar import similar_runs
from schedmate.service.wiring import open_scheduler
from schedmate.web.asking import ASite, AViewer
from schedmate.web.charts import Chart, line_chart
from schedmate.web.readings import AReadings
from schedmate.web.templating import live_page, page
from schedmate.web.wording import RETRIES, in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from schedmate.model import Evidence, JobId, Spread
    from schedmate.model.action import ActionKind, ActionRecord, ActionState
    from schedmate.service.views.answers import Curve, JobAct
    from schedmate.service.views.job_view import JobView
    from schedmate.service.views.log_ranges import LogRange
    from schedmate.service.visibility import Viewer
    from schedmate.web.readings import Readings
    from schedmate.web.site import Site

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_DOES: dict[ActionKind, str] = {
    "set_nice": "place in the queue: nice",
    "set_time_limit": "time limit",
    "set_time_min": "least time",
    "set_dependency": "dependency anew",
    "share": "parts of a GPU",
    "drain": "drain the node",
    "warn": "warning",
    "leave": "nothing to do",
}
"""Of the kinds whose names say too little; the others are words already."""
_BECAME: dict[ActionState, str] = {"observed": "only recorded"}
_CONTEXT = 40
"""Lines of a file before and after the one that is quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A prediction against reality on one scale; places are in percent."""

    low: float
    middle: float
    high: float
    real: float | None
    real_s: float | None
    ended: bool


@router.get("/jobs/{job_id}")
def job(
    job_id: str, request: Request, site: ASite, viewer: AViewer, readings: AReadings
) -> HTMLResponse:
    now = time.time()
    view = site.job(job_id, viewer)
    row = queue_row(view, now, in_words)
    readable = viewer.may_read(view.job.user)
    logs = job_logs(view) if readable else ()
    attempts = logs_of_attempts(view) if readable else ()
    written = written_logs(view, attempts)
    score = readings.accuracy(now).predictions
    basis = "" if view.advice is None else view.advice.prediction.basis
    return live_page(
        "job.html",
        request,
        viewer=viewer,
        view=view,
        row=row,
        eta=eta_sentence(view, now, in_words),
        why=site.why(view),
        doomed=doomed_sentence(view),
        doomed_line=doomed_line(view),
        retry=None if view.retry is None else retry_sentence(view.retry, now, in_words),
        start_s=readings.starts(now).get(view.job.id),
        expected=None if view.predicted is None else expected_in_words(view.predicted, in_words),
        against=_against(view.predicted, row.run_time_s, ended=view.job.state.ended),
        score=next((one for one in score if one.name == basis), None),
        fields=[] if view.advice is None else record_fields(view.advice.workload),
        behind=similar_runs(view, site.store, viewer).runs,
        actions=_decisions(view),
        acts=site.store.acts(about=f"job {view.job.id}") if readable else (),
        logs=attempts,
        written=written,
        first_log=next((place for place, log in enumerate(attempts) if log in written), None),
        charts=_charts(curves_of(view, logs, site, readings)) if readable else [],
        link=_linker(view, attempts),
        readable=readable,
        token=readings.token(viewer),
        reasons=CORRECTIONS,
        retries=RETRIES,
        acting=site.settings.mode == "act",
        may=acts_open_to(site, viewer, view),
    )


@router.get("/jobs/{job_id}/file")
def quoted(
    *,
    job_id: str,
    name: str,
    request: Request,
    site: ASite,
    viewer: AViewer,
    line: Annotated[int, Query(ge=1)] = 1,
) -> HTMLResponse:
    """The lines of a file around one that the job's page quotes, read with its owner's rights."""
    view = readable_job(site, job_id, viewer)
    return page(
        "file.html",
        request,
        viewer=viewer,
        view=view,
        file=name,
        line=line,
        shown=shown_around(view, name, line, viewer),
        masked=view.job.user != viewer.user,
    )


def shown_around(view: JobView, name: str, line: int, viewer: Viewer) -> LogRange:
    """The lines of a quoted file around this one; secrets of other users are masked."""
    masked = view.job.user != viewer.user
    with open_log(quoted_file(view, name), view.job.user) as file:
        begin = file.offset_of(max(1, line - _CONTEXT))
        return file.forwards(begin, lines=2 * _CONTEXT + 1, masked=masked)


def readable_job(site: Site, job_id: JobId, viewer: Viewer) -> JobView:
    """A job whose text the viewer may see; any other is as unknown as one that is not there."""
    view = site.job(job_id, viewer)
    if not viewer.may_read(view.job.user):
        raise NotFound(f"neither the queue nor the history knows a job {job_id}")
    return view


def curves_of(view: JobView, logs: Sequence[Path], site: Site, readings: Readings) -> list[Curve]:
    """Loss and speed, by the log; the speed else by when the daemon saw how much was done."""
    workload = None if view.advice is None else view.advice.workload
    curves = list(readings.curves.curves(view.job, logs, workload).drawn)
    if not any(one.name.endswith("a second") for one in curves):
        run = site.store.run(view.job.id, view.job.restarts)
        profile = None if run is None else run.profile
        speed = speed_seen(view, profile, site.store.counts_seen(view.job.id))
        curves += [] if speed is None else [speed]
    return curves


def _charts(curves: Sequence[Curve]) -> list[Chart]:
    drawn = (
        line_chart(
            one.name,
            one.points,
            along="time" if one.timed else "count",
            unit="" if one.timed else one.unit,
            from_zero=place > 0,
            colour=place,
        )
        for place, one in enumerate(curves)
    )
    return [chart for chart in drawn if chart is not None]


def _decisions(view: JobView) -> list[tuple[ActionRecord, str, str]]:
    """Each record with what became of it and what it does, in words."""
    return [
        (
            record,
            _BECAME.get(record.state, record.state),
            words.replace(record.action.kind, _DOES.get(record.action.kind, record.action.kind), 1),
        )
        for record, words in zip(
            view.actions, actions_in_words(view.actions, in_words), strict=True
        )
    ]


def _against(predicted: Spread | None, real_s: float | None, *, ended: bool) -> Against | None:
    if predicted is None or predicted.too_wide:
        return None
    whole = 1.05 * max(predicted.p90, real_s or 0.0, 1.0)
    return Against(
        low=100 * predicted.p10 / whole,
        middle=100 * predicted.p50 / whole,
        high=100 * predicted.p90 / whole,
        real=None if real_s is None else 100 * real_s / whole,
        real_s=real_s,
        ended=ended,
    )


def _linker(view: JobView, logs: Sequence[Path]) -> Callable[[Evidence], str]:
    """Where a quoted line can be seen in its file; empty where it is in none."""

    def link(evidence: Evidence) -> str:
        if not is_file_name(evidence.file) or not view.job.workdir:
            return ""
        path = path_of(view.job, evidence.file)
        base = f"/jobs/{urlencode({'': view.job.id})[1:]}"
        if path in logs:
            query = urlencode({"file": logs.index(path), "line": evidence.line})
            return f"{base}/log?{query}#L{evidence.line}"
        query = urlencode({"name": evidence.file, "line": evidence.line})
        return f"{base}/file?{query}#L{evidence.line}"

    return link


def acts_open_to(site: Site, viewer: Viewer, view: JobView) -> tuple[JobAct, ...]:
    """What the viewer may do to this job now."""
    found: list[JobAct] = []
    if viewer.user and viewer.may_read(view.job.user) and _is_diagnosed(view):
        found.append("correct")
        if may_withdraw(site.store, view.job, operator=viewer.operator):
            found.append("withdraw")
    if viewer.operator and not view.job.state.ended and view.actions:
        scheduler = open_scheduler(site.settings)
        found += ["revert"] if is_revertible(scheduler, view.job, view.actions) else []
    if may_stop(viewer, view):
        found.append("stop")
    return tuple(found)


def may_stop(viewer: Viewer, view: JobView) -> bool:
    """Whether it runs on for nothing, and is the viewer's own or the viewer an operator."""
    in_vain = view.job.state is JobState.RUNNING and view.doomed is not None
    return in_vain and (viewer.operator or (bool(viewer.user) and viewer.user == view.job.user))


def _is_diagnosed(view: JobView) -> bool:
    return view.job.state.failed and view.job.restarts in view.diagnoses
