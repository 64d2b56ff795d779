"""`schedmate serve --port`, as it is started from a shell."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from schedmate.cli.serve import page_url
from schedmate.site_settings import WebSettings
from web.conftest import free_port

pytestmark = pytest.mark.processes
PATIENCE_S = 120.0


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status == 200
    except OSError:
        return False


@pytest.mark.parametrize(
    ("host", "names", "url"),
    [
        ("127.0.0.1", ("jobs.site",), "http://127.0.0.1:80/"),
        ("0.0.0.0", (), "http://127.0.0.1:80/"),
        ("0.0.0.0", ("jobs.site", "other"), "http://jobs.site:80/"),
        ("::", (), "http://127.0.0.1:80/"),
        ("fd00::7", (), "http://[fd00::7]:80/"),
    ],
)
def test_the_address_that_is_printed_can_be_opened(host, names, url):
    assert page_url(WebSettings(host=host, names=names), 80) == url


def test_the_page_is_there_as_long_as_the_daemon(tmp_path):
    port = free_port()
    env = {
        **os.environ,
        "SCHEDMATE_STATE_DIR": str(tmp_path / "state"),
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_LLM__ENABLED": "false",
    }
    words = [sys.executable, "-m", "schedmate", "serve", "--port", str(port)]
    with subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True) as daemon:
        try:
            until = time.monotonic() + PATIENCE_S
            while not answers(f"http://127.0.0.1:{port}/readyz"):
                assert daemon.poll() is None, daemon.stderr.read()
                assert time.monotonic() < until
                time.sleep(0.2)
            assert answers(f"http://127.0.0.1:{port}/")
            other = {**env, "SCHEDMATE_STATE_DIR": str(tmp_path / "other")}
            second = subprocess.run(
                words, env=other, capture_output=True, text=True, check=False, timeout=PATIENCE_S
            )
            assert second.returncode == 1
            assert f"127.0.0.1:{port} cannot be listened on" in second.stderr
            assert "serving" not in second.stderr
        finally:
            daemon.send_signal(signal.SIGTERM)
            said = daemon.communicate(timeout=PATIENCE_S)[1]
        assert daemon.returncode == 0
        assert f"the page is at http://127.0.0.1:{port}/" in said
        assert "Traceback" not in said
