"""The client against a real server."""

from __future__ import annotations

import threading
import time

import pytest

from schedmate.client import Client
from schedmate.client.transport import Address
from schedmate.model import BadInput, JobState, NotFound, ServerUnreachable
from schedmate.testing.builders import a_job, a_past_run
from web.conftest import free_port

pytestmark = pytest.mark.processes


@pytest.fixture
def client(queue):
    return Client(queue.url(""))


def test_the_queue_as_values(queue, client):
    assert {view.job.id for view in client.jobs()} == {"1", "2", "3"}
    [running] = client.jobs(state="RUNNING")
    assert running == queue.site.board.view("1")
    assert [view.job.name for view in client.jobs(q="bert")] == ["bert"]


def test_pages_are_followed(served):
    served.show(*(a_job(id=str(number)) for number in range(2300)))
    assert len({view.job.id for view in Client(served.url("")).jobs()}) == 2300


def test_one_job(client):
    assert client.job("1").job.state is JobState.RUNNING
    assert client.progress("1").progress.fraction == 0.5
    assert client.prediction("1").basis == "same_code"
    assert [one.job_id for one in client.predictions()] == ["1", "2"]
    assert client.why("3").reason == "gpu_oom"
    assert client.eta("1").predicted_s.p50 == 60.0
    assert client.similar("1").runs == ()
    assert client.summary().states["FAILED"] == 1
    assert client.me().operator


def test_history(queue, client):
    runs = [a_past_run(job=a_job(id=str(one), state=JobState.COMPLETED)) for one in range(20, 25)]
    queue.store.keep_runs(runs)
    assert len(client.history(limit=3)) == 3
    assert client.past_run("22").job == runs[2].job


def test_advice(client):
    made = client.advise(script="#!/bin/sh\n#SBATCH --gpus=2\npython train.py --epochs 3\n", gpus=2)
    deadline = time.monotonic() + 60
    while made.state != "final" and time.monotonic() < deadline:
        made = client.advised(made.id)
    assert made.prediction.gpus == 2


def test_changes_as_they_come(served):
    seen, ready = [], threading.Event()

    def listen():
        for jobs in Client(served.url("")).events():
            seen.append(jobs)
            ready.set()
            return

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    number = 0
    while not ready.wait(0.2):  # until it listens, no one hears of a change
        number += 1
        assert number < 300
        served.show(a_job(id="5", comment=str(number)))
    assert seen == [["5"]]


def test_errors_are_ours(client):
    with pytest.raises(NotFound, match="knows a job 77"):
        client.job("77")
    with pytest.raises(BadInput, match="SLEEPING"):
        list(client.jobs(state="SLEEPING"))
    with pytest.raises(ServerUnreachable, match="does not answer"):
        Client(f"http://127.0.0.1:{free_port()}").me()


@pytest.mark.parametrize("text", ["head:8080", "ftp://head", "", "http://", "http://a:b@head/"])
def test_what_is_no_server(text):
    with pytest.raises(BadInput):
        Address.of(text)


def test_no_token_goes_over_a_wire_in_the_clear():
    with pytest.raises(BadInput, match="in the clear"):
        Client("http://head.example.org:8080", token="t")
    Client("https://head.example.org:8080", token="t")
    Client("unix:/run/schedmate/api.sock", token="t")
