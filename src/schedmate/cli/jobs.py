"""`schedmate jobs`"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id

if TYPE_CHECKING:
    from schedmate.cli._site import QueueShown

PAGE = 50
MOST_SHOWN = 250
"""The most that the API has on one page."""


@verb(
    cls=OnHost,
    examples="""
schedmate jobs
schedmate jobs -s RUNNING,PENDING -u alice
schedmate jobs --limit 20
schedmate jobs 12 13 --json
schedmate jobs --watch
schedmate jobs --host box2
""",
)
@click.argument("named", metavar="[ID]...", nargs=-1, shell_complete=complete_job_id)
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
@click.option(
    "-a", "--all", "every", is_flag=True, help="All of them and all tasks, as the queue has them."
)
@click.option("-w", "--watch", is_flag=True, help="Show it in place, until Ctrl-C.")
@json_option
def command(
    *,
    named: tuple[str, ...],
    ids: str | None,
    users: str | None,
    states: str | None,
    limit: int,
    every: bool,
    watch: bool,
    as_json: bool,
) -> None:
    """The queue: predicted and real duration, progress, expected end, diagnosis.

    The tasks of an array or a sweep are one row; `--all`, or its ID, shows each. `--json` takes
    all jobs that fit; `--watch` shows as many as the screen has room for. Machines of the setting
    hosts are listed too: `box2:17` is job 17 of box2, for other verbs as well.
    """
    from schedmate import config
    from schedmate.cli._hosts import is_kept_here, with_other_hosts
    from schedmate.cli._site import QueueAsked, queue_of
    from schedmate.model.state_filter import check_states
    from schedmate.model.wire import to_json

    check_states(states or "")
    settings = config.load()
    wanted = QueueAsked(
        ids=[*(_listed(ids) or ()), *named] if ids is not None or named else None,
        users=_listed(users),
        states=",".join(_listed((states or "").upper()) or ()),
        most=None if every or as_json else limit,
        folded=not (every or as_json or named or ids),
    )
    kept_here = wanted.ids is not None or is_kept_here(click.get_current_context())
    asks_others = bool(settings.hosts) and not kept_here
    if watch:
        from schedmate.cli._watch import watch_queue

        watch_queue(settings, wanted, with_others=asks_others)
        return
    found = queue_of(settings, wanted)
    if asks_others:
        found = with_other_hosts(settings, wanted, found)
    if as_json:
        jobs = [to_json(view) for view in found.views]
        print_json({"schema": "schedmate.jobs/1", "jobs": jobs})
    else:
        _show(found)


def _show(found: QueueShown) -> None:
    from schedmate.cli._queue import queue_table
    from schedmate.service.views.folding import named_apart

    if not found.views:
        echo("no jobs", err=True)
        return
    screen, views = console(), named_apart(found.views)
    screen.print(queue_table(views, time.time(), screen.width, folds=found.folds))
    if found.total > len(found.views):
        shown = f"{len(found.views)} of {found.total} jobs"
        echo(f"{shown}, what needs attention first: --all shows all, -u, -s and -j some", err=True)


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
