"""`schedmate eta`"""

from __future__ import annotations

import time

import click

from schedmate.cli._common import duration, echo, json_option, print_json, verb
from schedmate.model.legible import legible


@verb(
    examples="""
schedmate eta 12
schedmate eta 12 --json
"""
)
@click.argument("job_id", metavar="ID")
@json_option
def command(job_id: str, as_json: bool) -> None:
    """When a job ends, in one line."""
    from schedmate import config
    from schedmate.model.wire import to_json
    from schedmate.service.views.job_view import job_view
    from schedmate.service.views.sentences import eta_sentence
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    now = time.time()
    view = job_view(open_scheduler(settings), open_store(settings), viewer_of(settings), job_id)
    if as_json:
        left = view.remaining_s(now)
        print_json(
            {
                "schema": "schedmate.eta/1",
                "job_id": job_id,
                "state": view.job.state.value,
                "eta_s": None if left is None else to_json(left),
                "predicted_s": None if view.predicted is None else to_json(view.predicted),
            }
        )
    else:
        echo(legible(eta_sentence(view, now, duration)))
