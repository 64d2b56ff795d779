"""`schedmate jobs`"""

from __future__ import annotations

import time

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb


@verb(
    examples="""
schedmate jobs
schedmate jobs -s RUNNING,PENDING -u alice
schedmate jobs -j 12,13 --json
"""
)
@click.option("-j", "--jobs", "ids", help="Only these job ids, with commas between.")
@click.option("-u", "--user", "users", help="Only jobs of these users.")
@click.option("-s", "--state", "states", help="Only jobs in these states.")
@json_option
def command(ids: str | None, users: str | None, states: str | None, as_json: bool) -> None:
    """The queue: predicted and real duration, progress, expected end, diagnosis."""
    from schedmate import config
    from schedmate.cli._queue import queue_table
    from schedmate.cli._site import views_of
    from schedmate.model.wire import to_json

    wanted = None if ids is None else _listed(ids)
    views = [
        view
        for view in views_of(config.load(), wanted)
        if (users is None or view.job.user in _listed(users))
        and (states is None or view.job.state in _listed(states.upper()))
    ]
    if as_json:
        print_json({"schema": "schedmate.jobs/1", "jobs": [to_json(view) for view in views]})
    elif views:
        screen = console()
        screen.print(queue_table(views, time.time(), screen.width))
    else:
        echo("no jobs", err=True)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
