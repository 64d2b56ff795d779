"""`schedmate jobs`"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from schedmate.cli._site import QueueShown

PAGE = 50
MOST_SHOWN = 250
"""The most that the API has on one page."""


@verb(
    examples="""
schedmate jobs
schedmate jobs -s RUNNING,PENDING -u alice
schedmate jobs --limit 20
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
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MOST_SHOWN),
    default=PAGE,
    show_default=True,
    help="At most so many; where there are more, those that need attention and yours first.",
)
@click.option("-a", "--all", "every", is_flag=True, help="All of them, in the order of the queue.")
@click.option("-w", "--watch", is_flag=True, help="Show it in place, until Ctrl-C.")
@json_option
def command(
    *,
    ids: str | None,
    users: str | None,
    states: str | None,
    limit: int,
    every: bool,
    watch: bool,
    as_json: bool,
) -> None:
    """The queue: predicted and real duration, progress, expected end, diagnosis.

    `--json` and `--watch` take all jobs that fit.
    """
    from schedmate import config
    from schedmate.cli._site import QueueAsked, queue_of
    from schedmate.model.state_filter import check_states
    from schedmate.model.wire import to_json

    check_states(states or "")
    settings = config.load()
    wanted = QueueAsked(
        ids=_listed(ids),
        users=_listed(users),
        states=",".join(_listed((states or "").upper()) or ()),
        most=None if every or watch or as_json else limit,
    )
    if watch:
        from schedmate.cli._watch import watch_queue

        every_s = settings.slurm.poll_s if settings.scheduler == "slurm" else 1.0
        watch_queue(lambda: queue_of(settings, wanted).views, every_s)
    elif as_json:
        views = queue_of(settings, wanted).views
        print_json({"schema": "schedmate.jobs/1", "jobs": [to_json(view) for view in views]})
    else:
        _show(queue_of(settings, wanted))


def _show(found: QueueShown) -> None:
    from schedmate.cli._queue import queue_table

    if not found.views:
        echo("no jobs", err=True)
        return
    screen = console()
    screen.print(queue_table(found.views, time.time(), screen.width))
    if found.total > len(found.views):
        shown = f"{len(found.views)} of {found.total} jobs"
        echo(f"{shown}, what needs attention first: --all shows all, -u, -s and -j some", err=True)


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
