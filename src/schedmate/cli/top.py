"""`schedmate top`"""

from __future__ import annotations

import click

from schedmate.cli._common import dry_run_option, echo, json_option, print_json, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id


@verb(
    cls=OnHost,
    examples="""
schedmate top 12
schedmate top 12 --dry-run
""",
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_job_id)
@dry_run_option
@json_option
def command(ids: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Put waiting jobs before your others, the first one first."""
    from schedmate import config
    from schedmate.model.arrays import expand_job_ids
    from schedmate.service.usecases.interventions import move_to_top, would_move_to_top
    from schedmate.service.wiring import open_scheduler

    scheduler = open_scheduler(config.load())
    chosen = expand_job_ids(ids)
    for job_id in reversed(chosen):
        if dry_run:
            echo(would_move_to_top(scheduler, job_id), err=as_json)
        else:
            move_to_top(scheduler, job_id)
    if as_json:
        print_json({"schema": "schedmate.topped/1", "job_ids": [] if dry_run else chosen})
