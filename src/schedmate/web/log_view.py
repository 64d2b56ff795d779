"""A job's log by ranges: folded to the cause, around a line, searched, or its end as it grows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse

from schedmate.model import BadInput, NotFound
from schedmate.model.key_blocks import KeyBlocks
from schedmate.service.views.job_story import (
    absence,
    logs_of_attempts,
    path_of,
    written_logs,
)
from schedmate.service.views.log_fold import folded
from schedmate.service.views.log_ranges import (
    BLOCK,
    MOST_LINES,
    LogFile,
    MissingLog,
    empty_log,
    open_log,
)
from schedmate.service.views.log_search import (
    names_trouble,
    next_trouble,
    previous_trouble,
    search,
)
from schedmate.service.views.log_terminal import masked_text
from schedmate.web.asking import ASite, AViewer
from schedmate.web.job_page import readable_job
from schedmate.web.templating import page, part

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.model import JobId
    from schedmate.service.views.job_view import JobView
    from schedmate.service.views.log_ranges import LogRange
    from schedmate.service.views.log_search import Matches
    from schedmate.service.visibility import Viewer
    from schedmate.web.site import Site

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_BEFORE = 30
"""Lines that are shown before the one that was asked for."""
Place = Annotated[int | None, Query(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """One log of a job, opened for one viewer."""

    view: JobView
    logs: tuple[Path, ...]
    place: int
    log: LogFile
    masked: bool
    absent: str = ""
    """Why there is no such file, in a sentence; `log` is empty then."""

    @property
    def path(self) -> Path | None:
        """None where no log of the job is known."""
        return self.logs[self.place] if self.logs else None

    @property
    def choice(self) -> list[tuple[int, str]]:
        """The places and names of the logs that can be opened, and of this one."""
        there = written_logs(self.view, self.logs)
        return [
            (place, path.name)
            for place, path in enumerate(self.logs)
            if path in there or place == self.place
        ]

    @property
    def cause(self) -> set[int]:
        """Lines of this log that a diagnosis quotes; a later run may have overwritten it."""
        here, job = self.path, self.view.job
        of_last_run = here in {path_of(job, name) for name in job.logs}
        return {
            one.line
            for attempt, found in self.view.diagnoses.items()
            for one in found.evidence
            if path_of(job, one.file) == here and (attempt == job.restarts or not of_last_run)
        }

    def url(self, below: str = "", **values: object) -> str:
        query = urlencode({"file": self.place, **values})
        return f"/jobs/{quote(self.view.job.id, safe='')}/log{below}?{query}"


@router.get("/jobs/{job_id}/log")
def log(
    *,
    job_id: str,
    request: Request,
    site: ASite,
    viewer: AViewer,
    file: Annotated[int, Query(ge=0)] = 0,
    at: Place = None,
    line: Place = None,
    q: str = "",
    show: str = "",
    no_more: str = "",
) -> HTMLResponse:
    """Without a place: the context of the cause where one is known, else the end."""
    with opened_log(site, job_id, viewer, file) as opened:
        matches: Matches | None = None
        ranges: list[LogRange] = []
        if q:
            matches = search(opened.log, q, begin=at or 0, masked=opened.masked)
        elif opened.absent:
            show = "end"
        else:
            ranges, show = chosen_ranges(opened, at=at, line=line, show=show)
        return page(
            "log.html",
            request,
            viewer=viewer,
            opened=opened,
            view=opened.view,
            ranges=ranges,
            matches=matches,
            q=q,
            line=line,
            show=show,
            no_more=no_more,
            follows=show == "end" and not opened.log.packed and not opened.view.job.state.ended,
            names_trouble=names_trouble,
        )


@router.get("/jobs/{job_id}/log/lines")
def lines(
    *,
    job_id: str,
    request: Request,
    site: ASite,
    viewer: AViewer,
    at: Annotated[int, Query(ge=0)],
    file: Annotated[int, Query(ge=0)] = 0,
    back: bool = False,
    known: str = "",
) -> HTMLResponse:
    """What follows this byte, or comes before it, as rows.

    `known` is the file that the page has shown so far: where another one has taken its place, or
    it was cut, its beginning is returned.
    """
    with opened_log(site, job_id, viewer, file) as opened:
        begun_anew = bool(known) and (known != opened.log.identity or at > opened.log.size)
        place = 0 if begun_anew else at
        if back:
            found = opened.log.backwards(place, masked=opened.masked)
        else:
            found = opened.log.forwards(place, masked=opened.masked)
        answer = part(
            "loglines.html",
            request,
            opened=opened,
            ranges=[found],
            line=None,
            names_trouble=names_trouble,
        )
        answer.headers["X-Log-Begin"] = str(found.begin)
        answer.headers["X-Log-End"] = str(_complete(opened.log, found))
        answer.headers["X-Log-Size"] = str(found.size)
        answer.headers["X-Log-Identity"] = opened.log.identity
        answer.headers["X-Log-Anew"] = "yes" if begun_anew else "no"
        return answer


@router.get("/jobs/{job_id}/log/next-error")
def next_error(
    *,
    job_id: str,
    site: ASite,
    viewer: AViewer,
    at: Annotated[int, Query(ge=0)] = 0,
    file: Annotated[int, Query(ge=0)] = 0,
    back: bool = False,
) -> RedirectResponse:
    """To the next line that names trouble behind this byte, or the last one before its line.

    Where there is none, to that end of the log; a long one is searched over several redirects.
    """
    with opened_log(site, job_id, viewer, file) as opened:
        seek = previous_trouble if back else next_trouble
        found = seek(opened.log, at)
        if found.line is not None:
            number = opened.log.number_at(found.line)
            anchor = f"o{found.line}" if number is None else f"L{number}"
            target = f"{opened.url(at=found.line)}#{anchor}"
        elif 0 < found.reached < opened.log.size:
            target = opened.url("/next-error", at=found.reached, **({"back": 1} if back else {}))
        elif back:
            target = opened.url(show="start", no_more="earlier")
        else:
            target = opened.url(show="end", no_more="later")
        return RedirectResponse(target, status_code=303)


@router.get("/jobs/{job_id}/log/raw")
def raw(
    job_id: str, site: ASite, viewer: AViewer, file: Annotated[int, Query(ge=0)] = 0
) -> StreamingResponse:
    """The whole log as plain text, a block at a time."""
    with opened_log(site, job_id, viewer, file) as opened:
        path, owner, masked = opened.path, opened.view.job.user, opened.masked
        if path is None or opened.absent:
            raise NotFound(opened.absent)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(path.name, safe='')}"}
    return StreamingResponse(
        _blocks(path, owner, masked=masked), media_type="text/plain; charset=utf-8", headers=headers
    )


@contextmanager
def opened_log(site: Site, job_id: JobId, viewer: Viewer, place: int) -> Iterator[LogPage]:
    """A log that is not there is opened as an empty one, with the reason."""
    view = readable_job(site, job_id, viewer)
    logs = logs_of_attempts(view)
    if place >= max(1, len(logs)):
        raise NotFound(f"job {job_id} has no log number {place}")
    path = logs[place] if logs else None
    masked = view.job.user != viewer.user
    with ExitStack() as stack:
        try:
            log = stack.enter_context(open_log(path, view.job.user) if path else empty_log())
            absent = "" if path else absence(view, path)
        except MissingLog:
            log, absent = stack.enter_context(empty_log()), absence(view, path)
        yield LogPage(view=view, logs=logs, place=place, log=log, masked=masked, absent=absent)


def chosen_ranges(
    opened: LogPage, *, at: int | None, line: int | None, show: str, lines: int = MOST_LINES
) -> tuple[list[LogRange], str]:
    """What is shown of a log, and which kind of choice it is."""
    log, masked = opened.log, opened.masked
    if line is not None:
        return [_around(log, log.offset_of(line), lines, masked=masked)], "range"
    if at is not None:
        return [_around(log, log.line_start(at), lines, masked=masked)], "range"
    if show not in ("", "cause", "start", "end"):
        raise BadInput("show is one of: cause, start, end")
    cause = opened.cause
    if show == "start":
        return [log.forwards(0, lines=lines, masked=masked)], "start"
    if show == "cause" or (not show and cause):
        return folded(log, cause, masked=masked), "cause"
    return [log.backwards(log.size, lines=lines, masked=masked)], "end"


def _around(log: LogFile, start: int, lines: int, *, masked: bool) -> LogRange:
    """The line that begins there is always among them, however long those before it are."""
    before = log.backwards(start, lines=min(_BEFORE, lines - 1), masked=masked)
    found = log.forwards(start, lines=lines - len(before.lines), masked=masked)
    return replace(found, begin=before.begin, lines=before.lines + found.lines)


def _complete(log: LogFile, found: LogRange) -> int:
    """Where the next look begins: a line that is still being written is read again."""
    if found.end < log.size or not found.lines:
        return found.end
    finished = log.read(found.end - 1, 1) == b"\n"
    return found.end if finished else found.lines[-1].offset


def _blocks(path: Path, owner: str, *, masked: bool) -> Iterator[bytes]:
    with open_log(path, owner) as log:
        at, keys = 0, KeyBlocks()
        while block := log.read(at, BLOCK):
            cut = block.rfind(b"\n") + 1
            if masked and cut and at + len(block) < log.size:
                block = block[:cut]
            at += len(block)
            if masked:
                clean = keys.masked_lines(block).decode("utf-8", "replace")
                block = masked_text(clean).encode()
            yield block
