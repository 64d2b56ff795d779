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
    """Why a job waits, goes on or failed, in one line; of an array one for each state."""
    from schedmate import config
    from schedmate.model.wire import to_json
    from schedmate.service.views.job_view import job_view, parts_in
    from schedmate.service.views.sentences import why_sentence
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    scheduler, store = open_scheduler(settings), open_store(settings)
    parts, viewer, queue = parts_in(scheduler, job_id), viewer_of(settings), scheduler.jobs()
    views = [job_view(scheduler, store, viewer, part.example) for part in parts]
    if not parts:
        views = [job_view(scheduler, store, viewer, job_id)]
    sentences = [why_sentence(view, queue, time.time(), duration) for view in views]
    lines = [
        f"{part.in_words()}: {sentence}" for part, sentence in zip(parts, sentences, strict=False)
    ]
    view, answer = views[0], "\n".join(lines or sentences)
    if as_json:
        print_json(
            {
                "schema": "schedmate.why/1",
                "job_id": job_id,
                "state": view.job.state.value,
                "reason": None if view.diagnosis is None else view.diagnosis.reason,
                "answer": answer,
                **({"parts": to_json(parts)} if parts else {}),
            }
        )
    else:
        for line in answer.splitlines():
            echo(legible(line))
