"""`/me`: a user's own tokens and notifications. `/audit`: who did what, for operators."""

from __future__ import annotations

import time
from typing import get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from schedmate.model import BadInput
from schedmate.model.access import NOTICE_KINDS, NoticeKind, Subscription
from schedmate.model.wire import dumps, loads
from schedmate.service.notifications.channels import channels_of
from schedmate.service.usecases.audit import FAILED_SIGN_IN
from schedmate.service.usecases.tokens import TokenRequest, make_token, revoke_seen, tokens_seen
from schedmate.service.views.site_answers import NotificationTest
from schedmate.web.acting import AForm, back_to
from schedmate.web.asking import AKnownViewer, AnOperator, ASite
from schedmate.web.notify_api import drop_subscription, keep_subscription, sent_test
from schedmate.web.paging import APage
from schedmate.web.readings import AReadings
from schedmate.web.templating import page

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_MOST_TOKENS = 100
_TEST = "test"
_KINDS = {
    "failed": "fails",
    "hung": "hangs",
    "limit": "will miss its limit",
    "doomed": "runs on for nothing",
    "made_way": "makes way for shorter jobs",
}


@router.get("/me")
def account(
    request: Request, site: ASite, viewer: AKnownViewer, readings: AReadings, made: str = ""
) -> HTMLResponse:
    """What the asker is known as, their messages and tokens.

    Once the secret of a token just made, or what became of a test message.
    """
    shown = readings.shown_once.take(viewer.user, made) if made else ""
    own = [one for one in tokens_seen(site.store, viewer) if one.user == viewer.user]
    tested = made == _TEST and shown
    return page(
        "me.html",
        request,
        viewer=viewer,
        tokens=own[:_MOST_TOKENS],
        at=time.time(),
        secret="" if tested else shown,
        tested=loads(NotificationTest, shown) if tested else None,
        available=sorted(channels_of(site.settings)),
        subscription=site.store.subscription(viewer.user),
        kinds=[(kind, _KINDS[kind]) for kind in get_args(NoticeKind)],
        wait_s=site.settings.notify.wait_s,
        most=site.settings.notify.messages_an_hour,
        token=readings.token(viewer),
    )


@router.post("/me/tokens")
def create(site: ASite, viewer: AKnownViewer, readings: AReadings, form: AForm) -> Response:
    """The secret is on the page that follows, and on no other."""
    wanted = TokenRequest(name=form.get("name", ""), days=_days(form.get("days", "")))
    token, secret = make_token(site.store, viewer, wanted)
    readings.shown_once.keep(viewer.user, token.id, secret)
    return back_to(f"/me?{urlencode({'made': token.id})}")


@router.post("/me/tokens/{token_id}/revoke")
def revoke(token_id: str, site: ASite, viewer: AKnownViewer, form: AForm) -> Response:  # noqa: ARG001 - the form is its proof
    revoke_seen(site.store, viewer, token_id)
    return back_to("/me")


@router.post("/me/notifications")
def notifications(site: ASite, viewer: AKnownViewer, readings: AReadings, form: AForm) -> Response:
    """`act` is on, off or test."""
    match form.get("act"):
        case "test":
            readings.shown_once.keep(viewer.user, _TEST, dumps(sent_test(site, viewer, "")))
            return back_to(f"/me?{urlencode({'made': _TEST})}")
        case "off":
            drop_subscription(site, viewer)
        case "on":
            kinds = tuple(kind for kind in NOTICE_KINDS if form.get(f"kind-{kind}") == "yes")
            names = sorted(channels_of(site.settings))
            channels = tuple(name for name in names if form.get(f"channel-{name}") == "yes")
            wanted = Subscription(
                user=viewer.user, channels=channels, kinds=kinds, mail=form.get("mail", "")
            )
            keep_subscription(site, viewer, wanted)
        case _:
            raise BadInput("choose whether messages are switched on, switched off or tested")
    return back_to("/me")


@router.get("/audit")
def audit(
    *,
    request: Request,
    site: ASite,
    viewer: AnOperator,
    paging: APage,
    user: str = "",
    action: str = "",
) -> HTMLResponse:
    """Who did what, the newest first, with sign-ins that failed."""
    found = site.store.acts(
        user=user or None,
        action=action or None,
        limit=paging.limit + 1,
        offset=paging.offset,
    )
    last = None
    if not found and paging.offset:
        reached = site.store.acts(user=user or None, action=action or None, limit=paging.offset)
        last = paging.last(len(reached), user=user, action=action)
    return page(
        "audit.html",
        request,
        viewer=viewer,
        acts=found[: paging.limit],
        following=paging.following(more=len(found) > paging.limit, user=user, action=action),
        last=last,
        user=user,
        action=action,
        failed=FAILED_SIGN_IN,
    )


def _days(text: str) -> float:
    try:
        days = float(text or 90)
    except ValueError:
        days = 0.0
    if not days > 0:
        raise BadInput(f"{text!r} is no number of days")
    return days
