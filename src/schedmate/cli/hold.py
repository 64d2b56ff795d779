"""`schedmate hold`"""

from __future__ import annotations

import click

from schedmate.cli._changing import change_jobs
from schedmate.cli._common import dry_run_option, json_option, verb
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
    change_jobs(
        expand_job_ids(ids),
        scheduler.hold,
        lambda job_id: would_hold(scheduler, job_id),
        schema="schedmate.held/1",
        dry_run=dry_run,
        as_json=as_json,
    )
