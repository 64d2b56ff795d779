"""`schedmate cancel`"""

from __future__ import annotations

import click

from schedmate.cli._changing import change_jobs
from schedmate.cli._common import dry_run_option, json_option, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id


@verb(
    cls=OnHost,
    examples="""
schedmate cancel 12
schedmate cancel 12-15 20_[0-3]
schedmate cancel --user $USER --state PENDING
schedmate cancel 12 --dry-run
""",
)
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=complete_job_id)
@click.option("-u", "--user", "users", default="", help="Only jobs of these users.")
@click.option("-t", "--state", "states", default="", help="Only jobs in these states.")
@click.option("-n", "--name", "names", default="", help="Only jobs of these names.")
@dry_run_option
@json_option
def command(
    *, ids: tuple[str, ...], users: str, states: str, names: str, dry_run: bool, as_json: bool
) -> None:
    """Cancel jobs, waiting or running: by id, or as scancel chooses them."""
    from schedmate import config
    from schedmate.model import BadInput
    from schedmate.model.arrays import expand_job_ids
    from schedmate.service.usecases.interventions import JobChoice, choose_jobs, would_cancel
    from schedmate.service.wiring import open_scheduler

    choice = JobChoice(
        ids=expand_job_ids(ids), users=_listed(users), states=states, names=_listed(names)
    )
    if choice.is_by_id and not choice.ids:
        raise BadInput("name the jobs to cancel, or choose them by --user, --state or --name")
    scheduler = open_scheduler(config.load())
    change_jobs(
        choose_jobs(scheduler, choice),
        scheduler.cancel,
        lambda job_id: would_cancel(scheduler, job_id),
        schema="schedmate.cancelled/1",
        dry_run=dry_run,
        as_json=as_json,
    )


def _listed(words: str) -> list[str]:
    return [word for word in words.split(",") if word]
