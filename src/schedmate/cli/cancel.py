"""`schedmate cancel`"""

from __future__ import annotations

import click

from schedmate.cli._common import dry_run_option, echo, json_option, print_json, verb
from schedmate.cli._job_ids import complete_job_id


@verb(
    examples="""
schedmate cancel 12
schedmate cancel 12 13 --json
schedmate cancel 12 --dry-run
"""
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_job_id)
@dry_run_option
@json_option
def command(ids: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Cancel jobs, waiting or running."""
    from schedmate import config
    from schedmate.service.usecases.interventions import would_cancel
    from schedmate.service.wiring import open_scheduler

    scheduler = open_scheduler(config.load())
    for job_id in ids:
        if dry_run:
            echo(would_cancel(scheduler, job_id), err=as_json)
        else:
            scheduler.cancel(job_id)
    if as_json:
        done: list[str] = [] if dry_run else list(ids)
        print_json({"schema": "schedmate.cancelled/1", "job_ids": done})
