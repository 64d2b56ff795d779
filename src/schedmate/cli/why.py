"""`schedmate why`"""

from __future__ import annotations

import time

import click

from schedmate.cli._common import duration, echo, json_option, print_json, verb
from schedmate.cli._job_ids import complete_job_id
from schedmate.model.legible import legible


@verb(
    examples="""
schedmate why 12
schedmate why 12 --json
"""
)
@click.argument("job_id", metavar="ID", shell_complete=complete_job_id)
@json_option
def command(job_id: str, as_json: bool) -> None:
    """Why a job waits, goes on or failed, in one line; of an array one for each state."""
    from schedmate import config
    from schedmate.model.wire import to_json
    from schedmate.service.views.job_view import job_view, parts_in
    from schedmate.service.views.sentences import why_sentence
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import limits_of, open_scheduler, open_store

    settings = config.load()
    scheduler, store = open_scheduler(settings), open_store(settings)
    parts, viewer, queue = parts_in(scheduler, job_id), viewer_of(settings), scheduler.jobs()
    shown = [part.shown for part in parts] or [job_id]
    views = [job_view(scheduler, store, viewer, one) for one in shown]
    heads = [f"{part.in_words()}: " for part in parts] or [""]
    scope = None if settings.mode == "observe" else limits_of(settings, act_since=0.0).scope
    answers = [
        head
        + why_sentence(
            view,
            queue,
            time.time(),
            duration,
            objection=None if scope is None else scope.objection(view.job),
        )
        for head, view in zip(heads, views, strict=True)
    ]
    view = views[0]
    if as_json:
        print_json(
            {
                "schema": "schedmate.why/1",
                "job_id": job_id,
                "state": view.job.state.value,
                "reason": None if view.diagnosis is None else view.diagnosis.reason,
                "answer": "\n".join(answers),
                **({"parts": to_json(parts)} if parts else {}),
            }
        )
    else:
        for line in answers:
            echo(legible(line))
