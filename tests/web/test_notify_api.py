"""Each user's choice of notifications, by the API and by the verb."""

from __future__ import annotations

from contextlib import closing

import pytest

from schedmate.client import Client
from schedmate.config import Settings
from schedmate.model import BadInput
from schedmate.model.access import Subscription
from schedmate.service.usecases.tokens import create_token
from schedmate.service.wiring import open_store
from schedmate.site_settings import MailSettings
from schedmate.web.server import serving
from web.conftest import Served, free_port

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


def test_what_was_sent_is_counted(site):
    site.site.notifications["mail", "sent"] += 3
    text = site.get("/metrics").text
    assert 'schedmate_notifications_total{channel="mail",outcome="sent"} 3.0' in text
