"""Pages about the whole site."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from schedmate.model import JobState, LlmCall, Request
from schedmate.store import KeptAdvice
from schedmate.testing.builders import a_diagnosis, a_job, a_past_run, an_advice

pytestmark = pytest.mark.processes


@pytest.fixture
def history(served):
    """Six runs of one code, two of which failed, a job that runs and one that waits for it."""
    now = time.time()
    for number in range(6):
        job_id, failed = str(number), number < 2
        served.store.keep_advice(job_id, KeptAdvice(an_advice(60.0), None))
        job = a_job(
            id=job_id,
            state=JobState.FAILED if failed else JobState.COMPLETED,
            request=Request(gpus=2, partition="gpu"),
            nodes=("gpu1",),
            submit_time=now - 4000,
            start_time=now - 3600 + 10 * number,
            end_time=now - 3520 + 10 * number,
        )
        served.store.keep_run(a_past_run(job=job))
        if failed:
            served.store.keep_diagnosis(job_id, 0, a_diagnosis("gpu_oom"))
    served.store.keep_advice("7", KeptAdvice(an_advice(60.0), None))
    served.show(
        a_job(
            id="7",
            state=JobState.RUNNING,
            start_time=now - 10,
            request=Request(gpus=12, partition="gpu"),
        ),
        a_job(id="8", name="waits", submit_time=now - 60, request=Request(gpus=4, partition="gpu")),
    )
    return served


def test_the_cluster_shows_use_over_time_and_who_waits(history):
    text = history.get("/cluster?by=partition").text
    assert "GPUs in use" in text
    assert re.search(r'<path class="area c0" d="M[0-9. L-]+Z"', text)
    assert 'href="/?partition=gpu"' in text
    waiting = text[text.index("Who waits for what") :]
    assert "waits" in waiting
    assert re.search(r'data-label="Could start in">\d\d s</td>', waiting), (
        "a start in about 50 seconds"
    )


def test_failures_by_reason(history):
    text = history.get("/failures").text
    assert "gpu_oom" in text
    assert "33 %" in text
    assert "No run has ended" not in text


def test_a_reason_leads_to_the_jobs_that_had_it(history):
    """Past ones too, which the scheduler no longer lists."""
    assert '<a href="/?reason=gpu_oom">gpu_oom</a>' in history.get("/failures").text
    text = history.get("/?reason=gpu_oom").text
    assert {number for number in "01234578" if f'href="/jobs/{number}"' in text} == {"0", "1"}
    listed = history.get("/api/v1/jobs?reason=gpu_oom").json
    assert {one["job"]["id"] for one in listed["jobs"]} == {"0", "1"}
    past = history.get("/api/v1/history?reason=gpu_oom&limit=1").json
    assert [run["job"]["id"] for run in past["runs"]] == ["1"]
    past = history.get(f"/api/v1/history{past['next']}").json
    assert [run["job"]["id"] for run in past["runs"]] == ["0"]
    assert past["next"] is None


def test_no_one_finds_jobs_of_others_by_their_reasons(history):
    owner = history.store.run("0").job.user
    history.taken_for("stranger")
    for query in ("reason=gpu_oom", f"reason=gpu_oom&user={owner}"):
        assert history.get(f"/api/v1/history?{query}").json["runs"] == []
        assert history.get(f"/api/v1/jobs?{query}").json["jobs"] == []


def test_how_good_predictions_were(history):
    """60 s were predicted with a spread from 30 to 120, and it took 80 s; of three other runs
    nothing was predicted, and one that was cancelled shows nothing."""
    first = history.store.run("0").job
    for number in range(20, 24):
        cancelled = number == 23
        state = JobState.CANCELLED if cancelled else JobState.COMPLETED
        if cancelled:
            history.store.keep_advice(str(number), KeptAdvice(an_advice(60.0), None))
        history.store.keep_run(a_past_run(job=replace(first, id=str(number), state=state)))
    text = history.get("/accuracy").text
    counts = "".join(rf"<td[^>]*>{count}</td>" for count in (6, 7, 10))
    assert re.search(rf"same code</th>{counts}<td[^>]*>25 %</td><td[^>]*>100 %", text)
    queue = history.get("/").text
    words = "off by 25 % (median of 6 runs; 7 of 10 that ended had a prediction)"
    assert f"predicted run times were {words}" in queue
    [every, *_] = history.get("/api/v1/accuracy").json["predictions"]
    assert (every["cases"], every["predicted"], every["ended"]) == (6, 7, 10)


def test_what_the_model_was_asked_and_what_it_cost(served):
    assert "was not asked anything" in served.get("/model").text
    call = LlmCall(
        at=time.time(), purpose="diagnose", model="m1", outcome="ok", calls=1, prompt_tokens=1200
    )
    served.store.record_call(call)
    text = served.get("/model").text
    assert "diagnose" in text
    assert "1,200" in text


def test_nodes_and_why_one_is_suspect(history):
    assert "gpu1" in history.get("/nodes").text
    assert "No node has" in history.get("/nodes?q=none-of-that").text


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/cluster", "Nothing ran"),
        ("/failures", "No run has ended"),
        ("/accuracy", "No run has failed"),
        ("/rules", "Nothing is learnt yet"),
    ],
)
def test_what_is_empty_is_a_sentence(served, path, words):
    assert words in served.get(path).text


@pytest.mark.parametrize("path", ["/cluster?hours=0", "/failures?days=x", "/cluster?by=colour"])
def test_a_wrong_address_is_explained(served, path):
    answer = served.get(path, Accept="text/html")
    assert answer.status == 400
    assert answer.headers["content-type"].startswith("text/html")
    assert "Show the queue" in answer.text
