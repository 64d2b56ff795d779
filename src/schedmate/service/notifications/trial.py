"""A message that only says that messages arrive, for users who want to be sure of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import BadInput
from schedmate.model.access import Subscription
from schedmate.service.notifications.addresses import PermanentError, TemporaryError
from schedmate.service.notifications.channels import channels_of, check_subscription
from schedmate.service.notifications.messages import Message
from schedmate.service.views.site_answers import ChannelTest, NotificationTest

if TYPE_CHECKING:
    from schedmate.config import Settings


def send_test(
    settings: Settings, user: str, subscription: Subscription | None, *, channel: str = ""
) -> NotificationTest:
    """By this channel, or by those of the user's subscription."""
    wanted = _wanted(user, subscription, channel)
    check_subscription(wanted, settings)
    known = channels_of(settings)
    results = []
    for name in wanted.channels:
        title = f"this is a test: messages of SchedMate to {user} arrive by {name}"
        text = "You will hear here of jobs of yours that fail, hang or will miss their limit."
        try:
            known[name].send(Message(user, title, (text,), ()), wanted)
            results.append(ChannelTest(channel=name, sent=True))
        except (PermanentError, TemporaryError) as error:
            results.append(ChannelTest(channel=name, sent=False, reason=str(error)))
    return NotificationTest(results=tuple(results))


def _wanted(user: str, subscription: Subscription | None, channel: str) -> Subscription:
    if channel:
        mail = "" if subscription is None else subscription.mail
        return Subscription(user=user, channels=(channel,), mail=mail)
    if subscription is None:
        raise BadInput("no messages are sent to you yet: name a channel, or switch them on first")
    return subscription
