"""`schedmate eta`"""

from __future__ import annotations

import time

import click

from schedmate.cli._common import duration, echo, json_option, print_json, verb
from schedmate.cli._job_ids import complete_job_id
from schedmate.model.legible import legible


@verb(
    examples="""
schedmate eta 12
schedmate eta 12 --json
"""
)
@click.argument("job_id", metavar="ID", shell_complete=complete_job_id)
@json_option
def command(job_id: str, as_json: bool) -> None:
    """When a job ends, in one line; of an array one for each state."""
    from schedmate import config
    from schedmate.model.wire import to_json
    from schedmate.service.views.job_view import job_view, parts_in
    from schedmate.service.views.sentences import eta_sentence
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    now = time.time()
    scheduler, store, viewer = open_scheduler(settings), open_store(settings), viewer_of(settings)
    parts = parts_in(scheduler, job_id)
    shown = [part.shown for part in parts] or [job_id]
    views = [job_view(scheduler, store, viewer, one) for one in shown]
    view = views[0]
    if as_json:
        left = view.remaining_s(now)
        print_json(
            {
                "schema": "schedmate.eta/1",
                "job_id": job_id,
                "state": view.job.state.value,
                "eta_s": None if left is None else to_json(left),
                "predicted_s": None if view.predicted is None else to_json(view.predicted),
                **({"parts": to_json(parts)} if parts else {}),
            }
        )
    else:
        heads = [f"{part.in_words()}: " for part in parts] or [""]
        for head, one in zip(heads, views, strict=True):
            echo(legible(head + eta_sentence(one, now, duration)))
