"""A job's log, quoted files and curves as data, for those who may read its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from schedmate.service.views.answers import (
    ActsPage,
    CurvesAnswer,
    FileAnswer,
    LogAnswer,
    LogLineAnswer,
    LogRangeAnswer,
)
from schedmate.service.views.job_story import job_logs
from schedmate.service.views.log_ranges import MOST_LINES, LogRange
from schedmate.service.views.log_search import names_trouble, search
from schedmate.web.asking import AJobId, ASite, AViewer
from schedmate.web.etags import fresh_json, tagged_json
from schedmate.web.job_page import curves_of, readable_job, shown_around
from schedmate.web.log_view import chosen_ranges, opened_log
from schedmate.web.paging import APage, page_of
from schedmate.web.problems import NOT_MODIFIED, PROBLEMS, described
from schedmate.web.readings import AReadings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from schedmate.service.views.log_ranges import LogLine

router = APIRouter(
    prefix="/api/v1/jobs/{job_id}",
    responses={**PROBLEMS, 404: described("There is no such job or file that the asker may read.")},
    tags=["jobs"],
)
FARTHEST = 2**62
Place = Annotated[int, Query(ge=0, le=FARTHEST)]
FileNumber = Annotated[int, Query(ge=0, le=1000)]


@router.get("/log", response_model=LogAnswer)
def log(
    *,
    job_id: AJobId,
    site: ASite,
    viewer: AViewer,
    file: FileNumber = 0,
    at: Place | None = None,
    line: Annotated[int, Query(ge=1, le=FARTHEST)] | None = None,
    q: Annotated[str, Query(max_length=1000)] = "",
    show: Literal["", "cause", "start", "end"] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_LINES)] = MOST_LINES,
) -> Response:
    """Lines from the byte `at`, around a line, with the words `q`, at the start, the end or cause.

    Without any of these: the context of the cause where one is known, else the end. A search reads
    on from `at` where `next` says so.
    """
    with opened_log(site, job_id, viewer, file) as opened:
        query: dict[str, object] = {"file": file}
        if q:
            begin = at or 0
            found = search(opened.log, q, begin=begin, masked=opened.masked)
            ranges = [LogRange(lines=found.lines, begin=begin, end=found.searched, size=found.size)]
            query["q"] = q
        elif opened.absent:
            ranges = []
        elif at is not None:
            ranges = [opened.log.forwards(at, lines=limit, masked=opened.masked)]
        else:
            ranges, _ = chosen_ranges(opened, at=None, line=line, show=show, lines=limit)
        more = bool(ranges) and ranges[-1].end < opened.log.size
        if more:
            query |= {"at": ranges[-1].end} | ({} if q else {"limit": limit})
        return fresh_json(
            LogAnswer(
                job_id=opened.view.job.id,
                files=tuple(path.name for path in opened.logs),
                file=file,
                size=opened.log.size,
                identity="" if opened.absent else opened.log.identity,
                absent=opened.absent or None,
                masked=opened.masked,
                ranges=tuple(_range(one, opened.cause) for one in ranges),
                next=f"?{urlencode(query)}" if more else None,
            )
        )


@router.get("/file", response_model=FileAnswer)
def file(
    *,
    job_id: AJobId,
    site: ASite,
    viewer: AViewer,
    name: Annotated[str, Query(max_length=4096)],
    line: Annotated[int, Query(ge=1, le=FARTHEST)] = 1,
) -> Response:
    """The lines around one that evidence of this job quotes, read with its owner's rights."""
    view = readable_job(site, job_id, viewer)
    shown = shown_around(view, name, line, viewer)
    return fresh_json(
        FileAnswer(
            job_id=view.job.id,
            name=name,
            masked=view.job.user != viewer.user,
            lines=_lines(shown.lines, ()),
        )
    )


@router.get("/curves", response_model=CurvesAnswer, responses=NOT_MODIFIED)
def curves(
    job_id: AJobId, request: Request, site: ASite, viewer: AViewer, readings: AReadings
) -> Response:
    """Loss and speed of its last attempt."""
    view = readable_job(site, job_id, viewer)
    found = curves_of(view, job_logs(view), site, readings)
    return tagged_json(request, CurvesAnswer(job_id=view.job.id, curves=tuple(found)))


@router.get("/acts", response_model=ActsPage, responses=NOT_MODIFIED)
def acts(job_id: AJobId, request: Request, site: ASite, viewer: AViewer, paging: APage) -> Response:
    """What people did to it through SchedMate, the newest first."""
    view = readable_job(site, job_id, viewer)
    found = site.store.acts(about=f"job {view.job.id}", limit=paging.end + 1)
    shown, following = page_of(found, paging)
    return tagged_json(request, ActsPage(acts=shown, next=following))


def _range(found: LogRange, cause: Collection[int]) -> LogRangeAnswer:
    return LogRangeAnswer(begin=found.begin, end=found.end, lines=_lines(found.lines, cause))


def _lines(found: Iterable[LogLine], cause: Collection[int]) -> tuple[LogLineAnswer, ...]:
    return tuple(
        LogLineAnswer(
            number=one.number,
            offset=one.offset,
            text=one.screen.text,
            cause=one.number in cause,
            error=names_trouble(one.screen.text),
        )
        for one in found
    )
