from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from schedmate.config import Settings
from schedmate.model import JobState
from schedmate.service.visibility import Viewer
from schedmate.service.wiring import open_store
from schedmate.store import KeptAdvice
from schedmate.testing.builders import a_diagnosis, a_job, a_progress, an_advice
from schedmate.web.server import serving


@dataclass
class Answer:
    status: int
    headers: dict
    text: str

    @property
    def json(self):
        return json.loads(self.text)


class Always:
    """Takes every connection for this viewer's."""

    def __init__(self, user, *, operator=False):
        self._viewer = Viewer(user=user, operator=operator)

    def viewer(self, client, server):
        return self._viewer


@dataclass
class Served:
    """A real server on a real port, and the store that it shows."""

    site: object
    store: object
    port: int

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def get(self, path, *, method="GET", **headers):
        return self.ask(method, path, **headers)

    def post(self, path, body, **headers):
        return self.ask("POST", path, json.dumps(body).encode(), **headers)

    def ask(self, method, path, body=None, **headers):
        if body is not None:
            headers = {"Content-Type": "application/json"} | headers
        request = urllib.request.Request(self.url(path), body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return Answer(answer.status, dict(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, dict(error.headers), error.read().decode())

    def taken_for(self, user, *, operator=False):
        """From now on every connection from this machine is this account's."""
        object.__setattr__(self.site.access, "local", Always(user, operator=operator))

    def show(self, *jobs):
        self.store.keep_listed(jobs)
        self.site.refresh()


class KeepsAddress(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def post_form(served, path, *, headers=None, **fields):
    """As a form of our own page sends it; redirects are not followed."""
    origin = served.url("")
    request = urllib.request.Request(
        origin + path,
        data=urllib.parse.urlencode(fields).encode(),
        headers={"Origin": origin} if headers is None else headers,
    )
    try:
        with urllib.request.build_opener(KeepsAddress).open(request, timeout=60) as answer:
            return Answer(answer.status, dict(answer.headers), answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, dict(error.headers), error.read().decode())


_ASK = """
import http.client, json, socket, sys
where, path, body, headers = sys.argv[1:]
if where.startswith("unix:"):
    connection = http.client.HTTPConnection("localhost", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(where.removeprefix("unix:"))
else:
    connection = http.client.HTTPConnection(where, timeout=60)
connection.request("POST" if body else "GET", path, body or None, json.loads(headers))
print(connection.getresponse().read().decode())
"""


def as_user(user, url, body=None, headers=None):
    """The JSON that another account of this machine gets; only root can ask so."""
    if url.startswith("unix:"):
        where, path = url, "/api/v1/me"
    else:
        where, path = urlsplit(url).netloc, urlsplit(url).path
    sent = {"Content-Type": "application/json", **(headers or {})}
    words = [where, path, "" if body is None else json.dumps(body), json.dumps(sent)]
    become = ["setpriv", f"--reuid={user}", "--clear-groups", sys.executable, "-c", _ASK]
    done = subprocess.run([*become, *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def served(tmp_path):

    settings = Settings(state_dir=tmp_path / "state")
    port = free_port()
    with (
        closing(open_store(settings)) as store,
        serving(settings, host="127.0.0.1", port=port) as site,
    ):
        yield Served(site, store, port)


@pytest.fixture
def queue(served):
    """A job that runs, one that waits, one that failed, of two users."""
    served.store.keep_advice("1", KeptAdvice(an_advice(60.0), None))
    served.store.keep_progress("1", 0, a_progress(), at=1.0)
    served.store.keep_diagnosis("3", 0, a_diagnosis("gpu_oom"))
    served.show(
        a_job(id="1", name="resnet", state=JobState.RUNNING),
        a_job(id="2", name="bert", user="nobody"),
        a_job(id="3", name="<script>alert(1)</script>", state=JobState.FAILED),
    )
    return served
