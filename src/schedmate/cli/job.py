"""`schedmate job`"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import duration, echo, json_option, print_json, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id
from schedmate.model.legible import legible
from schedmate.model.opinions import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.model import Checkpoint, Evidence, Progress
    from schedmate.service.views.job_view import JobView


@verb(
    cls=OnHost,
    examples="""
schedmate job 12
schedmate job 12 --json
""",
)
@click.argument("job_id", metavar="ID", shell_complete=complete_job_id)
@json_option
def command(job_id: str, as_json: bool) -> None:
    """One job's whole view: record, prediction against reality, progress, diagnosis, actions."""
    from schedmate import config
    from schedmate.cli._site import sight_of
    from schedmate.model.wire import to_json

    sight = sight_of(config.load(), job_id, first=True)
    view, parts = sight.views[0], sight.parts
    if as_json:
        more = {"parts": to_json(parts)} if parts else {}
        print_json({"schema": "schedmate.job/1", **to_json(view), **more})
    else:
        for part in parts:
            echo(legible(f"parts of {job_id}  {part.in_words()}"))
        for line in job_lines(view):
            echo(legible(line))


def job_lines(view: JobView) -> Iterator[str]:
    job = view.job
    yield f"job {job.id}  {job.name}  {job.state}" + (
        f"  restarts {job.restarts}" * bool(job.restarts)
    )
    if not job.workdir:
        yield f"  user        {job.user}; what it runs and prints is shown to them and to operators"
    else:
        yield f"  command     {' '.join(job.command)}"
        yield f"  directory   {job.workdir}"
    yield f"  submitted   {_when(job.submit_time)}"
    if job.start_time is not None:
        yield f"  ran         {_when(job.start_time)} to {_when(job.end_time)}"
    yield from _advice(view)
    yield from _progress(view)
    for attempt, diagnosis in view.diagnoses.items():
        found = f"{diagnosis.reason}: {diagnosis.summary} ({diagnosis.source})"
        yield f"  attempt {attempt + 1}   {found}"
        yield from (f"    {line.file}:{line.line}: {line.text}" for line in diagnosis.evidence)
        if attempt < job.restarts and diagnosis.last_lines:
            yield "    the last lines of its logs then:"
            yield from (
                f"    {line.file}:{line.line}: {line.text}" for line in diagnosis.last_lines
            )
        if diagnosis.suggestion:
            yield f"    do: {diagnosis.suggestion}"
        yield f"    {diagnosis.decision.retry}: {diagnosis.decision.why}"
        yield from (f"    {label}: {text}" for label, text in in_words(diagnosis.opinion))
    yield from _actions(view)


def _quoted(lines: Sequence[Evidence]) -> Iterator[str]:
    return (f"    {one.file}:{one.line}: {one.text}" for one in lines)


def _actions(view: JobView) -> Iterator[str]:
    from schedmate.service.views.holds import held_in_words
    from schedmate.service.views.sentences import actions_in_words, retry_sentence

    for record, words in zip(view.actions, actions_in_words(view.actions, duration), strict=True):
        yield f"  {record.state:<11} {words}"
    if view.job.held:
        yield f"  waits       {held_in_words(view)}"
    if view.retry is not None:
        yield f"  next        {retry_sentence(view.retry, time.time(), duration)}"
    for one in view.suspects:
        evidence = f"{one.failures} failures of {one.users} users"
        yield f"  suspect     {one.node}, {one.probability:.0%} sure: {evidence}"


def _advice(view: JobView) -> Iterator[str]:
    if view.advice is None:
        return
    spread, real = view.predicted, view.job.run_time_s
    reality = "" if real is None else f", really {duration(real)}"
    if spread is not None:
        from schedmate.service.views.sentences import expected_in_words

        yield f"  predicted   {expected_in_words(spread, duration)}{reality}"
    if view.advice.prediction.explanation:
        yield f"              {view.advice.prediction.explanation}"
    yield from (f"  {remark.level:<11} {remark.text}" for remark in view.advice.advice)


def _progress(view: JobView) -> Iterator[str]:
    progress = view.progress
    if progress is None:
        return
    if progress.current is not None:
        total = "" if progress.total is None else f"/{progress.total:g}"
        yield f"  progress    {progress.phase}, {progress.unit} {progress.current:g}{total}"
    yield from _more(view, progress)


def _more(view: JobView, progress: Progress) -> Iterator[str]:
    from schedmate.service.views.sentences import end_in_words, slowdown_in_words

    left = view.remaining_s(time.time())
    if left is not None and progress.eta_s is not None:
        yield f"              {end_in_words(left, progress.ends_by, duration)}"
    if progress.slowdown is not None:
        yield f"  slow-down   {slowdown_in_words(progress.slowdown, duration)}"
    if progress.note:
        yield f"  note        {progress.note}"
    yield from (f"  warning     {one.reason}: {one.text}" for one in progress.warnings)
    if progress.checkpoint is not None:
        yield f"  checkpoint  {_checkpoint(progress.checkpoint)}"
    yield from (f"  link        {link}" for link in progress.links)


def _checkpoint(saved: Checkpoint) -> str:
    step = "" if saved.step is None else f"step {saved.step}"
    return " ".join(part for part in (step, saved.path) if part)


def _when(at: float | None) -> str:
    return (
        "now" if at is None else datetime.fromtimestamp(at).astimezone().isoformat(" ", "seconds")
    )
