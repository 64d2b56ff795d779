"""A message that only says that messages arrive, for users who want to be sure of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from schedmate.model import BadInput
from schedmate.model.access import Subscription
from schedmate.service.notifications.addresses import PermanentError, TemporaryError
from schedmate.service.notifications.channels import channels_of, check_subscription
from schedmate.service.notifications.messages import Message
from schedmate.service.views.site_answers import ChannelTest, NotificationTest

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.config import Settings


def send_test(
    settings: Settings, user: str, subscription: Subscription | None, *, channel: str = ""
) -> NotificationTest:
    """By this channel, or by those of the user's subscription."""
    wanted = _wanted(user, subscription, channel)
    check_subscription(wanted, settings)
    known = channels_of(settings)
    text = "You will hear here of jobs of yours that fail, hang or will miss their limit."
    trials = [(name, _trial(name, user, text)) for name in wanted.channels]
    return NotificationTest(
        results=tuple(
            _try_out(name, partial(known[name].send, message, wanted)) for name, message in trials
        )
    )


def send_test_to(name: str, user: str, send: Callable[[Message], None]) -> NotificationTest:
    """The same by a place that the user alone has named."""
    text = "You will hear here of jobs of the local queue that end."
    return NotificationTest(results=(_try_out(name, partial(send, _trial(name, user, text))),))


def _trial(name: str, user: str, text: str) -> Message:
    title = f"this is a test: messages of SchedMate to {user} arrive by {name}"
    return Message(user, title, (text,), ())


def _try_out(name: str, send: Callable[[], None]) -> ChannelTest:
    try:
        send()
    except (PermanentError, TemporaryError) as error:
        return ChannelTest(channel=name, sent=False, reason=str(error))
    return ChannelTest(channel=name, sent=True)


def _wanted(user: str, subscription: Subscription | None, channel: str) -> Subscription:
    if channel:
        mail = "" if subscription is None else subscription.mail
        return Subscription(user=user, channels=(channel,), mail=mail)
    if subscription is None:
        raise BadInput("no messages are sent to you yet: name a channel, or switch them on first")
    return subscription
