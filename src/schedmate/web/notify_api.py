"""`/api/v1/me/notifications`: what the asking user is to hear of. Opt-in, each for themselves."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from schedmate.model.access import NOTICE_KINDS, NoticeKind, Subscription
from schedmate.service.notifications.channels import channels_of, check_subscription
from schedmate.service.notifications.trial import send_test
from schedmate.service.views.site_answers import NotificationTest, SubscriptionAnswer
from schedmate.service.visibility import Viewer
from schedmate.web.asking import AKnownViewer, ASite, OneLine
from schedmate.web.etags import fresh_json
from schedmate.web.problems import PROBLEMS, described, refused_as_conflict
from schedmate.web.site import Site

router = APIRouter(prefix="/api/v1/me/notifications", responses=PROBLEMS, tags=["notifications"])
_Name = Annotated[str, Field(max_length=100)]


class SubscriptionBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    channels: Annotated[list[_Name], Field(max_length=20)]
    """Of those that `available` names."""
    kinds: Annotated[list[NoticeKind], Field(max_length=len(NOTICE_KINDS))] = list(NOTICE_KINDS)
    mail: Annotated[str, Field(max_length=300), OneLine()] = ""
    """Where mail goes; empty: the user's name at the site's domain."""


@router.get("", response_model=SubscriptionAnswer)
def subscription(site: ASite, viewer: AKnownViewer) -> Response:
    return fresh_json(_answer(site, viewer.user))


@router.put(
    "",
    response_model=SubscriptionAnswer,
    responses={409: described("The site has no such channel, or sends no mail to this address.")},
)
def subscribe(body: SubscriptionBody, site: ASite, viewer: AKnownViewer) -> Response:
    """In the place of what the user had before."""
    kinds: tuple[NoticeKind, ...] = tuple(body.kinds)
    wanted = Subscription(
        user=viewer.user, channels=tuple(body.channels), kinds=kinds, mail=body.mail
    )
    keep_subscription(site, viewer, wanted)
    return fresh_json(_answer(site, viewer.user))


def keep_subscription(site: Site, viewer: Viewer, wanted: Subscription) -> None:
    """For the page as well."""
    with refused_as_conflict():
        check_subscription(wanted, site.settings)
    site.store.subscribe(wanted)
    site.record(viewer, "subscribe", f"user {viewer.user}", ", ".join(wanted.channels))


class TestBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    channel: Annotated[str, Field(max_length=100)] = ""
    """Empty: all that the user has chosen."""


@router.post(
    "/test",
    response_model=NotificationTest,
    responses={409: described("There is no such channel, or none is chosen.")},
)
def test(body: TestBody, site: ASite, viewer: AKnownViewer) -> Response:
    """Send a message that only says that messages arrive; a few in an hour."""
    return fresh_json(sent_test(site, viewer, body.channel))


def sent_test(site: Site, viewer: Viewer, channel: str) -> NotificationTest:
    """For the page as well."""
    if not site.tests.take(viewer.user, time.monotonic()):
        raise HTTPException(
            HTTPStatus.TOO_MANY_REQUESTS,
            "a few test messages were sent already; wait some minutes",
            {"Retry-After": "600"},
        )
    subscription = site.store.subscription(viewer.user)
    with refused_as_conflict():
        found = send_test(site.settings, viewer.user, subscription, channel=channel)
    outcomes = ", ".join(
        f"{one.channel}: {'sent' if one.sent else one.reason}" for one in found.results
    )
    site.record(viewer, "test notifications", f"user {viewer.user}", outcomes)
    return found


@router.delete("", response_model=SubscriptionAnswer)
def unsubscribe(site: ASite, viewer: AKnownViewer) -> Response:
    drop_subscription(site, viewer)
    return fresh_json(_answer(site, viewer.user))


def drop_subscription(site: Site, viewer: Viewer) -> None:
    """For the page as well."""
    if site.store.unsubscribe(viewer.user):
        site.record(viewer, "unsubscribe", f"user {viewer.user}")


def _answer(site: Site, user: str) -> SubscriptionAnswer:
    return SubscriptionAnswer(
        available=tuple(sorted(channels_of(site.settings))),
        subscription=site.store.subscription(user),
    )
