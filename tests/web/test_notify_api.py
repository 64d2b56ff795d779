"""Each user's choice of notifications, by the API and by the verb."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from schedmate.client import Client
from schedmate.config import Settings
from schedmate.model import BadInput
from schedmate.model.access import Subscription
from schedmate.model.account import account_name
from schedmate.sections import Secret
from schedmate.service.usecases.tokens import create_token
from schedmate.service.wiring import open_store
from schedmate.site_settings import MailSettings, WebhookSettings
from schedmate.web.server import serving
from service.test_notifications import http_server
from web.conftest import Served, free_port, post_form

pytestmark = pytest.mark.processes


@pytest.fixture
def site(tmp_path):
    mail = MailSettings(host="127.0.0.1", domain="example.org")
    settings, port = Settings(state_dir=tmp_path / "state", mail=mail), free_port()
    with (
        closing(open_store(settings)) as store,
        serving(settings, host="127.0.0.1", port=port) as site,
    ):
        yield Served(site, store, port)


@pytest.fixture
def hooked(tmp_path):
    """A site with one webhook, and what that has got."""
    with http_server() as (url, got):
        hook = WebhookSettings(url=Secret(url), private=True)
        settings = Settings(state_dir=tmp_path / "state", webhooks={"ops": hook})
        port = free_port()
        with serving(settings, host="127.0.0.1", port=port) as site:
            yield Served(site, site.store, port), got


def test_a_user_chooses_for_themselves_alone(site):
    ada, bob = (
        Client(site.url(""), token=create_token(site.store, user, days=1)[1])
        for user in ("ada", "bob")
    )
    assert ada.subscription().available == ("mail",)
    assert ada.subscription().subscription is None
    chosen = ada.subscribe(Subscription(user="bob", channels=("mail",), kinds=("failed",)))
    assert chosen.subscription == Subscription(user="ada", channels=("mail",), kinds=("failed",))
    assert bob.subscription().subscription is None
    assert ada.unsubscribe().subscription is None


def test_only_the_sites_channels(site):
    with pytest.raises(BadInput, match="there are mail"):
        Client(site.url("")).subscribe(Subscription(user="x", channels=("https://evil",)))
    crossed = site.ask(
        "PUT", "/api/v1/me/notifications", b'{"channels": ["mail"]}', Origin="https://evil"
    )
    assert crossed.status == 403


def test_a_test_message_a_few_times_an_hour(hooked):
    served, got = hooked
    served.taken_for("ada")
    client = Client(served.url(""))
    with pytest.raises(BadInput, match="no messages are sent to you yet"):
        client.test_notifications()
    client.subscribe(Subscription(user="ada", channels=("ops",)))
    [result] = client.test_notifications().results
    assert (result.channel, result.sent) == ("ops", True)
    assert [one[1]["user"] for one in got] == ["ada"]
    statuses = [served.post("/api/v1/me/notifications/test", {}).status for _ in range(6)]
    assert statuses[-1] == 429
    assert len(got) <= 5
    act = served.store.acts(action="test notifications")[0]
    assert (act.user, act.detail) == ("ada", "ops: sent")
    served.taken_for("bob")
    assert client.test_notifications("ops").results[0].sent


def test_loading_the_page_of_a_test_again_sends_nothing(hooked):
    served, got = hooked
    served.store.subscribe(Subscription(user=account_name(), channels=("ops",)))
    given = re.search(r'name="token" value="(\w+)"', served.get("/me").text)[1]
    answer = post_form(served, "/me/notifications", token=given, act="test")
    assert answer.status == 303
    shown = served.get(answer.headers["location"]).text
    assert "ops: sent" in shown
    again = served.get(answer.headers["location"])
    assert (again.status, "ops: sent" in again.text, len(got)) == (200, False, 1)


def test_the_page_says_why_messages_come_or_do_not(site):
    site.taken_for("ada")
    shown = site.get("/me").text
    assert "because you have not switched them on" in shown
    given = re.search(r'name="token" value="(\w+)"', shown)[1]
    chosen = {"act": "on", "channel-mail": "yes", "kind-failed": "yes", "mail": ""}
    assert post_form(site, "/me/notifications", token=given, **chosen).status == 303
    assert site.store.subscription("ada") == Subscription(
        user="ada", channels=("mail",), kinds=("failed",)
    )
    assert "because you switched them on" in site.get("/me").text
    elsewhere = {**chosen, "mail": "ada@elsewhere.org"}
    assert post_form(site, "/me/notifications", token=given, **elsewhere).status == 409
    assert post_form(site, "/me/notifications", token=given, act="off").status == 303
    assert site.store.subscription("ada") is None
    assert post_form(site, "/me/notifications", token=given).status == 400


def test_a_site_without_channels_says_so(served):
    assert "has neither mail nor webhooks" in served.get("/me").text


def test_what_was_sent_is_counted(site):
    site.site.notifications["mail", "sent"] += 3
    text = site.get("/metrics").text
    assert 'schedmate_notifications_total{channel="mail",outcome="sent"} 3.0' in text
