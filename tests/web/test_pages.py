"""The pages, asked for as a browser does."""

from __future__ import annotations

import gzip
import re
import time
import urllib.request
from dataclasses import replace

import pytest

from schedmate.model import JobState
from schedmate.model.access import Subscription
from schedmate.model.account import account_name
from schedmate.site_settings import MailSettings
from schedmate.testing.builders import a_diagnosis, a_job
from web.conftest import post_form

pytestmark = pytest.mark.processes


def test_the_queue_shows_every_job_and_how_far_it_is(queue):
    page = queue.get("/")
    assert page.status == 200
    assert 'href="/jobs/1"' in page.text
    assert "resnet" in page.text
    assert 'aria-valuenow="50"' in page.text
    assert "it was gpu_oom" in page.text


def test_what_a_job_is_called_is_no_html(queue):
    for path in ("/", "/jobs/3"):
        text = queue.get(path).text
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)" in text


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("?state=RUNNING", {"1"}),
        ("?state=failed", {"3"}),
        ("?state=failing", {"3"}),
        ("?reason=gpu_oom", {"3"}),
        ("?reason=nccl_timeout", set()),
        ("?q=gpu_oom", {"3"}),
        ("?user=nobody", {"2"}),
        ("?q=bert", {"2"}),
        ("?q=nothing+of+that", set()),
    ],
)
def test_filters_are_in_the_address(queue, query, shown):
    text = queue.get(f"/{query}").text
    assert {number for number in "123" if f'href="/jobs/{number}"' in text} == shown


def test_files_are_kept_by_browsers_and_texts_compressed(queue):
    asked = urllib.request.Request(
        queue.url("/static/schedmate.css"), headers={"Accept-Encoding": "gzip"}
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:
        assert answer.headers["cache-control"] == "max-age=3600"
        assert answer.headers["content-encoding"] == "gzip"
        etag, text = answer.headers["etag"], gzip.decompress(answer.read()).decode()
    plain = queue.get("/static/schedmate.css")
    assert plain.text == text
    assert "content-encoding" not in plain.headers
    again = queue.get("/static/schedmate.css", **{"If-None-Match": etag})
    assert (again.status, again.headers["cache-control"]) == (304, "max-age=3600")


def test_the_stream_of_events_is_not_compressed(queue):
    asked = urllib.request.Request(queue.url("/api/v1/events"), headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        assert "content-encoding" not in answer.headers


def test_a_live_update_is_only_the_part_that_changes(queue):
    part = queue.get("/", **{"HX-Request": "true"}).text
    assert "<html" not in part
    assert 'href="/jobs/1"' in part


def test_a_job_page_has_its_story(queue):
    text = queue.get("/jobs/3").text
    assert "Why attempt 1 failed: gpu_oom" in text
    assert "line about gpu_oom" in text


def test_a_diagnosis_is_named_for_what_it_is(served):
    """Neither a false alarm nor a run that goes on has failed."""
    served.store.keep_diagnosis("1", 0, a_diagnosis("not_failed", source="memory"))
    served.store.keep_diagnosis("2", 0, a_diagnosis("hang", source="rule"))
    running = a_job(id="2", state=JobState.RUNNING)
    served.show(a_job(id="1", state=JobState.FAILED), running)
    alarm, hung = served.get("/jobs/1").text, served.get("/jobs/2").text
    assert "Attempt 1 did not fail" in alarm
    assert "sure, by a correction" in alarm
    assert "Attempt 1 was diagnosed while it ran: hang" in hung
    assert "sure, by a rule" in hung
    for text in (alarm, hung):
        assert "Why attempt" not in text
        assert re.search(r"<b>Retry:</b> (not )?recommended", text)


def test_a_message_is_promised_in_words(served):
    mail = MailSettings(host="127.0.0.1", domain="example.org")
    served.site.settings = replace(served.site.settings, mail=mail)
    chosen = Subscription(user=account_name(), channels=("mail",), kinds=("failed", "limit"))
    served.store.subscribe(chosen)
    text = served.get("/me").text
    assert "when a job of yours fails or will miss its limit, by mail" in text


def test_an_act_that_cannot_be_done_is_no_wrong_address(queue):
    given = re.search(r'name="token" value="(\w+)"', queue.get("/jobs/3").text)[1]
    headers = {"Origin": queue.url(""), "Accept": "text/html"}
    wrong = {"token": given, "reason": "no_such_reason"}
    answer = post_form(queue, "/jobs/3/correct", headers=headers, **wrong)
    assert answer.status == 400
    assert "<h1>This request cannot be used</h1>" in answer.text
    assert "is no reason of a failure" in answer.text


def test_an_empty_queue_is_a_sentence(served):
    assert "The queue is empty" in served.get("/").text


def test_long_queues_come_in_pages(served):
    served.show(*(a_job(id=str(number)) for number in range(250)))
    first = served.get("/").text
    assert "1 to 100 of 250" in first
    assert "?offset=100" in first
    last = served.get("/?offset=200").text
    assert "201 to 250 of 250" in last
    assert 'rel="next"' not in last


def test_nothing_is_loaded_from_elsewhere(queue):
    answer = queue.get("/")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "://" not in answer.text.replace("http://www.w3.org", "")
    assert queue.get("/static/htmx.min.js").status == 200


def test_a_scheduler_that_does_not_answer_is_named(queue):
    queue.site.looked(time.time())
    assert "does not answer" not in queue.get("/").text
    queue.site.looked(time.time() - 600)
    assert "The scheduler does not answer" in queue.get("/").text


def test_a_head_request_is_answered(queue):
    answer = queue.get("/", method="HEAD")
    assert (answer.status, answer.text) == (200, "")


def test_a_state_that_does_not_exist_is_an_error_with_a_way_on(queue):
    page = queue.get("/?state=foo", Accept="text/html,*/*")
    assert page.status == 400
    assert page.headers["content-type"].startswith("text/html")
    assert "state: no state is called &#39;foo&#39;; the states are PENDING" in page.text


def test_an_error_is_a_page_for_browsers_and_data_for_programs(queue):
    assert "<h1>There is no such page</h1>" in queue.get("/nowhere", Accept="text/html").text
    assert queue.get("/nowhere").headers["content-type"] == "application/problem+json"
    assert queue.get("/jobs/77", Accept="text/html").status == 404
    api = queue.get("/api/v1/jobs/77", Accept="text/html")
    assert api.headers["content-type"] == "application/problem+json"


def test_an_error_of_ours_is_a_page_without_its_details(queue, monkeypatch):
    monkeypatch.setattr(queue.site.board, "views", lambda: 1 / 0)
    page = queue.get("/", Accept="text/html")
    assert page.status == 500
    assert "ZeroDivision" not in page.text
    assert "log has the reason" in page.text


def test_a_first_view_is_small(served):
    served.show(*(a_job(id=str(number), name="a long name of a job " * 4) for number in range(300)))
    assert len(served.get("/").text.encode()) < 100_000


def test_a_first_views_files_are_small(queue):
    names = re.findall(r'(?:src|href)="(/static/[^"]+)"', queue.get("/").text)
    assert sum(len(queue.get(name).text.encode()) for name in set(names)) < 120_000
