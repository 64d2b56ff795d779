"""`schedmate token`"""

from __future__ import annotations

import time
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import click

from schedmate.cli._common import echo, json_option, print_json, say, verb

if TYPE_CHECKING:
    from schedmate.model.access import Token


@click.group()
def command() -> None:
    """Access to the daemon's pages and API from other machines.

    Over loopback and the unix socket no token is needed: the kernel names who asks.
    """


@verb(
    examples="""
schedmate token create --user ada --name laptop
schedmate token create --scope operator --name prometheus --days 365 > schedmate.token
"""
)
@click.option("--user", "-u", help="Whose jobs it shows whole; default: your account.")
@click.option(
    "--scope",
    type=click.Choice(["user", "operator"]),
    default="user",
    show_default=True,
    help="operator: all jobs are shown whole.",
)
@click.option("--name", default="", help="What it is for, as you will recognise it in the list.")
@click.option(
    "--days",
    type=click.FloatRange(min=0, min_open=True, max=3650),
    default=90.0,
    show_default=True,
    help="After how many days it ends.",
)
@json_option
def create(
    user: str | None, scope: Literal["user", "operator"], name: str, *, days: float, as_json: bool
) -> None:
    """Make a token and print it; it is shown this once, the store keeps a digest of it.

    Send it as `Authorization: Bearer TOKEN`, or put it into the file of the setting token_file.
    """
    from schedmate import config
    from schedmate.model.account import account_name
    from schedmate.model.wire import to_json
    from schedmate.service.usecases.tokens import create_token
    from schedmate.service.wiring import open_store

    with closing(open_store(config.load())) as store:
        token, secret = create_token(
            store, user or account_name(), scope=scope, name=name, days=days
        )
    if as_json:
        print_json({"schema": "schedmate.token/1", "secret": secret, **to_json(token)})
        return
    echo(secret)
    say(f"token {token.id} of {token.user} ({token.scope}) is valid until {_day(token.expires_at)}")


@verb(name="list", examples="schedmate token list\nschedmate token list --json")
@json_option
def list_verb(as_json: bool) -> None:
    """All tokens, also those that are no longer valid; never their secrets."""
    from schedmate import config
    from schedmate.model.wire import to_json
    from schedmate.service.wiring import open_store

    with closing(open_store(config.load())) as store:
        tokens = list(store.tokens())
    if as_json:
        print_json({"schema": "schedmate.tokens/1", "tokens": [to_json(one) for one in tokens]})
    elif not tokens:
        echo("there are no tokens", err=True)
    else:
        _table(tokens)


@verb(examples="schedmate token revoke 1a2b3c4d")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@json_option
def revoke(ids: tuple[str, ...], as_json: bool) -> None:
    """End tokens at once."""
    from schedmate import config
    from schedmate.service.usecases.tokens import revoke_token
    from schedmate.service.wiring import open_store

    with closing(open_store(config.load())) as store:
        for one in ids:
            revoke_token(store, one)
    if as_json:
        print_json({"schema": "schedmate.revoked/1", "ids": list(ids)})
    else:
        echo(f"revoked {', '.join(ids)}", err=True)


def _table(tokens: list[Token]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from schedmate.cli._common import console

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("ID", "USER", "SCOPE", "NAME", "STATE", "UNTIL", "LAST USED"):
        table.add_column(title, no_wrap=True)
    for one in tokens:
        ended = "revoked" if one.revoked_at is not None else "expired"
        state = "valid" if one.is_valid(time.time()) else ended
        shown = (one.id, one.user, one.scope, one.name, state)
        table.add_row(*map(escape, shown), _day(one.expires_at), _day(one.used_at))
    console().print(table)


def _day(at: float | None) -> str:
    return "-" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


for one in (create, list_verb, revoke):
    command.add_command(one)
