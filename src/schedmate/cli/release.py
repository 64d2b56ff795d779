"""`schedmate release`"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from schedmate.cli._changing import change_jobs
from schedmate.cli._common import dry_run_option, json_option, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id

if TYPE_CHECKING:
    from schedmate.model import JobId


@verb(
    cls=OnHost,
    examples="""
schedmate release 12
schedmate release 12-15 20_[0-3]
schedmate release 12 --dry-run
""",
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_job_id)
@dry_run_option
@json_option
def command(ids: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Let held jobs start; SchedMate does not hold them again."""
    from schedmate import config
    from schedmate.model.arrays import expand_job_ids
    from schedmate.service.usecases.audit import record_act
    from schedmate.service.usecases.interventions import release, would_release
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    scheduler = open_scheduler(settings)
    with closing(open_store(settings)) as store:

        def let_start(job_id: JobId) -> None:
            release(scheduler, store, job_id)
            record_act(store, "release", f"job {job_id}")

        change_jobs(
            expand_job_ids(ids),
            let_start,
            lambda job_id: would_release(scheduler, store, job_id),
            schema="schedmate.released/1",
            dry_run=dry_run,
            as_json=as_json,
        )
