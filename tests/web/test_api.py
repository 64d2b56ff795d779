"""`/api/v1`, the stream of changes and the health of the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request

import pytest

from schedmate.model import JobState
from schedmate.service.usecases.tokens import create_token, revoke_token
from schedmate.testing.builders import a_job, a_past_run

pytestmark = pytest.mark.processes
_ASK = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=60).read().decode())"


def test_jobs_a_page_at_a_time(served):
    served.show(*(a_job(id=str(number)) for number in range(7)))
    first = served.get("/api/v1/jobs?limit=5&sort=id").json
    assert first["schema"] == "schedmate.jobs/1"
    assert first["total"] == 7
    assert [one["job"]["id"] for one in first["jobs"]] == list("01234")
    second = served.get(f"/api/v1/jobs{first['next']}").json
    assert [one["job"]["id"] for one in second["jobs"]] == ["5", "6"]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("states", "found"),
    [
        ("FAILED", "1"),
        ("failed", "1"),
        ("TIMEOUT", "2"),
        ("FAILED,TIMEOUT", "12"),
        ("failing", "12"),
        ("FAILING,COMPLETED", "123"),
    ],
)
def test_a_state_is_exactly_itself_and_a_group_has_its_own_name(served, states, found):
    served.show(
        a_job(id="1", state=JobState.FAILED),
        a_job(id="2", state=JobState.TIMEOUT),
        a_job(id="3", state=JobState.COMPLETED),
        a_job(id="4", state=JobState.CANCELLED),
    )
    answer = served.get(f"/api/v1/jobs?state={states}&sort=id").json
    assert "".join(one["job"]["id"] for one in answer["jobs"]) == found


def test_one_job(queue):
    answer = queue.get("/api/v1/jobs/1").json
    assert answer["schema"] == "schedmate.job/1"
    assert answer["progress"]["fraction"] == 0.5
    assert answer["advice"]["prediction"]["duration_s"]["p50"] == 60.0


def test_a_job_that_only_history_knows(served):
    served.store.keep_run(a_past_run(job=a_job(id="9", state=JobState.COMPLETED)))
    assert served.get("/api/v1/jobs/9").json["job"]["state"] == "COMPLETED"


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/v1/jobs/77", 404, "knows a job 77"),
        ("/api/v1/jobs?limit=0", 422, "limit"),
        ("/api/v1/jobs?sort=size", 422, "sort"),
        ("/api/v1/nothing", 404, ""),
    ],
)
def test_errors_have_one_shape(served, path, status, words):
    answer = served.get(path)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == status
    assert words in answer.json["detail"]


def test_every_answer_is_as_documented(queue):
    document = queue.get("/api/v1/openapi.json").json
    assert {"/api/v1/jobs", "/api/v1/jobs/{job_id}", "/healthz"} <= set(document["paths"])
    kept = document["components"]["schemas"]
    answer = queue.get("/api/v1/jobs/1").json
    assert set(answer) == set(kept["JobAnswer"]["properties"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_this_machine_sees_no_text_of_mine(queue):
    def as_nobody(path):
        words = [sys.executable, "-c", _ASK, f"http://127.0.0.1:{queue.port}{path}"]
        become = ["setpriv", "--reuid=nobody", "--clear-groups"]
        return subprocess.run([*become, *words], capture_output=True, text=True, check=True).stdout

    mine, theirs = (json.loads(as_nobody(f"/api/v1/jobs/{number}")) for number in (1, 2))
    assert mine["job"]["name"] == ""
    assert mine["job"]["command"] == []
    assert theirs["job"]["name"] == "bert"
    assert "resnet" not in as_nobody("/")
    assert "bert" in as_nobody("/")
    assert json.loads(as_nobody("/api/v1/jobs?q=resnet"))["total"] == 0


def test_changes_are_streamed(served):
    stream = urllib.request.urlopen(f"http://127.0.0.1:{served.port}/api/v1/events", timeout=60)
    with stream:
        assert stream.readline().startswith(b"retry")
        served.show(a_job(id="5"))
        deadline = time.monotonic() + 60
        lines = []
        while time.monotonic() < deadline and not any(line.startswith(b"data") for line in lines):
            lines.append(stream.readline())
    assert b"event: jobs\n" in lines
    assert json.loads(lines[-1].removeprefix(b"data: "))["jobs"] == ["5"]


def test_ready_only_once_the_scheduler_was_seen(served):
    assert served.get("/healthz").json == {"status": "ok"}
    assert served.get("/readyz").status == 503
    served.site.looked(time.time())
    assert served.get("/readyz").status == 200
    served.site.looked(time.time() - 3600)
    assert "3600 s ago" in served.get("/readyz").json["detail"]


@pytest.mark.parametrize("host", ["evil.example.org", "127.0.0.1.evil.example.org"])
def test_a_name_that_is_not_this_machines_gets_nothing(queue, host):
    answer = queue.get("/api/v1/jobs", Host=host)
    assert answer.status == 400
    assert "resnet" not in answer.text


def test_a_stream_ends_with_its_token(served):
    """Those of others go on."""
    token, secret = create_token(served.store, "ada", days=1)
    bearer = {"Authorization": f"Bearer {secret}"}
    asked = urllib.request.Request(served.url("/api/v1/events"), headers=bearer)
    with (
        urllib.request.urlopen(asked, timeout=60) as stream,
        urllib.request.urlopen(served.url("/api/v1/events"), timeout=60) as other,
    ):
        assert stream.readline().startswith(b"retry")
        assert other.readline().startswith(b"retry")
        revoke_token(served.store, token.id)
        began = time.monotonic()
        assert b"event" not in stream.read()
        assert time.monotonic() - began < 50
        served.show(a_job(id="5"))
        while not (line := other.readline()).startswith(b"event"):
            assert line
    assert served.get("/api/v1/events", **bearer).status == 401


def test_one_user_opens_only_so_many_streams(served):
    url = f"http://127.0.0.1:{served.port}/api/v1/events"
    streams = [urllib.request.urlopen(url, timeout=60) for _ in range(20)]
    try:
        for stream in streams:
            assert stream.readline().startswith(b"retry")
        refused = served.get("/api/v1/events")
        assert (refused.status, refused.json["title"]) == (429, "Too Many Requests")
        assert served.get("/").status == 200
    finally:
        for stream in streams:
            stream.close()
