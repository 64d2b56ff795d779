"""Pages of a list, also those behind its end."""

from __future__ import annotations

import re

import pytest

from schedmate.service.usecases.audit import record_act
from schedmate.testing.builders import a_job

pytestmark = pytest.mark.processes
BEHIND = "This page is behind the end"


@pytest.fixture
def queue(served):
    served.show(*(a_job(id=str(number)) for number in range(1, 8)))
    return served


@pytest.mark.parametrize("query", ["?limit=3&offset=5000", "?limit=3&offset=7&state=PENDING"])
def test_behind_the_end_of_the_queue(queue, query):
    text = queue.get(f"/{query}").text
    assert BEHIND in text
    assert "The queue is empty" not in text
    assert "No job fits" not in text
    link = re.search(r'href="([^"]*)">Show the last page', text)[1].replace("&amp;", "&")
    shown = queue.get(link if link.startswith("/") else f"/{link}").text
    assert "7 to 7 of 7" in shown


def test_an_empty_queue_is_empty_on_every_page(served):
    for path in ("/", "/?offset=5000"):
        text = served.get(path).text
        assert "The queue is empty" in text
        assert BEHIND not in text
    assert BEHIND not in served.get("/audit?offset=5000").text


def test_behind_the_end_of_the_audit_trail(served):
    for number in range(7):
        record_act(served.store, "release", f"job {number}", user="ada")
    text = served.get("/audit?limit=3&offset=5000&user=ada").text
    assert BEHIND in text
    assert "Nothing of this kind" not in text
    link = re.search(r'href="([^"]*)">Show the last page', text)[1].replace("&amp;", "&")
    shown = served.get(link).text
    assert "job 0" in shown
    assert "job 1<" not in shown
