"""What pages cost does not grow with the number of jobs; `bench.web.load` measures how much."""

from __future__ import annotations

import gc
import logging
import socket
import threading
import time
from contextlib import closing
from urllib.request import urlopen

import pytest

from schedmate.config import Settings
from schedmate.model import JobState
from schedmate.model.advice import Match
from schedmate.service.views.job_view import JobView
from schedmate.service.visibility import Viewer
from schedmate.service.wiring import open_store
from schedmate.store import KeptAdvice
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_past_run,
    a_prediction,
    a_progress,
    an_advice,
)
from schedmate.web.connections import send_at_once
from schedmate.web.server import serving
from schedmate.web.site import Site
from schedmate.web.stream import Hub
from schedulers.local_site import wait_for
from web.conftest import free_port

pytestmark = pytest.mark.processes
PATIENCE_S = 60.0
ME = "ada"
PAGES = (
    *("/", "/?q=bert", "/?sort=ends", "/?state=failed", "/cluster", "/failures", "/accuracy"),
    *("/jobs/1", "/api/v1/jobs", "/api/v1/jobs/1", "/api/v1/predictions", "/api/v1/summary"),
    *("/api/v1/status", "/api/v1/history", "/metrics", "/readyz"),
)


def put(served, first, last):
    """Jobs that run, wait and have failed, each with all that can be known of one."""
    states = (JobState.RUNNING, JobState.PENDING, JobState.FAILED)
    match = Match(job_id="past", similarity=0.9, duration_s=60.0)
    advice = KeptAdvice(an_advice(prediction=a_prediction(matches=(match,))), None)
    jobs = [
        a_job(id=str(number), name=f"bert{number}", user=ME, state=states[number % 3])
        for number in range(first, last)
    ]
    for job in jobs:
        served.store.keep_advice(job.id, advice)
        served.store.keep_progress(job.id, 0, a_progress(), at=1.0)
        if job.state.failed:
            served.store.keep_diagnosis(job.id, 0, a_diagnosis())
    served.store.keep_run(a_past_run(job=a_job(id="past", user=ME, state=JobState.COMPLETED)))
    served.store.keep_runs([a_past_run(job=job) for job in jobs if job.state.ended])
    served.show(*jobs)


class Statements:
    """Those that requests execute, by path; the board is refreshed by a thread of its own."""

    def __init__(self, served):
        self._served, self._seen = served, []
        served.site.store._db._connection.set_trace_callback(self._note)

    def _note(self, statement):
        if threading.current_thread().name.startswith("AnyIO"):
            self._seen.append(statement)

    def of(self, path):
        assert self._served.get(path).status == 200  # what is remembered is remembered from here on
        self._seen.clear()
        assert self._served.get(path).status == 200
        return len(self._seen)


@pytest.mark.parametrize("operator", [True, False])
def test_a_page_executes_as_many_statements_for_many_jobs_as_for_few(served, operator):
    served.taken_for(ME, operator=operator)
    served.site.looked(time.time())
    statements = Statements(served)
    put(served, 1, 13)
    paths = [path for path in PAGES if operator or "status" not in path]
    few = {path: statements.of(path) for path in paths}
    put(served, 13, 73)
    many = {path: statements.of(path) for path in paths}
    assert many == few
    assert max(many.values()) > 0


def test_the_long_reads_of_figures_hold_up_no_other_request(served):
    """They do not use the connection that all requests share."""
    seen = []
    served.taken_for(ME, operator=True)
    put(served, 1, 13)
    served.site.store._db._connection.set_trace_callback(seen.append)
    for path in ("/failures", "/accuracy", "/cluster", "/model", "/api/v1/status"):
        assert served.get(path).status == 200
    long_reads = ("run_facts", "ProgressSeen", "FROM llm_calls WHERE at", "count(*) FROM runs")
    assert [one for one in seen if any(words in one for words in long_reads)] == []


def test_the_first_page_shows_what_the_store_knows(tmp_path, monkeypatch):
    monkeypatch.setattr(Site, "keep_fresh", lambda *_: None)
    settings, port = Settings(state_dir=tmp_path), free_port()
    with closing(open_store(settings)) as store:
        store.keep_listed([a_job(id="4711", state=JobState.RUNNING)])
    with serving(settings, host="127.0.0.1", port=port) as site:
        assert [view.job.id for view in site.board.views()] == ["4711"]
        with urlopen(f"http://127.0.0.1:{port}/") as page:
            assert "4711" in page.read().decode()


def test_the_board_reads_many_jobs_in_a_few_statements(served):
    seen = []
    served.site.store._db._connection.set_trace_callback(seen.append)
    put(served, 1, 200)
    assert len(seen) < 40


def test_a_page_shows_so_many_jobs_and_no_more(served):
    served.taken_for(ME, operator=True)
    put(served, 100, 500)
    some = len(served.get("/").text)
    put(served, 500, 800)
    assert len(served.get("/").text) == pytest.approx(some, rel=0.05)
    assert served.get("/?limit=100000").status == 422


@pytest.mark.parametrize("path", ["/", "/api/v1/jobs", "/api/v1/history", "/api/v1/predictions"])
def test_the_longest_page_is_the_one_that_the_api_documents(served, path):
    served.taken_for(ME, operator=True)
    paths = served.get("/api/v1/openapi.json").json["paths"]
    documented = paths["/api/v1/jobs" if path == "/" else path]["get"]["parameters"]
    (most,) = (one["schema"]["maximum"] for one in documented if one["name"] == "limit")
    assert most == (1000 if "predictions" in path else 250)
    assert served.get(f"{path}?limit={most}").status == 200
    assert served.get(f"{path}?limit={most + 1}").status == 422


def test_a_long_queue_offers_longer_pages(served):
    served.taken_for(ME, operator=True)
    put(served, 1, 100)
    assert "a page</a>" not in served.get("/").text
    put(served, 100, 500)
    assert 'href="?limit=250">250 a page</a>' in served.get("/?offset=100").text
    longer = served.get("/?limit=250").text
    assert longer.count('<th scope="row">') == 250
    assert "a page</a>" not in longer
    assert 'rel="next" href="?offset=250&amp;limit=250"' in longer


def opened_stream(port):
    opened = socket.create_connection(("127.0.0.1", port))
    opened.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    opened.recv(1000)
    return opened


def test_a_stream_that_is_not_read_holds_one_bounded_event(served):
    with opened_stream(served.port):
        hub = next(one.__self__ for one in served.site.listeners if isinstance(one.__self__, Hub))
        until = time.monotonic() + PATIENCE_S
        while not hub._waiting:
            assert time.monotonic() < until
            time.sleep(0.01)
        many = [str(number) for number in range(100_000)]
        done = threading.Event()
        hub._loop.call_soon_threadsafe(lambda: ([hub._wake(many) for _ in range(50)], done.set()))
        assert done.wait(PATIENCE_S)
        (queue,) = hub._waiting
        assert queue.qsize() <= 1
        assert queue.empty() or len(queue.get_nowait()) <= 201


def test_open_streams_do_not_hold_up_the_end_of_the_server(tmp_path, caplog):
    port = free_port()
    with serving(Settings(state_dir=tmp_path), host="127.0.0.1", port=port):
        stream = opened_stream(port)
    with stream:
        stream.settimeout(PATIENCE_S)
        while stream.recv(1000):
            pass
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


def test_the_body_of_an_answer_does_not_wait_for_an_acknowledgement():
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()),
    ):
        end, _ = listener.accept()
        with end:
            assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0
            send_at_once(end)
            assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_views_of_jobs_that_are_gone_are_not_kept(served):
    """Hundreds of jobs an hour would fill the memory otherwise."""
    operator = Viewer(user="root", operator=True)
    served.show(*(a_job(id=str(number), user="nobody") for number in range(20)))
    assert len([served.site.shown_to(operator, one) for one in served.site.board.views()]) == 20
    served.store.keep_listed((), gone=[str(number) for number in range(20) if number != 3])
    served.site.refresh()

    def kept() -> set[str]:
        gc.collect()
        return {one.job.id for one in gc.get_objects() if type(one) is JobView}

    wait_for(lambda: kept() == {"3"}, "an answer under way lets go of its rows")
