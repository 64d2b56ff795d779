"""`schedmate notify`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from schedmate.cli._common import echo, json_option, print_json, verb
from schedmate.model.access import NOTICE_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.client import Client
    from schedmate.config import Settings
    from schedmate.model.access import Subscription
    from schedmate.service.views.site_answers import NotificationTest, SubscriptionAnswer
    from schedmate.store import Store


@click.group()
def command() -> None:
    """Messages about your jobs. Off by default.

    `notify on URL` needs nothing else: the local queue tells of every job that ends.
    `submit --notify URL` is for one job. A site's daemon tells of jobs that fail, hang or will not
    make their limit, by the channels that its settings name (`--channel`).
    """


@verb(
    examples="""
schedmate notify on https://ntfy.sh/a-name-of-yours
schedmate notify on ada@example.org
schedmate notify on --channel mail
schedmate notify on --channel mail --mail ada@example.org --kind failed
"""
)
@click.argument("target", metavar="[URL|ADDRESS|mail]", required=False)
@click.option("--channel", "channels", multiple=True, help="Of those `show` lists.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(NOTICE_KINDS),
    help="Only these; default: all.",
)
@click.option("--mail", default="", help="Your address; default: your name at the site's domain.")
@json_option
def on(
    target: str | None,
    channels: tuple[str, ...],
    kinds: tuple[str, ...],
    mail: str,
    as_json: bool,
) -> None:
    """Switch messages on, in the place of an earlier choice.

    A URL (Slack, Mattermost, Discord, ntfy or your own program), a mail address or `mail` is told
    of every job of the local queue that ends; its jobs are those that are submitted from now on.
    """
    if (target is None) == (not channels):
        raise click.UsageError("name a URL or an address, or else a --channel of the site")
    if target is not None:
        _tell_of_ends(target)
        _show(_changed(lambda client: client.subscription(), lambda *_: None), as_json=as_json)
        return
    from schedmate.model.access import Subscription
    from schedmate.model.account import account_name
    from schedmate.model.wire import from_json
    from schedmate.service.notifications.channels import check_subscription

    stated = {"channels": channels, "kinds": kinds or NOTICE_KINDS, "mail": mail}
    wanted = from_json(Subscription, {"user": account_name(), **stated})

    def here(settings: Settings, store: Store) -> None:
        check_subscription(wanted, settings)
        store.subscribe(wanted)

    _show(_changed(lambda client: client.subscribe(wanted), here), as_json=as_json)


@verb(examples="schedmate notify off")
@json_option
def off(as_json: bool) -> None:
    """Switch messages off."""
    from schedmate.model.account import account_name

    def here(_: Settings, store: Store) -> None:
        store.unsubscribe(account_name())

    _tell_of_ends(None)
    _show(_changed(lambda client: client.unsubscribe(), here), as_json=as_json)


@verb(examples="schedmate notify show\nschedmate notify show --json")
@json_option
def show(as_json: bool) -> None:
    """What you hear of, and by which channels one can."""
    _show(_changed(lambda client: client.subscription(), lambda *_: None), as_json=as_json)


@verb(
    examples="""
schedmate notify test
schedmate notify test --channel team
"""
)
@click.option("--channel", default="", help="Only this one; default: those that you chose.")
@json_option
def test(channel: str, as_json: bool) -> int:
    """Send a message that only says that messages arrive; exit code 1 means that one did not."""
    from contextlib import closing

    from schedmate import config
    from schedmate.model.account import account_name
    from schedmate.service.notifications.trial import send_test
    from schedmate.service.notify_target import read_usual_target
    from schedmate.service.wiring import open_store

    settings, user = config.load(), account_name()
    target = None if channel else read_usual_target(settings)
    if target is not None:
        found = _try_out(settings, target, user)
    elif settings.server:
        from schedmate.cli._site import client_of

        found = client_of(settings).test_notifications(channel)
    else:
        with closing(open_store(settings)) as store:
            subscription = store.subscription(user)
        found = send_test(settings, user, subscription, channel=channel)
    if as_json:
        print_json(found)
    else:
        for one in found.results:
            echo(f"{one.channel}: {'sent' if one.sent else f'not sent: {one.reason}'}")
    return 0 if all(one.sent for one in found.results) else 1


def _tell_of_ends(target: str | None) -> None:
    from schedmate import config
    from schedmate.service.notify_target import write_usual_target

    write_usual_target(config.load(), target)


def _try_out(settings: Settings, target: str, user: str) -> NotificationTest:
    from schedmate.service.notifications.job_messages import send_message
    from schedmate.service.notifications.trial import send_test_to
    from schedmate.service.notify_target import hide_secret

    return send_test_to(
        hide_secret(target), user, lambda message: send_message(target, message, settings)
    )


def _changed(
    of_daemon: Callable[[Client], SubscriptionAnswer],
    here: Callable[[Settings, Store], None],
) -> SubscriptionAnswer:
    """By the site's daemon where one is named: no other place could send."""
    from contextlib import closing
    from dataclasses import replace

    from schedmate import config
    from schedmate.model.account import account_name
    from schedmate.service.notifications.channels import channels_of
    from schedmate.service.notify_target import hide_secret, read_usual_target
    from schedmate.service.views.site_answers import SubscriptionAnswer
    from schedmate.service.wiring import open_store

    settings = config.load()
    target = read_usual_target(settings)
    told_at = None if target is None else hide_secret(target)
    if settings.server:
        from schedmate.cli._site import client_of

        return replace(of_daemon(client_of(settings)), told_at=told_at)
    with closing(open_store(settings)) as store:
        here(settings, store)
        return SubscriptionAnswer(
            available=tuple(sorted(channels_of(settings))),
            subscription=store.subscription(account_name()),
            told_at=told_at,
        )


def _show(found: SubscriptionAnswer, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    if found.told_at is not None:
        echo(f"the end of every job of the local queue goes to {found.told_at}")
    echo(_in_words(found.subscription))
    there = ", ".join(found.available) or "none"
    echo(f"channels of this site: {there}")


def _in_words(subscription: Subscription | None) -> str:
    if subscription is None:
        return "no messages of a site's daemon are sent to you"
    kinds, channels = ", ".join(subscription.kinds), ", ".join(subscription.channels)
    to = f" ({subscription.mail})" if subscription.mail else ""
    return f"messages about {kinds} by {channels}{to}"


for one in (on, off, show, test):
    command.add_command(one)
