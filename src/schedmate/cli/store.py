"""`schedmate store`"""

from __future__ import annotations

from pathlib import Path

import click

from schedmate.cli._common import console, echo, json_option, print_json, verb

_MB = 1e6


@click.group()
def command() -> None:
    """The store of all that SchedMate knows: its state, copies, and the way back to one.

    A copy is kept by itself before an upgrade brings the store to a newer format.
    """


@verb(examples="schedmate store show\nschedmate store show --json")
@json_option
def show(as_json: bool) -> None:
    """How large it is, what is in it, which copies there are."""
    from schedmate import config
    from schedmate.model.wire import to_json
    from schedmate.service.usecases.store_care import store_state

    state = store_state(config.load())
    if as_json:
        print_json({"schema": "schedmate.store/1", **to_json(state)})
        return
    echo(f"{state.path}: {state.bytes / _MB:.1f} MB, format {state.format}")
    if state.cluster:
        echo(f"  of cluster {state.cluster}")
    for name, count in state.rows.items():
        echo(f"  {name:<12} {count}")
    for path in state.backups:
        echo(f"  copy from before an upgrade: {path}")


@verb(examples="schedmate store backup\nschedmate store backup /backup/schedmate.sqlite3")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@json_option
def backup(file: Path | None, as_json: bool) -> None:
    """Copy the store to FILE, by default beside it; a daemon may go on meanwhile."""
    from schedmate import config
    from schedmate.service.usecases.store_care import back_up

    made = back_up(config.load(), file)
    if as_json:
        print_json({"schema": "schedmate.backup/1", "file": str(made)})
    else:
        echo(str(made))


@verb(examples="schedmate store restore\nschedmate store restore /backup/schedmate.sqlite3")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@json_option
def restore(file: Path | None, as_json: bool) -> None:
    """Put a copy in the store's place, by default the one from before the last upgrade.

    The present store is kept beside it.
    """
    from schedmate import config
    from schedmate.service.usecases.store_care import go_back

    source, replaced = go_back(config.load(), file)
    if as_json:
        kept = None if replaced is None else str(replaced)
        print_json({"schema": "schedmate.restored/1", "file": str(source), "replaced": kept})
        return
    echo(f"restored {source}")
    if replaced is not None:
        echo(f"the store that was there is {replaced}")


@verb(examples="schedmate store pin hpc2")
@click.argument("cluster")
@json_option
def pin(cluster: str, as_json: bool) -> None:
    """Let the store go on with the jobs of CLUSTER, after a cluster got a new name, or with a
    store that was copied from another one.

    Jobs are told apart by when they were submitted, so none is taken for one of the other
    cluster; but past runs are shown to the users of their names.
    """
    from schedmate import config
    from schedmate.service.usecases.store_care import pin as pin_to

    before = pin_to(config.load(), cluster)
    if as_json:
        print_json({"schema": "schedmate.pinned/1", "cluster": cluster, "before": before})
    else:
        echo(f"the store is of cluster {cluster} now{f', and was of {before}' if before else ''}")


@verb(examples="schedmate store compact")
@json_option
def compact(as_json: bool) -> None:
    """Give the space of deleted rows back to the disk; needs as much free space meanwhile."""
    from schedmate import config
    from schedmate.service.usecases.store_care import compact as compact_store

    before, after = compact_store(config.load())
    if as_json:
        print_json({"schema": "schedmate.compacted/1", "before": before, "after": after})
    else:
        echo(f"{before / _MB:.1f} MB, now {after / _MB:.1f} MB")


@verb(examples="schedmate store move postgresql://schedmate@db.example.org/schedmate")
@click.argument("url")
@json_option
def move(url: str, as_json: bool) -> None:
    """Copy the store to the PostgreSQL database URL, and check that every row arrived.

    The file stays as it is; from then on set store_url to the URL. A password belongs into
    ~/.pgpass or the setting, not onto the command line.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from schedmate import config
    from schedmate.service.usecases.store_care import move as move_store

    talk = console(stderr=True)
    columns = TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=talk, transient=True, disable=not talk.is_terminal) as bars:
        tasks = {}

        def on_table(table: str, done: int, total: int) -> None:
            if table not in tasks:
                tasks[table] = bars.add_task(table, total=total)
            bars.update(tasks[table], completed=done)

        moved = move_store(config.load(), url, on_table)
    if as_json:
        print_json({"schema": "schedmate.moved/1", "rows": moved.rows})
        return
    echo(f"{sum(moved.rows.values())} rows of {len(moved.rows)} tables were copied and checked")
    echo("now set store_url (SCHEDMATE_STORE_URL) to this database and start the daemon")


for one in (show, backup, restore, pin, compact, move):
    command.add_command(one)
