"""The pages while PostgreSQL does not answer."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import closing

import pytest

from schedmate.config import Settings
from schedmate.model import StoreUnavailable
from schedmate.service.daemon.signals import Signals
from schedmate.service.daemon.turns import wait_for_turn
from schedmate.service.usecases.tokens import create_token
from schedmate.service.wiring import open_store
from schedmate.store.lease import DatabaseLease
from schedmate.testing.postgres import private_postgres, programs
from schedmate.web.readings import Readings
from schedmate.web.server import serving
from web.conftest import Served, free_port

pytestmark = pytest.mark.processes
FAILED = "the store cannot be read"


@pytest.fixture
def outage(tmp_path):
    """The pages of a store whose server has been stopped, and a token made before."""
    if programs() is None:
        pytest.skip("needs PostgreSQL: scripts/install-test-packages")
    with private_postgres() as server:
        settings = Settings(state_dir=tmp_path / "state", store_url=server.database("site"))
        with closing(open_store(settings)) as store:
            secret = create_token(store, "ada", days=1)[1]
        port = free_port()
        with serving(settings, host="127.0.0.1", port=port) as site:
            site.looked(time.time())
            server.stop("immediate")
            try:
                yield Served(site, None, port), secret
            finally:
                server.start()


def test_requests_are_refused_without_naming_the_store(outage, caplog):
    served, secret = outage
    signed_in, as_json = {"Authorization": f"Bearer {secret}"}, {"Accept": "application/json"}

    api = served.get("/api/v1/jobs", **signed_in)
    assert (api.status, api.json["detail"]) == (503, FAILED)
    page = served.get("/", Accept="text/html", **signed_in)
    assert (page.status, FAILED in page.text) == (503, True)
    ready = served.get("/readyz")
    assert (ready.status, ready.json["detail"]) == (503, FAILED)
    audit = served.get("/audit", Accept="text/html")
    assert (audit.status, FAILED in audit.text) == (503, True)
    advice = served.post(
        "/api/v1/advise", {"script": "#!/bin/sh\ntrue\n", "within_s": 1.0}, **as_json
    )
    deadline = time.monotonic() + 60
    while advice.status == 200 and time.monotonic() < deadline:
        assert advice.json["state"] != "final"
        advice = served.get(f"/api/v1/advise/{advice.json['id']}")
    assert (advice.status, advice.json["detail"]) == (503, FAILED)
    for answer in (api, page, ready, audit, advice):
        assert "postgres" not in answer.text
    lines = [one.getMessage() for one in caplog.records if "not answered" in one.getMessage()]
    assert len(lines) == 1, "a line a minute"
    assert "postgresql://" in lines[0]
    assert not [one for one in caplog.records if one.exc_info]


class FailingBoard:
    def __init__(self):
        self.asked = 0

    def refresh(self):
        self.asked += 1
        raise StoreUnavailable("gone")


def test_an_outage_is_a_line_a_minute(served, caplog, monkeypatch):
    monkeypatch.setattr("schedmate.web.site._REFRESH_S", 0.01)
    site, stop = served.site, threading.Event()
    site.board, kept = FailingBoard(), site.board
    thread = threading.Thread(target=site.keep_fresh, args=(stop,))
    thread.start()
    until = time.monotonic() + 60
    while site.board.asked < 20 and time.monotonic() < until:
        time.sleep(0.01)
    stop.set()
    thread.join()
    assert site.board.asked >= 20
    site.board = kept
    lines = [one for one in caplog.records if "what was known before" in one.getMessage()]
    assert len(lines) == 1


class LostDatabase:
    """Answers once."""

    def __init__(self):
        self.asked = 0

    def run(self, *_):
        self.asked += 1
        if self.asked > 1:
            raise StoreUnavailable("gone")
        return 1

    def close(self): ...


def test_a_lease_that_cannot_be_renewed_is_a_line_a_minute(caplog, monkeypatch):
    monkeypatch.setattr("schedmate.store.lease._RENEW_S", 0.01)
    db = LostDatabase()
    lease = DatabaseLease(db, "local", "one")
    assert lease.take()
    until = time.monotonic() + 60
    while db.asked < 20 and time.monotonic() < until:
        time.sleep(0.01)
    with caplog.at_level(logging.CRITICAL):  # that it cannot be given back either
        lease.release()
    assert db.asked >= 20
    lines = [one for one in caplog.records if "could not be renewed" in one.getMessage()]
    assert len(lines) == 1


class OthersLease:
    """Another daemon's until it is asked for a second time."""

    holder, held = "one", False

    def take(self):
        self.held, before = True, self.held
        return before

    def other_holder(self):
        return "two"


def test_a_daemon_that_stands_by_is_not_ready(served, monkeypatch):
    monkeypatch.setattr("schedmate.service.daemon.turns.ASK_S", 0.0)
    with closing(Signals()) as signals:
        assert wait_for_turn(OthersLease(), signals, served.site.stands_by)
    answer = served.get("/readyz")
    assert (answer.status, answer.json["detail"]) == (
        503,
        "this daemon stands by: another one decides",
    )
    served.site.looked(time.time())
    assert served.get("/readyz").status == 200


def test_a_store_that_fails_while_pages_are_prepared_ends_no_thread_in_error(served, monkeypatch):
    def fails():
        raise StoreUnavailable("gone")

    readings = Readings.of(served.site)
    monkeypatch.setattr(readings.site.store, "newest_change", fails)

    readings.warm()
