"""One user or address that opens many connections and sends nothing does not silence the pages."""

from __future__ import annotations

import http.client
import json
import os
import resource
import socket
import ssl
import subprocess
import sys
import urllib.request
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pwd import getpwuid

import pytest

from files.people import let_all_reach
from schedmate.client import Client
from schedmate.config import Settings
from schedmate.service.usecases.tokens import create_token
from schedmate.site_settings import WebSettings
from schedmate.web import connections
from schedmate.web.access import UNIX
from schedmate.web.server import serving
from schedmate.web.waiting import WaitingConnections
from web.conftest import free_port

processes = pytest.mark.processes
HALF_OPEN = 1100
_HOLD = """
import resource, socket, sys
where, count = sys.argv[1], int(sys.argv[2])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
held = []
for _ in range(count):
    if where.isdecimal():
        end = socket.create_connection(("127.0.0.1", int(where)), timeout=60)
    else:
        end = socket.socket(socket.AF_UNIX)
        end.connect(where)
    try:
        end.sendall(b"GET / HT")
    except OSError:
        pass  # it was given up already
    held.append(end)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def holding(where, *, user=None):
    """A process of this user that holds so many connections half open."""
    become = ["setpriv", f"--reuid={user}", "--clear-groups"] if user else []
    words = [*become, sys.executable, "-c", _HOLD, str(where), str(HALF_OPEN)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout.readline() == "held\n"
            yield
        finally:
            process.kill()


def is_open(end):
    """Whether the other end is, after all that it has sent."""
    end.setblocking(False)
    try:
        while end.recv(4096):
            pass
    except BlockingIOError:
        return True
    return False


def not_enough_files():
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2 * HALF_OPEN


needs_files = pytest.mark.skipif(not_enough_files(), reason="too few files may be open")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


@processes
@needs_files
@pytest.mark.parametrize(
    "user", [pytest.param("nobody", marks=needs_root), pytest.param(None, id="own")]
)
def test_half_open_connections_over_loopback_silence_no_one(served, user):
    with holding(served.port, user=user):
        for _ in range(3):
            assert served.get("/api/v1/jobs").status == 200


@processes
@needs_files
@pytest.mark.parametrize(
    "user", [pytest.param("nobody", marks=needs_root), pytest.param(None, id="own")]
)
def test_half_open_connections_to_the_socket_silence_no_one(tmp_path, user):
    let_all_reach(tmp_path)
    path = tmp_path / "api.sock"
    settings = Settings(state_dir=tmp_path / "state", web=WebSettings(socket=path))
    with serving(settings, host="127.0.0.1", port=None), holding(path, user=user):
        assert Client(f"unix:{path}").me().user == getpwuid(os.getuid()).pw_name


@pytest.fixture
def secured(tmp_path):
    """The port of a server with TLS, and a context that trusts it."""
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    web = WebSettings(certificate=certificate, key=key)
    settings, port = Settings(state_dir=tmp_path / "state", web=web), free_port()
    with serving(settings, host="127.0.0.1", port=port):
        yield port, ssl.create_default_context(cafile=certificate)


def ask_over_tls(port, context):
    with urllib.request.urlopen(
        f"https://127.0.0.1:{port}/api/v1/me", timeout=60, context=context
    ) as answer:
        return json.load(answer)["user"]


@processes
@needs_files
def test_half_open_connections_before_tls_silence_no_one(secured):
    port, context = secured
    me = getpwuid(os.getuid()).pw_name
    assert ask_over_tls(port, context) == me
    with holding(port):
        assert ask_over_tls(port, context) == me


@processes
def test_requests_follow_each_other_over_tls(secured):
    """The first may come with the end of the handshake."""
    port, context = secured
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=context)
    with closing(connection):
        for _ in range(3):
            connection.request("GET", "/healthz")
            answer = connection.getresponse()
            assert (answer.status, json.load(answer)) == (200, {"status": "ok"})


@processes
def test_what_is_no_tls_is_closed(secured, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_WITHIN_S", 0.5)
    port, context = secured
    for sent in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01"):
        with socket.create_connection(("127.0.0.1", port), 60) as end:
            end.sendall(sent)
            with suppress(ConnectionResetError):
                while end.recv(4096):
                    pass  # an alert
    assert ask_over_tls(port, context)


@processes
@needs_files
def test_streams_of_many_users_go_on_beside_them(served):
    """They come from one address: what is being answered is bounded by user, not by address."""
    served.taken_for("")
    secrets = [create_token(served.store, f"user{number}", days=1)[1] for number in range(10)]
    with ExitStack() as streams:
        opened = []
        for number in range(200):
            end = streams.enter_context(socket.create_connection(("127.0.0.1", served.port), 60))
            end.sendall(
                b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n"
                + f"Authorization: Bearer {secrets[number % 10]}\r\n\r\n".encode()
            )
            opened.append(end)
        for end in opened:
            assert end.recv(4096).startswith(b"HTTP/1.1 200")
        with holding(served.port):
            one = {"Authorization": f"Bearer {secrets[0]}"}
            assert served.get("/api/v1/jobs", **one).status == 200
            served.show()
        for end in opened:
            assert is_open(end)


@dataclass(eq=False)
class Held:
    client: tuple[str, int] | None
    server: tuple[str, int | None] | None = ("127.0.0.1", 8080)
    given_up: bool = field(default=False)

    def give_up(self):
        self.given_up = True


def a_waiting_room(**parts):
    return WaitingConnections(later=lambda check: check(), **parts)


def entered(waiting, *ends):
    for one in ends:
        waiting.enter(one)
    return [one.given_up for one in ends]


def test_the_oldest_of_one_address_are_given_up_and_no_others():
    waiting = a_waiting_room(most=2)
    other = Held(("10.0.0.2", 1))
    waiting.enter(other)
    ends = [Held(("10.0.0.1", port)) for port in range(5)]
    assert entered(waiting, *ends) == [True, True, True, False, False]
    assert not other.given_up


def test_all_of_one_network_of_addresses_count_together():
    waiting = a_waiting_room(most=1)
    ends = [Held((f"2001:db8::{number}", 1)) for number in range(1, 4)]
    assert entered(waiting, *ends) == [True, True, False]


def test_users_over_loopback_are_told_apart():
    theirs, mine = 65534, os.getuid()

    def owners(ends):
        return {client: mine if client[1] == 0 else theirs for client, _ in ends if client[1] < 90}

    waiting = a_waiting_room(most=3, owners=owners)
    mine_first, gone, *theirs_later = (
        Held(("127.0.0.1", port)) for port in (0, 99, 1, 2, 3, 4, 5, 6, 7, 8)
    )
    given_up = entered(waiting, mine_first, gone, *theirs_later)
    assert given_up[:2] == [False, True], "the other end of one is closed"
    assert 3 <= given_up[2:].count(False) <= 6
    assert not theirs_later[-1].given_up


def test_one_that_is_answered_does_not_count():
    waiting = a_waiting_room(most=1)
    ends = [Held((UNIX, os.getuid())) for _ in range(3)]
    for one in ends:
        waiting.enter(one)
        waiting.leave(one)
    assert not any(one.given_up for one in ends)


def test_a_proxy_has_no_bound():
    waiting = a_waiting_room(proxies=("10.0.0.1",), most=1)
    ends = [Held(("10.0.0.1", port)) for port in range(3)]
    assert not any(entered(waiting, *ends))
