"""Strangers, forged headers, hostile pages, oversized and slow requests."""

from __future__ import annotations

import os
import socket
import threading
import time
from base64 import b64encode
from contextlib import closing, suppress

import pytest

from files.people import let_all_reach
from schedmate.client import Client
from schedmate.config import Settings
from schedmate.model import BadInput, NotSignedIn, SchedMateError
from schedmate.model.account import account_name
from schedmate.model.redaction import redact
from schedmate.service.usecases.tokens import create_token, revoke_token
from schedmate.service.wiring import open_store
from schedmate.site_settings import WebSettings
from schedmate.testing.builders import a_job
from schedmate.web import connections, guard, pages
from schedmate.web.app import SECURITY_HEADERS
from schedmate.web.buckets import Buckets
from schedmate.web.server import serving
from web.conftest import Served, as_user, free_port

pytestmark = pytest.mark.processes
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
JSON = {"Content-Type": "application/json"}


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def token(queue):
    """Of a user who owns none of the jobs but job 2."""
    return create_token(queue.store, "nobody", days=1)[1]


def serve_with(tmp_path, **web):
    settings = Settings(state_dir=tmp_path / "state", web=WebSettings(**web))
    return serving(settings, host="127.0.0.1", port=free_port())


@pytest.fixture
def proxied(tmp_path):
    """Trusts the header of this test's own account."""
    web = WebSettings(proxy_header="X-Remote-User", proxy_accounts=(account_name(),))
    settings = Settings(state_dir=tmp_path / "state", operators=("ada",), web=web)
    port = free_port()
    with (
        closing(open_store(settings)) as store,
        serving(settings, host="127.0.0.1", port=port) as site,
    ):
        served = Served(site, store, port)
        served.show(a_job(id="1", name="resnet", user="bob"))
        yield served


@pytest.fixture(autouse=True)
def patient_gate(monkeypatch):
    """So many attempts in a test are no attack."""
    monkeypatch.setattr(guard, "_FAILURES_A_SECOND", 100.0)


def test_a_token_shows_its_users_jobs_whole_and_no_others(queue, token):
    names = {
        one["job"]["id"]: one["job"]["name"]
        for one in queue.get("/api/v1/jobs", **bearer(token)).json["jobs"]
    }
    assert names == {"1": "", "2": "bert", "3": ""}
    assert queue.get("/api/v1/me", **bearer(token)).json == {
        "schema": "schedmate.identity/1",
        "user": "nobody",
        "operator": False,
    }


def test_an_operators_token_shows_all(queue):
    secret = create_token(queue.store, "prometheus", scope="operator", days=1)[1]
    assert queue.get("/api/v1/jobs/1", **bearer(secret)).json["job"]["name"] == "resnet"
    assert queue.get("/metrics", **bearer(secret)).status == 200


def test_browsers_send_a_token_as_a_password(queue, token):
    basic = b64encode(f"anything:{token}".encode()).decode()
    assert queue.get("/", Authorization=f"Basic {basic}").status == 200
    refused = queue.get("/", Authorization="Basic e30=")
    assert refused.status == 401
    assert "Basic realm=" in refused.headers["www-authenticate"]


@pytest.mark.parametrize("header", ["Bearer ", "Bearer x y", "Digest abc", "Basic %%%", "x"])
def test_what_is_no_token_lets_no_one_in(queue, header):
    assert queue.get("/api/v1/jobs", Authorization=header).status == 401


def test_revoked_and_expired_tokens_end_at_once(queue):
    token, secret = create_token(queue.store, "nobody", days=1)
    assert queue.get("/api/v1/me", **bearer(secret)).status == 200
    revoke_token(queue.store, token.id)
    assert queue.get("/api/v1/me", **bearer(secret)).status == 401
    _, short = create_token(queue.store, "nobody", days=1e-9)
    assert queue.get("/api/v1/me", **bearer(short)).status == 401


def test_the_store_has_no_secret(queue, token):
    database = queue.site.settings.database
    queue.store.compact()
    kept = b"".join(file.read_bytes() for file in database.parent.glob(f"{database.name}*"))
    assert b"nobody" in kept
    assert token.encode() not in kept
    assert token not in redact(f"curl -H 'x: {token}' http://head")


def test_attempts_are_limited(queue, monkeypatch):
    gate = Buckets(0.5, 3)
    assert [gate.take("10.0.0.7", now=0.0) for _ in range(5)] == [True] * 3 + [False] * 2
    assert gate.take("10.0.0.8", now=0.0)
    assert gate.take("10.0.0.7", now=2.0)
    assert not gate.take("10.0.0.7", now=2.0)


def test_one_user_cannot_take_all(tmp_path):
    web = WebSettings(requests_a_second=1.0)
    settings, port = Settings(state_dir=tmp_path / "state", web=web), free_port()
    with serving(settings, host="127.0.0.1", port=port) as site:
        served = Served(site, site.store, port)
        found = [served.get("/api/v1/me").status for _ in range(40)]
        assert found[:5] == [200] * 5
        assert 429 in found
        assert served.get("/healthz").status == 200


def test_the_proxys_header_counts_from_the_proxy_alone(proxied):
    def asked(**headers):
        return proxied.get("/api/v1/me", **headers)

    assert asked(**{"X-Remote-User": "bob"}).json["user"] == "bob"
    assert asked(**{"X-Remote-User": "ada"}).json["operator"]
    assert not asked(**{"X-Remote-User": account_name()}).json["operator"]
    for forged in ("", "bob; drop", "a" * 99, "../x"):
        assert asked(**{"X-Remote-User": forged}).status == 401
    # without the header a request through the proxy is no one's, least of all the proxy's own
    assert asked().status == 401
    bobs = proxied.get("/api/v1/jobs/1", **{"X-Remote-User": "bob"}).json
    carols = proxied.get("/api/v1/jobs/1", **{"X-Remote-User": "carol"}).json
    assert (bobs["job"]["name"], carols["job"]["name"]) == ("resnet", "")


def test_without_the_setting_the_header_is_nothing(queue):
    forged = {"X-Remote-User": "nobody", "X-Forwarded-For": "10.0.0.1", "X-Forwarded-User": "ada"}
    assert queue.get("/api/v1/me", **forged).json["user"] == account_name()


def test_a_header_that_the_client_sent_too_names_no_one(proxied):
    with socket.create_connection(("127.0.0.1", proxied.port), timeout=60) as end:
        end.sendall(
            b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: ada\r\n"
            b"X-Remote-User: bob\r\nConnection: close\r\n\r\n"
        )
        assert b" 401 " in end.recv(4096)


def test_one_user_cannot_hold_every_thread(served, monkeypatch):
    """Requests at once are bounded by user, whatever they wait for."""
    started, go_on = threading.Event(), threading.Event()
    waiting = []

    def slow(*_, **__):
        waiting.append(1)
        if len(waiting) == guard.MOST_AT_ONCE:
            started.set()
        go_on.wait(60)
        return served.site.board.views()

    monkeypatch.setattr(pages, "find", lambda *_, **__: slow())
    threads = [
        threading.Thread(target=served.get, args=("/",), daemon=True)
        for _ in range(guard.MOST_AT_ONCE)
    ]
    try:
        for thread in threads:
            thread.start()
        assert started.wait(60)
        refused = served.get("/api/v1/jobs")
        assert (refused.status, "at once" in refused.json["detail"]) == (429, True)
        served.taken_for("ada")
        assert served.get("/api/v1/jobs").status == 200
    finally:
        go_on.set()
        for thread in threads:
            thread.join(60)
    assert served.get("/api/v1/jobs").status == 200


@needs_root
def test_a_user_who_is_not_the_proxy_cannot_use_its_header(proxied):
    found = as_user("nobody", proxied.url("/api/v1/me"), headers={"X-Remote-User": "ada"})
    assert (found["user"], found["operator"]) == ("nobody", False)


@needs_root
def test_the_kernel_names_who_is_on_the_unix_socket(tmp_path):
    path = tmp_path / "api.sock"
    let_all_reach(tmp_path)
    settings = Settings(state_dir=tmp_path / "state", web=WebSettings(socket=path))
    with serving(settings, host="127.0.0.1", port=None) as site:
        mine = Client(f"unix:{path}").me()
        assert (mine.user, mine.operator) == ("root", True)
        theirs = as_user("nobody", f"unix:{path}")
        assert (theirs["user"], theirs["operator"]) == ("nobody", False)
        secret = create_token(site.store, "ada", days=1)[1]
        assert Client(f"unix:{path}", token=secret).me().user == "ada"
        with pytest.raises(NotSignedIn):
            Client(f"unix:{path}", token="smt_wrong").me()
    assert not path.exists()


def test_it_does_not_listen_beyond_loopback_without_authentication(tmp_path):
    settings = Settings(state_dir=tmp_path / "state", web=WebSettings(host="0.0.0.0"))
    with (
        pytest.raises(SchedMateError, match="token create"),
        serving(settings, host="0.0.0.0", port=free_port()),
    ):
        pytest.fail("it listens")
    with closing(open_store(settings)) as store:
        create_token(store, "ada", days=1)
    with serving(settings, host="0.0.0.0", port=free_port()):
        pass


def test_a_header_without_a_proxy_is_a_mistake(tmp_path):
    with pytest.raises(BadInput, match="whose word"), serve_with(tmp_path, proxy_header="X-User"):
        pytest.fail("it listens")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "https://evil.example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({}, 200),
    ],
)
def test_no_other_sites_page_can_write(served, headers, status):
    answer = served.post("/api/v1/advise", {"script": "#!/bin/sh\ntrue\n"}, **headers)
    assert answer.status == status


def by_name(served, path, host, **headers):
    return served.get(path, Host=host, **headers)


@pytest.mark.parametrize("host", ["10.1.2.3", "10.1.2.3:8080", "[fe80::1]:8080", "lb.example.org"])
def test_health_is_answered_by_any_name(served, host):
    served.site.looked(time.time())
    assert by_name(served, "/healthz", host).status == 200
    assert by_name(served, "/readyz", host).status == 200
    for path in ("/", "/api/v1/me", "/healthz/", "/static/schedmate.css"):
        refused = by_name(served, path, host)
        assert (refused.status, "web.names" in refused.text) == (400, True)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8471@evil", "localhost@evil", "localhost:80:80", "[::1]evil", "localhost/x"]
)
def test_a_host_is_a_name_and_a_port_alone(served, host):
    assert by_name(served, "/api/v1/me", host).status == 400


@pytest.mark.parametrize("host", ["localhost", "LocalHost:80", "[::1]:8080", "127.0.0.1:"])
def test_names_of_this_machine_are_answered(served, host):
    assert by_name(served, "/api/v1/me", host).status == 200


def test_metrics_are_answered_by_address_or_to_a_token(served):
    secret = create_token(served.store, "prometheus", scope="operator", days=1)[1]
    assert by_name(served, "/metrics", "10.1.2.3:8080").status == 200
    assert by_name(served, "/metrics", "head-mgmt", **bearer(secret)).status == 200
    assert by_name(served, "/metrics", "evil.example.org").status == 400
    assert by_name(served, "/metrics", "evil.example.org", **bearer("smt_no")).status == 401


def has_security_headers(headers):
    names = [name.lower() for name in headers]
    wanted = [name.lower() for name in SECURITY_HEADERS]
    return [names.count(name) for name in wanted] == [1] * len(wanted)


def test_every_answer_has_the_security_headers(queue, monkeypatch):
    paths = ("/", "/nowhere", "/api/v1/jobs/77", "/static/schedmate.css", "/healthz")
    assert all(has_security_headers(queue.get(path).headers) for path in paths)
    assert has_security_headers(by_name(queue, "/", "evil.example.org").headers)
    monkeypatch.setattr(queue.site.board, "views", lambda: 1 / 0)
    failed = queue.get("/api/v1/jobs")
    assert (failed.status, has_security_headers(failed.headers)) == (500, True)


def test_what_is_no_http_gets_the_headers_too(served):
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as end:
        end.sendall(b"this is no HTTP\r\n\r\n")
        with end.makefile("rb") as answer:
            head = answer.read().partition(b"\r\n\r\n")[0].decode().splitlines()
    assert " 400 " in head[0]
    assert has_security_headers([line.partition(":")[0] for line in head[1:]])


def test_a_body_that_is_too_long(served):
    answer = served.ask("POST", "/api/v1/advise", b" " * (guard.MOST_BYTES + 1))
    assert answer.status == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_without_a_length_is_counted(served):
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as end:
        end.sendall(
            b"POST /api/v1/advise HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        try:
            for _ in range(64):
                end.sendall(chunk)
            end.sendall(b"0\r\n\r\n")
        except OSError:
            pass  # it has answered already
        assert b" 413 " in end.recv(4096)


def test_a_body_that_comes_slowly(served, monkeypatch):
    monkeypatch.setattr(guard, "BODY_WITHIN_S", 0.5)
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as end:
        end.sendall(
            b"POST /api/v1/advise HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 10\r\n\r\n{"
        )
        assert b" 408 " in end.recv(4096)


def test_headers_that_come_slowly(served, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_WITHIN_S", 0.3)
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as end:
        began = time.monotonic()
        end.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        with suppress(ConnectionResetError):
            assert end.recv(4096) == b""
        assert time.monotonic() - began < 50


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/jobs/..%2f..%2fetc"]
)
def test_no_path_leads_out(served, path):
    answer = served.get(path)
    assert answer.status == 404
    assert "FastAPI" not in answer.text
