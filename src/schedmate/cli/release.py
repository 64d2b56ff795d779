"""`schedmate release`"""

from __future__ import annotations

from contextlib import closing

import click

from schedmate.cli._common import dry_run_option, echo, json_option, print_json, verb
from schedmate.cli._job_ids import complete_job_id


@verb(
    examples="""
schedmate release 12
schedmate release 12 13 --json
schedmate release 12 --dry-run
"""
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_job_id)
@dry_run_option
@json_option
def command(ids: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Let jobs start that SchedMate holds; they are not held again."""
    from schedmate import config
    from schedmate.service.usecases.audit import record_act
    from schedmate.service.usecases.interventions import release, would_release
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    scheduler = open_scheduler(settings)
    with closing(open_store(settings)) as store:
        for job_id in ids:
            if dry_run:
                echo(would_release(scheduler, store, job_id), err=as_json)
            else:
                release(scheduler, store, job_id)
                record_act(store, "release", f"job {job_id}")
    if as_json:
        done: list[str] = [] if dry_run else list(ids)
        print_json({"schema": "schedmate.released/1", "job_ids": done})
