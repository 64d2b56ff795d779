"""`schedmate jobs`"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.service.views.job_view import JobView


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
    from schedmate.model.wire import to_json

    wanted = None if ids is None else _listed(ids)
    views = [
        view
        for view in _views(config.load(), wanted)
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


def _views(settings: Settings, wanted: list[str] | None) -> list[JobView]:
    from schedmate.cli._site import asked
    from schedmate.model import array_of
    from schedmate.service.views.job_view import job_views
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    return asked(
        settings,
        lambda client: [
            view
            for view in client.jobs()
            if wanted is None or {view.job.id, array_of(view.job.id)} & set(wanted)
        ],
        lambda: job_views(
            open_scheduler(settings), open_store(settings), viewer_of(settings), wanted
        ),
    )


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
