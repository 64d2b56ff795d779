"""`schedmate hold`"""

from __future__ import annotations

import click

from schedmate.cli._common import dry_run_option, echo, json_option, print_json, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id


@verb(
    cls=OnHost,
    examples="""
schedmate hold 12
schedmate hold 12-15 20_[0-3]
schedmate hold 12 --dry-run
""",
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_job_id)
@dry_run_option
@json_option
def command(ids: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Keep waiting jobs from starting until they are released."""
    from schedmate import config
    from schedmate.model.arrays import expand_job_ids
    from schedmate.service.usecases.interventions import would_hold
    from schedmate.service.wiring import open_scheduler

    scheduler = open_scheduler(config.load())
    chosen = expand_job_ids(ids)
    for job_id in chosen:
        if dry_run:
            echo(would_hold(scheduler, job_id), err=as_json)
        else:
            scheduler.hold(job_id)
    if as_json:
        print_json({"schema": "schedmate.held/1", "job_ids": [] if dry_run else chosen})
