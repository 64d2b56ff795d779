"""`schedmate requeue`"""

from __future__ import annotations

import click

from schedmate.cli._common import dry_run_option, echo, json_option, print_json, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id


@verb(
    cls=OnHost,
    examples="""
schedmate requeue 12
schedmate requeue 12-15 20_[0-3]
schedmate requeue 12 --dry-run
""",
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_job_id)
@dry_run_option
@json_option
def command(ids: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Queue running or ended jobs again under their ids."""
    from schedmate import config
    from schedmate.model.arrays import expand_job_ids
    from schedmate.service.usecases.interventions import requeue, would_requeue
    from schedmate.service.wiring import open_scheduler

    scheduler = open_scheduler(config.load())
    chosen = expand_job_ids(ids)
    for job_id in chosen:
        if dry_run:
            echo(would_requeue(scheduler, job_id), err=as_json)
        else:
            requeue(scheduler, job_id)
    if as_json:
        print_json({"schema": "schedmate.requeued/1", "job_ids": [] if dry_run else chosen})
