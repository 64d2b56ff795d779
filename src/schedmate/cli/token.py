"""`schedmate token`"""

from __future__ import annotations

import time
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeVar

import click

from schedmate.cli._common import echo, json_option, print_json, say, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.client import Client
    from schedmate.model.access import Token
    from schedmate.service.visibility import Viewer
    from schedmate.store import Store

T = TypeVar("T")


@click.group()
def command() -> None:
    """Access to the daemon's pages and API from other machines.

    Over loopback and the unix socket no token is needed: the kernel names who asks. Users make,
    list and revoke tokens of their own, operators those of all. With the setting `server` the
    site's daemon is asked.
    """


@verb(
    examples="""
schedmate token create --name laptop
schedmate token create --user ada --name laptop --days 30
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

    Send it as `Authorization: Bearer TOKEN`, or put it into the file of the setting token_file. One
    that is made with another token ends with that one at the latest.
    """
    from schedmate import config
    from schedmate.service.usecases.tokens import TokenRequest, make_token, unknown_user
    from schedmate.service.views.answers import copied
    from schedmate.service.views.site_answers import NewToken

    wanted = TokenRequest(user=user or "", scope=scope, name=name, days=days)

    def here(store: Store, viewer: Viewer) -> NewToken:
        of_proxy = bool(config.load().web.proxy_header)
        token, secret = make_token(store, viewer, wanted, of_proxy=of_proxy)
        warning = "" if token.user == viewer.user else unknown_user(store, token.user)
        return copied(NewToken, token, secret=secret, warning=warning)

    made = _answered(
        lambda client: client.create_token(user=user or "", scope=scope, name=name, days=days), here
    )
    if as_json:
        print_json(made)
        return
    if made.warning:
        say(made.warning)
    echo(made.secret)
    say(f"token {made.id} of {made.user} ({made.scope}) is valid until {_day(made.expires_at)}")


@verb(name="list", examples="schedmate token list\nschedmate token list --json")
@json_option
def list_verb(as_json: bool) -> None:
    """Your tokens, also those that have ended, for operators all; never their secrets."""
    from schedmate.model.wire import to_json
    from schedmate.service.usecases.tokens import tokens_seen

    tokens = _answered(lambda client: list(client.tokens()), tokens_seen)
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
    """End tokens at once, with those that were made with them."""
    from schedmate.service.usecases.tokens import revoke_seen

    _answered(
        lambda client: [one.id for one in map(client.revoke_token, ids)],
        lambda store, viewer: [revoke_seen(store, viewer, one).id for one in ids],
    )
    if as_json:
        print_json({"schema": "schedmate.revoked/1", "ids": list(ids)})
    else:
        echo(f"revoked {', '.join(ids)}", err=True)


def _answered(of_daemon: Callable[[Client], T], here: Callable[[Store, Viewer], T]) -> T:
    """By the site's daemon where one is named: a token of another store would open nothing."""
    from schedmate import config
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_store

    settings = config.load()
    if settings.server:
        from schedmate.cli._site import client_of

        return of_daemon(client_of(settings))
    with closing(open_store(settings)) as store:
        return here(store, viewer_of(settings))


def _table(tokens: Sequence[Token]) -> None:
    from schedmate.cli._common import console
    from schedmate.cli._console import cell
    from schedmate.cli._table import Column, fitted_table

    columns = (
        *(Column("ID"), Column("USER", cut=10), Column("SCOPE"), Column("NAME", cut=16)),
        *(Column("STATE"), Column("UNTIL"), Column("LAST USED", spared=1)),
    )
    rows = []
    for one in tokens:
        ended = "revoked" if one.revoked_at is not None else "expired"
        state = "valid" if one.is_valid(time.time()) else ended
        shown = (one.id, one.user, one.scope, one.name, state)
        rows.append((*map(cell, shown), _day(one.expires_at), _day(one.used_at)))
    screen = console()
    screen.print(fitted_table(columns, rows, screen.width))


def _day(at: float | None) -> str:
    return "-" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


for one in (create, list_verb, revoke):
    command.add_command(one)
