"""`schedmate replay`"""

from __future__ import annotations

from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, echo, json_option, print_json, say, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.config import Settings
    from schedmate.model import Action
    from schedmate.service.usecases.replay import Recording, Replay, SettingsSource

_EVERY = 1000


@verb(
    examples="""
schedmate replay
schedmate replay --set policy=sjf --set retries=1
schedmate replay --settings mine
schedmate replay --export events.jsonl
schedmate replay events.jsonl --json
"""
)
@click.argument("events", metavar="[EVENTS]", required=False, type=click.Path(path_type=Path))
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Another setting.")
@click.option(
    "--settings",
    "by",
    type=click.Choice(["recorded", "mine"]),
    default="recorded",
    help="The settings of that time (default), or those of your files and environment.",
)
@click.option(
    "--export",
    "target",
    type=click.Path(path_type=Path),
    help="Write the event log to a new file instead, for a replay elsewhere.",
)
@json_option
def command(
    events: Path | None,
    changes: tuple[str, ...],
    by: SettingsSource,
    target: Path | None,
    as_json: bool,
) -> None:
    """What the daemon saw, through the decision engine again: which decisions differ.

    With the recorded settings, the decisions of this version are compared with those that were
    taken; with others (--set, --settings mine), with those of the recorded settings. Nothing is
    carried out.
    """
    from schedmate import config
    from schedmate.service.usecases.replay import export, replay

    settings = config.load()
    recording = _recording(settings, events)
    if target is not None:
        export(recording, target)
        say(f"{len(recording.events)} events are in {target}; it quotes logs: look before sharing")
        return
    twice = bool(changes) or by == "mine"
    with _bar(len(recording.events) * (1 + twice)) as on_event:
        found = replay(recording, settings, by=by, changes=changes, on_event=on_event)
    if as_json:
        print_json(found)
    else:
        _show(found)


def _recording(settings: Settings, events: Path | None) -> Recording:
    from schedmate.service.usecases.replay import recorded_by, recorded_in
    from schedmate.service.wiring import open_store

    if events is not None:
        return recorded_by(events)
    with closing(open_store(settings)) as store:
        return recorded_in(store)


def _show(found: Replay) -> None:
    second = "now" if found.against == "recorded" else "others"
    many = len(found.differences)
    differ = "none differs" if many == 0 else f"{many} differ" if many > 1 else "1 differs"
    echo(f"{found.events} events, {found.decisions} decisions, {differ}")
    echo(f"settings: {_settings_words(found)}")
    if not found.differences:
        return
    from schedmate.cli._console import cell
    from schedmate.cli._table import Column, fitted_table

    columns = (
        *(Column("JOBID"), Column("RUN", number=True, spared=1), Column("DECISION")),
        *(Column("RECORDED", folds=True), Column(second.upper(), folds=True)),
    )
    rows = [
        tuple(
            map(
                cell,
                (
                    *(each.job_id, str(each.attempt + 1), each.kind),
                    *(_words(each.before), _words(each.now)),
                ),
            )
        )
        for each in found.differences
    ]
    screen = console()
    screen.print(fitted_table(columns, rows, screen.width))


def _settings_words(found: Replay) -> str:
    changed = ", ".join(f"{one.name}={one.used} instead of {one.recorded}" for one in found.changed)
    if found.settings == "mine" and found.against == "recorded":
        return "yours; the log has recorded none"
    words = "as recorded" if found.settings == "recorded" else "yours"
    if found.unknown:
        words += f" (this version has no setting {', '.join(found.unknown)})"
    return f"{words}; {changed}" if changed else words


def _words(action: Action | None) -> str:
    if action is None:
        return "-"
    value = "" if action.value is None else f"{action.value:g} "
    nodes = f"not on {','.join(action.exclude_nodes)} " if action.exclude_nodes else ""
    return f"{value}{nodes}({action.why})"


@contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal; moved now and then, because events are many and small."""
    from rich.progress import Progress

    talk = console(stderr=True)
    steps = count(1)
    with Progress(console=talk, disable=not talk.is_terminal, transient=True) as progress:
        task = progress.add_task("replaying", total=total)

        def step() -> None:
            if next(steps) % _EVERY == 0:
                progress.advance(task, _EVERY)

        yield step
