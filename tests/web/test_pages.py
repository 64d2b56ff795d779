"""The pages, asked for as a browser does."""

from __future__ import annotations

import time

import pytest

from schedmate.testing.builders import a_job

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
        ("?user=nobody", {"2"}),
        ("?q=bert", {"2"}),
        ("?q=nothing+of+that", set()),
    ],
)
def test_filters_are_in_the_address(queue, query, shown):
    text = queue.get(f"/{query}").text
    assert {number for number in "123" if f'href="/jobs/{number}"' in text} == shown


def test_a_live_update_is_only_the_part_that_changes(queue):
    part = queue.get("/", **{"HX-Request": "true"}).text
    assert "<html" not in part
    assert 'href="/jobs/1"' in part


def test_a_job_page_has_its_story(queue):
    text = queue.get("/jobs/3").text
    assert "Why attempt 1 failed: gpu_oom" in text
    assert "line about gpu_oom" in text


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
