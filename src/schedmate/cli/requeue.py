"""`schedmate requeue`"""

from __future__ import annotations

import click

from schedmate.cli._common import json_option, print_json, verb


@verb(
    examples="""
schedmate requeue 12
schedmate requeue 12 13 --json
"""
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@json_option
def command(ids: tuple[str, ...], as_json: bool) -> None:
    """Queue running or ended jobs again under their ids."""
    from schedmate import config
    from schedmate.service.usecases.interventions import requeue
    from schedmate.service.wiring import open_scheduler

    scheduler = open_scheduler(config.load())
    for job_id in ids:
        requeue(scheduler, job_id)
    if as_json:
        print_json({"schema": "schedmate.requeued/1", "job_ids": list(ids)})
