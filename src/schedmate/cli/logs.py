"""`schedmate logs`"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import json_option, print_json, say, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.cli._log_text import LogText, Output
    from schedmate.config import Settings
    from schedmate.model import Job

_FOLLOWED_LINES = 100
_LOOK_EVERY_S, _ASK_EVERY_S = 0.25, 2.0


@verb(
    cls=OnHost,
    examples="""
schedmate logs 12
schedmate logs -f 12
schedmate logs -n 20 12_3
schedmate logs --attempt 1 12
schedmate logs --stderr 12
""",
)
@click.argument("job_id", metavar="JOB", shell_complete=complete_job_id)
@click.option("-f", "--follow", is_flag=True, help="Go on until the job has ended, or Ctrl-C.")
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(0),
    help=f"Only so many last lines; default: all, with --follow the last {_FOLLOWED_LINES}.",
)
@click.option("--attempt", type=click.IntRange(1), help="Of an earlier run, counted from 1.")
@click.option("--stderr", "only_stderr", is_flag=True, help="Only what --error sent elsewhere.")
@json_option
def command(
    *,
    job_id: str,
    follow: bool,
    lines: int | None,
    attempt: int | None,
    only_stderr: bool,
    as_json: bool,
) -> None:
    """What a job prints, as it comes: waiting jobs are waited for, tasks of an array named.

    Several files are headed by their names, as tail does it. A run that is queued again is
    followed into its next attempt.
    """
    if follow and (as_json or attempt):
        raise click.UsageError("--follow goes with neither --json nor --attempt")
    from schedmate import config

    asked = _Asked(job_id, lines, attempt, only_stderr=only_stderr)
    settings = config.load()
    if follow:
        _follow(settings, asked)
    elif as_json:
        _print_json(settings, asked)
    else:
        _print(_known(settings, job_id), asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    job_id: str
    lines: int | None
    attempt: int | None
    only_stderr: bool

    def files(self, job: Job) -> tuple[str, ...]:
        from schedmate.cli._log_text import logs_of

        found = logs_of(job, attempt=self.attempt)
        return found[1:] if self.only_stderr else found


def _known(settings: Settings, job_id: str) -> Sequence[Job]:
    """The job or the tasks of an array, as this user may see them."""
    from contextlib import closing

    from schedmate.model import NotFound
    from schedmate.service.met_jobs import met_jobs
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    viewer = viewer_of(settings)
    with closing(open_store(settings)) as store:
        scheduler, called = open_scheduler(settings), store.called(job_id)
        found = met_jobs(scheduler, store, [called])
        past = None if found else store.run(called)
    if not found and past is None:
        raise NotFound(f"neither {scheduler.name} nor the history knows a job {job_id}")
    jobs = found if past is None else [past.job]
    return [viewer.job(job) for job in jobs]


def _print(jobs: Sequence[Job], asked: _Asked) -> None:
    from schedmate.cli._log_text import Output

    shown = _Shown(Output(), asked, headed=sum(len(asked.files(job)) for job in jobs) > 1)
    for job in jobs:
        shown.open(job, asked.lines)
    if not shown.texts:
        _refuse(jobs, asked)
    shown.write_added(complain=True)
    shown.output.flush()


def _refuse(jobs: Sequence[Job], asked: _Asked) -> None:
    """There is nothing to read: why."""
    from schedmate.model import BadInput, JobState, NotFound

    job = jobs[0]
    if not job.workdir:
        raise BadInput(f"what job {asked.job_id} prints is shown to {job.user} and to operators")
    if asked.attempt is not None and asked.attempt > job.restarts + 1:
        raise NotFound(f"job {asked.job_id} has had {job.restarts + 1} runs")
    if asked.only_stderr:
        raise NotFound(f"job {asked.job_id} has no file of its own for stderr")
    if job.state is JobState.PENDING:
        raise NotFound(f"job {asked.job_id} waits and has printed nothing; -f waits for it")
    raise NotFound(f"no log of job {asked.job_id} is known")


def _print_json(settings: Settings, asked: _Asked) -> None:
    from schedmate.cli._log_text import LogText

    found = []
    for job in _known(settings, asked.job_id):
        for path in asked.files(job):
            text = LogText(Path(path))
            if asked.lines is not None:
                text.skip_to_last(asked.lines)
            content = b"".join(text.added()).decode("utf-8", "replace")
            found.append({"job_id": job.id, "path": path, "text": content})
    print_json({"schema": "schedmate.logs/1", "logs": found})


def _follow(settings: Settings, asked: _Asked) -> None:
    """Until all have ended, or Ctrl-C."""
    from schedmate.cli._log_text import Output
    from schedmate.model import JobState

    jobs = _known(settings, asked.job_id)
    lines = _FOLLOWED_LINES if asked.lines is None else asked.lines
    shown = _Shown(Output(), asked, headed=sum(len(asked.files(job)) for job in jobs) > 1)
    if all(job.state is JobState.PENDING for job in jobs):
        because = f" ({jobs[0].reason})" if jobs[0].reason else ""
        say(f"job {asked.job_id} waits in the queue{because}")
    try:
        asked_at = time.monotonic()
        while True:
            over = all(job.state.ended for job in jobs)  # before the last words are read
            for job in jobs:
                shown.open(job, lines)
            if not shown.texts and (over or not jobs[0].workdir):
                _refuse(jobs, asked)
            shown.write_added()
            shown.output.flush()
            if over:
                return
            lines = -1
            time.sleep(_LOOK_EVERY_S)
            if time.monotonic() - asked_at >= _ASK_EVERY_S:
                jobs, asked_at = _known(settings, asked.job_id), time.monotonic()
    except KeyboardInterrupt:
        shown.output.flush()


@dataclass(slots=True)
class _Shown:
    output: Output
    asked: _Asked
    headed: bool
    texts: dict[str, LogText] = field(default_factory=dict)
    last: str = ""

    def open(self, job: Job, lines: int | None) -> None:
        """Its files that are not open yet; `lines` below 0 or None: from the beginning."""
        from schedmate.cli._log_text import LogText

        for path in self.asked.files(job):
            if path in self.texts:
                continue
            text = self.texts[path] = LogText(Path(path))
            if lines is not None and lines >= 0:
                text.skip_to_last(lines)
        self.headed = self.headed or len(self.texts) > 1

    def write_added(self, *, complain: bool = False) -> None:
        for path, text in self.texts.items():
            before = text.at
            for block in text.added():
                if self.headed and self.last != path:
                    self.output.write(f"{chr(10) if self.last else ''}==> {path} <==\n".encode())
                self.last = path
                self.output.write(block)
            if complain and before == text.at == 0 and not text.path.exists():
                say(f"{path} is not there (yet)")
