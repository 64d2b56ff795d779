"""What `pause` and `resume` share: the daemon does it, or where none answers its store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedmate.cli._common import duration, echo, print_json, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.client import Client
    from schedmate.config import Settings
    from schedmate.service.records.pause import Pause
    from schedmate.service.views.site_answers import PauseAnswer
    from schedmate.store import Store


def carry_out(
    at_daemon: Callable[[Client], PauseAnswer],
    in_store: Callable[[Store], Pause | None],
    *,
    as_json: bool,
) -> None:
    from schedmate import config
    from schedmate.model import NotFound, NotSignedIn, ServerUnreachable

    settings = config.load()
    try:
        found = _asked(settings, at_daemon) if settings.server else _kept(settings, in_store)
    except NotFound as error:  # the API hides from others that there is anything
        raise NotSignedIn("the daemon refuses: this is for operators only") from error
    except ServerUnreachable as error:
        if not _is_here(settings.server):
            raise ServerUnreachable(
                f"{error}; run this on the daemon's machine, where it works without one"
            ) from error
        say(f"{error}; it is kept in the store, for the next daemon")
        found = _kept(settings, in_store)
    if as_json:
        print_json(found)
    else:
        echo(paused_words(found.paused, time.time()) or "the daemon acts as its mode allows")


def paused_words(paused: Pause | None, now: float) -> str:
    if paused is None:
        return ""
    since = f"paused by {paused.by} {duration(max(0.0, now - paused.since))} ago"
    ends = "until schedmate resume"
    if paused.until is not None:
        ends = f"for another {duration(max(0.0, paused.until - now))}"
    return f"{since}, {ends}: it watches, and changes nothing"


def _asked(settings: Settings, at_daemon: Callable[[Client], PauseAnswer]) -> PauseAnswer:
    from schedmate.cli._site import client_of

    return at_daemon(client_of(settings))


def _kept(settings: Settings, in_store: Callable[[Store], Pause | None]) -> PauseAnswer:
    from contextlib import closing

    from schedmate.service.views.site_answers import PauseAnswer
    from schedmate.service.visibility import operators_only
    from schedmate.service.wiring import open_store

    operators_only(settings)
    with closing(open_store(settings)) as store:
        return PauseAnswer(paused=in_store(store))


def _is_here(server: str) -> bool:
    """Whether the daemon's machine is this one, and so is its store."""
    from urllib.parse import urlsplit

    return server.startswith("unix:") or urlsplit(server).hostname in (
        "localhost",
        "127.0.0.1",
        "::1",
    )
