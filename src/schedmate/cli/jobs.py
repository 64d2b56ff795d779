"""`schedmate jobs`"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.service.views.job_view import JobView


@verb(
    examples="""
schedmate jobs
schedmate jobs -s RUNNING,PENDING -u alice
schedmate jobs -j 12,13 --json
schedmate jobs --watch
"""
)
@click.option("-j", "--jobs", "ids", help="Only these job ids, with commas between.")
@click.option("-u", "--user", "users", help="Only jobs of these users.")
@click.option(
    "-s",
    "--state",
    "states",
    help="Only jobs in these states; failing: all that failed in any way.",
)
@click.option("-w", "--watch", is_flag=True, help="Show it in place, until Ctrl-C.")
@json_option
def command(
    ids: str | None, users: str | None, states: str | None, watch: bool, as_json: bool
) -> None:
    """The queue: predicted and real duration, progress, expected end, diagnosis."""
    from schedmate import config
    from schedmate.cli._site import views_of
    from schedmate.model.job import is_among
    from schedmate.model.state_filter import check_states
    from schedmate.model.wire import to_json
    from schedmate.service.views.queue_order import queue_place

    check_states(states or "")
    wanted, settings = None if ids is None else _listed(ids), config.load()

    def views() -> list[JobView]:
        fitting = [
            view
            for view in views_of(settings, wanted)
            if (users is None or view.job.user in _listed(users))
            and is_among(view.job.state, states or "")
        ]
        return sorted(fitting, key=lambda view: queue_place(view.job))

    if watch:
        from schedmate.cli._watch import watch_queue

        watch_queue(views, settings.slurm.poll_s if settings.scheduler == "slurm" else 1.0)
    elif as_json:
        print_json({"schema": "schedmate.jobs/1", "jobs": [to_json(view) for view in views()]})
    else:
        _show(views())


def _show(views: Sequence[JobView]) -> None:
    from schedmate.cli._queue import queue_table

    if views:
        screen = console()
        screen.print(queue_table(views, time.time(), screen.width))
    else:
        echo("no jobs", err=True)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
