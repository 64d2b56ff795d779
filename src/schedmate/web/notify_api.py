"""`/api/v1/me/notifications`: what the asking user is to hear of. Opt-in, each for themselves."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from schedmate.model import BadInput
from schedmate.model.access import NOTICE_KINDS, NoticeKind, Subscription
from schedmate.service.notifications.channels import channels_of, check_subscription
from schedmate.service.views.answers import SubscriptionAnswer
from schedmate.web.asking import AKnownViewer, ASite
from schedmate.web.etags import fresh_json
from schedmate.web.problems import PROBLEMS, described
from schedmate.web.site import Site

router = APIRouter(prefix="/api/v1/me/notifications", responses=PROBLEMS, tags=["notifications"])
_Name = Annotated[str, Field(max_length=100)]


class SubscriptionBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    channels: Annotated[list[_Name], Field(max_length=20)]
    """Of those that `available` names."""
    kinds: Annotated[list[Literal["failed", "hung", "limit"]], Field(max_length=3)] = list(
        NOTICE_KINDS
    )
    mail: Annotated[str, Field(max_length=300)] = ""
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
    try:
        check_subscription(wanted, site.settings)
    except BadInput as error:
        raise HTTPException(HTTPStatus.CONFLICT, str(error)) from error
    site.store.subscribe(wanted)
    site.record(viewer, "subscribe", f"user {viewer.user}", ", ".join(wanted.channels))
    return fresh_json(_answer(site, viewer.user))


@router.delete("", response_model=SubscriptionAnswer)
def unsubscribe(site: ASite, viewer: AKnownViewer) -> Response:
    if site.store.unsubscribe(viewer.user):
        site.record(viewer, "unsubscribe", f"user {viewer.user}")
    return fresh_json(_answer(site, viewer.user))


def _answer(site: Site, user: str) -> SubscriptionAnswer:
    return SubscriptionAnswer(
        available=tuple(sorted(channels_of(site.settings))),
        subscription=site.store.subscription(user),
    )
