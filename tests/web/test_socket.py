"""The unix socket of the pages: one daemon's at a time."""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager

import pytest

from schedmate.client import Client
from schedmate.config import Settings
from schedmate.model import SchedMateError
from schedmate.site_settings import WebSettings
from schedmate.web.server import serving

pytestmark = pytest.mark.processes


@contextmanager
def daemon(state_dir, path):
    settings = Settings(state_dir=state_dir, web=WebSettings(socket=path))
    with serving(settings, host="127.0.0.1", port=None) as site:
        yield site


def test_a_socket_in_use_is_refused_and_stays(tmp_path):
    path = tmp_path / "api.sock"
    with daemon(tmp_path / "first", path):
        with (
            pytest.raises(SchedMateError, match=r"another process listens on web.socket .*api"),
            daemon(tmp_path / "second", path),
        ):
            pass
        assert Client(f"unix:{path}").me().operator
    assert not path.exists()


def test_a_socket_that_no_process_listens_on_is_replaced(tmp_path):
    path = tmp_path / "api.sock"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))
    with daemon(tmp_path / "state", path):
        assert Client(f"unix:{path}").me().operator


def test_only_the_own_socket_is_removed(tmp_path):
    path = tmp_path / "api.sock"
    with socket.socket(socket.AF_UNIX) as other:
        with daemon(tmp_path / "state", path):
            path.unlink()
            other.bind(str(path))
        assert path.is_socket()


def test_a_missing_directory_is_named_and_not_made(tmp_path):
    path = tmp_path / "absent" / "api.sock"
    with (
        pytest.raises(SchedMateError, match=r"there is no directory .*absent; make it"),
        daemon(tmp_path / "state", path),
    ):
        pass
    assert not path.parent.exists()


def test_it_ends_quietly_whatever_is_open(tmp_path, caplog):
    """A stream that is not read, a request whose body does not come, an idle connection."""
    path = tmp_path / "api.sock"
    head = b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    sent = [
        b"GET /api/v1/events" + head + b"\r\n",
        b"POST /api/v1/advise" + head + b"Content-Length: 10\r\n\r\n{",
        b"GET / HT",
    ]
    with ExitStack() as clients, daemon(tmp_path / "state", path):
        for one in sent:
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(path))
            client.sendall(one)
        Client(f"unix:{path}").me()  # those before it have been taken up
    assert [one.getMessage() for one in caplog.records if one.name.startswith("uvicorn")] == []
