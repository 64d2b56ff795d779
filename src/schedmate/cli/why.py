"""`schedmate why`"""

from __future__ import annotations

import time

import click

from schedmate.cli._common import duration, echo, json_option, print_json, verb
from schedmate.model.legible import legible


@verb(
    examples="""
schedmate why 12
schedmate why 12 --json
"""
)
@click.argument("job_id", metavar="ID")
@json_option
def command(job_id: str, as_json: bool) -> None:
    """Why a job waits, goes on or failed, in one line."""
    from schedmate import config
    from schedmate.service.views.job_view import job_view
    from schedmate.service.views.sentences import why_sentence
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    scheduler, store = open_scheduler(settings), open_store(settings)
    view = job_view(scheduler, store, viewer_of(settings), job_id)
    answer = why_sentence(view, scheduler.jobs(), time.time(), duration)
    if as_json:
        print_json(
            {
                "schema": "schedmate.why/1",
                "job_id": job_id,
                "state": view.job.state.value,
                "reason": None if view.diagnosis is None else view.diagnosis.reason,
                "answer": answer,
            }
        )
    else:
        echo(legible(answer))
