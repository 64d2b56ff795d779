"""`schedmate nodes`"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb
from schedmate.cli._hosts import OnHost

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.handler.suspects import Against
    from schedmate.service.records.nodes import NodeView

_MOST_FAILURES = 3
_DAY_S = 86400.0


@verb(
    cls=OnHost,
    examples="""
schedmate nodes
schedmate nodes --suspect
schedmate nodes gpu041 gpu042 --json
schedmate nodes box:gpu3 --drain "its fan is loud"
schedmate nodes box:gpu3 --resume
""",
)
@click.argument("names", metavar="[NODE]...", nargs=-1)
@click.option("--suspect", is_flag=True, help="Only those that are suspect.")
@click.option("--drain", metavar="WHY", help="Give these GPUs of the local queue no more jobs.")
@click.option("--resume", is_flag=True, help="Take them back in.")
@json_option
def command(
    names: tuple[str, ...], suspect: bool, drain: str | None, resume: bool, as_json: bool
) -> None:
    """The nodes: how they are, whose jobs failed on them, and which are suspect, and how sure.

    In the local queue each GPU is a node. Nodes of Slurm are not drained: what an operator would
    run is printed, not done.
    """
    from schedmate import config
    from schedmate.service.records.nodes import NodeKnowledge
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store

    settings = config.load()
    if drain is not None or resume:
        _leave_out(settings, names, drain)
    now = time.time()
    viewer = viewer_of(settings)
    known = [
        replace(view, suspicion=viewer.suspicion(view.suspicion))
        for view in NodeKnowledge(open_scheduler(settings), open_store(settings)).views(now)
    ]
    _check_names(names, known, settings.scheduler)
    views = [
        view
        for view in known
        if (not names or view.name in names) and (not suspect or view.suspicion.suspect)
    ]
    if as_json:
        from schedmate.service.views.node_answers import node_answer
        from schedmate.service.views.site_answers import NodesPage

        shown = tuple(node_answer(view, viewer, settings.scheduler) for view in views)
        print_json(NodesPage(nodes=shown, total=len(shown), next=None))
    elif views:
        _show(views, now)
        if viewer.operator:
            _show_commands(views, settings.scheduler)
    else:
        echo("none of them is suspect" if suspect else "no nodes", err=True)


def _leave_out(settings: Settings, names: tuple[str, ...], reason: str | None) -> None:
    """Without a reason they are taken back in, whatever the reason was."""
    from contextlib import closing

    from schedmate.model import BadInput, NotFound
    from schedmate.schedulers.base import DrainsNodes
    from schedmate.service.usecases.audit import record_act
    from schedmate.service.wiring import open_scheduler, open_store

    scheduler = open_scheduler(settings)
    if settings.scheduler == "slurm" or not isinstance(scheduler, DrainsNodes):
        raise BadInput("only GPUs of your own local queue are left out so; on Slurm use scontrol")
    if not names:
        raise BadInput("name the GPUs, as in: schedmate nodes box:gpu3 --resume")
    with closing(open_store(settings)) as store:
        for name in names:
            state = next(iter(scheduler.nodes([name])), None)
            if state is None:
                raise NotFound(f"the local queue has no GPU {name}")
            if reason is None and state.condition != "drain":
                raise BadInput(f"{name} is not left out")
            if reason is None:
                scheduler.resume(name, state.reason)
            else:
                scheduler.drain(name, reason)
            record_act(store, "resume" if reason is None else "drain", f"node {name}", reason or "")


def _check_names(names: tuple[str, ...], known: list[NodeView], scheduler: str) -> None:
    from schedmate.model import NotFound

    missing = sorted(set(names) - {view.name for view in known})
    if missing:
        raise NotFound(f"neither {scheduler} nor the history knows a node {', '.join(missing)}")


def _show(views: list[NodeView], now: float) -> None:
    from schedmate.cli._console import cell
    from schedmate.cli._table import Column, fitted_table

    columns = (
        *(Column("NODE", cut=24), Column("STATE", cut=10), Column("FAILED", number=True)),
        *(Column("WELL", number=True, spared=1), Column("USERS", number=True, spared=2)),
        *(Column("SUSPECT"), Column("WHY", folds=True)),
    )
    rows = []
    for view in views:
        suspicion, state = view.suspicion, view.state
        row = (
            cell(view.name),
            cell(state.state or state.condition),
            str(suspicion.failures),
            str(suspicion.successes),
            str(suspicion.users),
            f"[red]{suspicion.probability:.0%}[/]"
            if suspicion.suspect
            else f"{suspicion.probability:.0%}",
            cell(_why(view, now)),
        )
        rows.append(row)
    screen = console()
    screen.print(fitted_table(columns, rows, screen.width))


def _show_commands(views: list[NodeView], scheduler: str) -> None:
    from schedmate.service.views.node_answers import drain_command

    for view in views:
        line = drain_command(view, scheduler)
        if line:
            echo(f"to take {view.name} out: {line}", err=True)


def _why(view: NodeView, now: float) -> str:
    counted = Counter(_failure(one, now) for one in view.suspicion.evidence)
    failures = [text if n == 1 else f"{n} times {text}" for text, n in counted.items()]
    reason = [view.state.reason] if view.state.reason else []
    return "; ".join([*reason, *failures[:_MOST_FAILURES]])


def _failure(one: Against, now: float) -> str:
    shared = f" with {one.shared - 1} others" if one.shared > 1 else ""
    days = (now - one.at) / _DAY_S
    ago = "today" if days < 1 else f"{days:.0f} days ago"
    return f"{one.reason} of {one.user}, job {one.job_id}{shared}, {ago}"
