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
    from schedmate.cli._site import sight_of
    from schedmate.model.wire import to_json
    from schedmate.service.views.sentences import eta_sentence

    sight = sight_of(config.load(), job_id)
    now, view = time.time(), sight.views[0]
    if as_json:
        left = view.remaining_s(now)
        print_json(
            {
                "schema": "schedmate.eta/1",
                "job_id": job_id,
                "state": view.job.state.value,
                "eta_s": None if left is None else to_json(left),
                "predicted_s": None if view.predicted is None else to_json(view.predicted),
                **({"parts": to_json(sight.parts)} if sight.parts else {}),
            }
        )
    else:
        for line in sight.headed([eta_sentence(one, now, duration) for one in sight.views]):
            echo(legible(line))
