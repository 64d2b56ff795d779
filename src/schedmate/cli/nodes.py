"""`schedmate nodes`"""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from schedmate.handler.suspects import Against
    from schedmate.service.suspects import NodeStory

_TOLD = 3
_DAY_S = 86400.0


@verb(
    examples="""
schedmate nodes
schedmate nodes --suspect
schedmate nodes gpu041 gpu042 --json
"""
)
@click.argument("names", metavar="[NODE]...", nargs=-1)
@click.option("--suspect", is_flag=True, help="Only those that are suspect.")
@json_option
def command(names: tuple[str, ...], suspect: bool, as_json: bool) -> None:
    """The nodes: how they are, whose jobs failed on them, and which are suspect, and how sure.

    It never drains a node: what an operator would run is printed, not done.
    """
    from schedmate import config
    from schedmate.service.suspects import NodeKnowledge
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    now = time.time()
    viewer = viewer_of(settings)
    known = [
        replace(story, suspicion=viewer.suspicion(story.suspicion))
        for story in NodeKnowledge(open_scheduler(settings), open_store(settings)).stories(now)
    ]
    _check_names(names, known, settings.scheduler)
    stories = [
        story
        for story in known
        if (not names or story.name in names) and (not suspect or story.suspicion.suspect)
    ]
    if as_json:
        told = [_as_json(story, settings.scheduler) for story in stories]
        print_json({"schema": "schedmate.nodes/1", "nodes": told})
    elif stories:
        _show(stories, settings.scheduler, now)
    else:
        echo("none of them is suspect" if suspect else "no nodes", err=True)


def _check_names(names: tuple[str, ...], known: list[NodeStory], scheduler: str) -> None:
    from schedmate.model import NotFound

    missing = sorted(set(names) - {story.name for story in known})
    if missing:
        raise NotFound(f"neither {scheduler} nor the history knows a node {', '.join(missing)}")


def _as_json(story: NodeStory, scheduler: str) -> dict[str, Any]:
    from schedmate.model.wire import to_json

    told = story.suspicion
    return {
        **to_json(story.state),
        "suspect": told.suspect,
        "probability": told.probability,
        "failures": told.failures,
        "successes": told.successes,
        "users": told.users,
        "evidence": [to_json(one) for one in told.evidence],
        "command": drain_command(story, scheduler),
    }


def drain_command(story: NodeStory, scheduler: str) -> str | None:
    """What an operator would run to take a suspect node out; None where there is no need."""
    if scheduler != "slurm" or not story.suspicion.suspect or story.state.condition != "up":
        return None
    told = story.suspicion
    why = f"suspect: {told.failures} hardware-like failures of {told.users} users"
    name = shlex.quote(f"NodeName={story.name}")
    return f"scontrol update {name} State=DRAIN Reason={shlex.quote(why)}"


def _show(stories: list[NodeStory], scheduler: str, now: float) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("NODE", "STATE", "FAILED", "WELL", "USERS", "SUSPECT", "WHY"):
        number = title in ("FAILED", "WELL", "USERS")
        table.add_column(title, justify="right" if number else "left", no_wrap=title != "WHY")
    for story in stories:
        told, state = story.suspicion, story.state
        table.add_row(
            escape(story.name),
            escape(state.state or state.condition),
            str(told.failures),
            str(told.successes),
            str(told.users),
            f"[red]{told.probability:.0%}[/]" if told.suspect else f"{told.probability:.0%}",
            escape(_why(story, now)),
        )
    console().print(table)
    for story in stories:
        line = drain_command(story, scheduler)
        if line:
            echo(f"to take {story.name} out: {line}", err=True)


def _why(story: NodeStory, now: float) -> str:
    told = [_failure(one, now) for one in story.suspicion.evidence[:_TOLD]]
    return "; ".join([story.state.reason, *told] if story.state.reason else told)


def _failure(one: Against, now: float) -> str:
    shared = f" with {one.shared - 1} others" if one.shared > 1 else ""
    days = (now - one.at) / _DAY_S
    ago = "today" if days < 1 else f"{days:.0f} days ago"
    whose = f"{one.user}, job {one.job_id}" if one.job_id else "another user"
    return f"{one.reason} of {whose}{shared}, {ago}"
