"""Names, reasons, log lines and files of a job are hostile HTML: no page runs any of it."""

from __future__ import annotations

import time
from html.parser import HTMLParser

import pytest

from schedmate.model import Action, EarlyWarning, Evidence, JobState, Match, Request
from schedmate.service.usecases.audit import record_act
from schedmate.service.usecases.tokens import create_token
from schedmate.store import KeptAdvice
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_learned_rule,
    a_past_run,
    a_prediction,
    a_progress,
    an_advice,
    an_origin,
)

pytestmark = pytest.mark.processes
ODD = "\"><img src=x onerror=alert(1)></script><script>alert(1)</script>' onload='a"


class Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def dangers(text):
    """What a browser would run, or ask another server for."""
    page = Elements()
    page.feed(text)
    for tag, attrs in page.found:
        if tag == "script" and not (attrs.get("src") or "").startswith("/static/"):
            yield tag
        yield from (name for name in attrs if name.startswith("on"))
        for name in ("src", "href", "action"):
            address = attrs.get(name) or "/"
            if not address.startswith(("/", "#", "?")):
                yield address


@pytest.fixture
def site(served, tmp_path):
    now, store = time.time(), served.store
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {n}/90 loss: {9 / (n + 1):.3f} {ODD}\n" for n in range(50)))
    texts = {
        "name": ODD,
        "user": ODD,
        "command": ("python", ODD),
        "workdir": str(tmp_path),
        "logs": (str(log),),
        "request": Request(gpus=1, partition=ODD),
        "reason": ODD,
        "comment": ODD,
        "nodes": (ODD,),
    }
    times = {"start_time": now - 900, "end_time": now - 60}
    for number in range(6):
        job = a_job(id=f"2{number}", state=JobState.NODE_FAIL, **texts, **times)
        store.keep_diagnosis(job.id, 0, a_diagnosis("node_failure", summary=ODD))
        store.keep_run(a_past_run(job=job))
    failed = a_job(id="3", state=JobState.FAILED, **texts, **times)
    evidence = (Evidence("train.log", 2, ODD), Evidence(ODD, 1, ODD))
    store.keep_diagnosis(
        "3", 0, a_diagnosis("gpu_oom", summary=ODD, evidence=evidence, suggestion=ODD)
    )
    matches = (Match(job_id="20", similarity=0.9, duration_s=60.0),)
    made = a_prediction(matches=matches, explanation=ODD)
    for job_id in ("1", "2", "3"):
        store.keep_advice(job_id, KeptAdvice(an_advice(prediction=made), None))
    shown = a_progress(
        note=ODD,
        links=("javascript:alert(1)", ODD),
        metrics={ODD: 0.5},
        warnings=(EarlyWarning(reason="hang", text=ODD),),
    )
    store.keep_progress("1", 0, shown, at=now)
    action = Action(kind="set_nice", job_id="3", attempt=0, why=ODD, value=7.0)
    store.intend(action, at=1.0)
    store.settle(action, "failed", at=1.0, note=ODD)
    store.keep_rule(
        a_learned_rule("r1", enabled=False, positives=(ODD,), origin=an_origin("llm", about=ODD))
    )
    record_act(store, ODD, f"job {ODD}", ODD, user=ODD)
    create_token(store, "root", name=ODD[:90], days=1)
    running = {**texts, "start_time": now - 60}
    served.show(a_job(id="1", state=JobState.RUNNING, **running), a_job(id="2", **texts), failed)
    return served


PAGES = (
    *("/", "/?q=%22%3E%3Cscript%3E", "/jobs/1", "/jobs/2", "/jobs/3", "/cluster", "/nodes"),
    *("/cluster?by=partition", "/nodes?q=%3Cscript%3E", "/failures", "/accuracy", "/model"),
    *("/rules", "/me", "/audit", "/audit?user=%3Cscript%3E", "/jobs/%3Cscript%3E", "/nothing"),
)


def test_no_page_runs_what_a_job_wrote(site):
    site.taken_for("root", operator=True)
    for path in PAGES:
        answer = site.get(path, Accept="text/html")
        assert answer.headers["content-type"].startswith("text/html"), path
        assert list(dangers(answer.text)) == [], path
        assert "alert(1)" in answer.text or "%3C" in path or path in QUIET, path


QUIET = {"/accuracy", "/model", "/nothing", "/failures"}
"""Pages that show no text of jobs."""


def test_a_log_is_text(site):
    site.taken_for("root", operator=True)
    shown = a_job(id="5", workdir=site.store.listed("3").workdir, logs=site.store.listed("3").logs)
    site.show(shown)
    for path in ("/jobs/5/log", "/jobs/5/log?q=img", "/jobs/5/log?show=start", "/jobs/5"):
        answer = site.get(path, Accept="text/html")
        assert (answer.status, list(dangers(answer.text))) == (200, []), path
        assert "alert(1)" in answer.text or path == "/jobs/5"
    raw = site.get("/jobs/5/log/raw")
    assert raw.headers["content-type"] == "text/plain; charset=utf-8"
    assert raw.headers["x-content-type-options"] == "nosniff"
    assert "attachment" in raw.headers["content-disposition"]


def test_dangers_are_seen():
    """Else the tests above could not fail."""
    assert {"onerror", "script", "x"} <= set(dangers(f"<p>{ODD}</p>"))
    assert list(dangers("<a href='javascript:alert(1)'>x</a>")) == ["javascript:alert(1)"]
    assert list(dangers("<a href='/jobs/1'>x</a><script src='/static/a.js'></script>")) == []


LONG = "n" * 100_000
TURNED = "\u202egpj.exe\u2066 and\u200b more\u2069"


def test_a_name_of_any_length_leaves_room_for_others(served):
    served.taken_for("root", operator=True)
    texts = {"name": LONG, "user": "ada"}
    past = a_job(id="7", state=JobState.COMPLETED, start_time=1.0, end_time=2.0, **texts)
    served.store.keep_run(a_past_run(job=past))
    made = a_prediction(matches=(Match(job_id="7", similarity=0.9, duration_s=60.0),))
    served.store.keep_advice("1", KeptAdvice(an_advice(prediction=made), None))
    served.show(a_job(id="1", **texts), a_job(id="2", name=LONG, user="root"))
    pages = ("/", "/cluster", "/jobs/1", "/jobs/2", "/jobs/7")
    lists = ("/jobs", "/jobs/1", "/jobs/1/similar", "/cluster", "/history", "/history/7")
    for path in (*pages, *(f"/api/v1{one}" for one in lists)):
        answer = served.get(path)
        assert answer.status == 200, path
        assert "n" * 199 + "…" in answer.text, path
        assert "n" * 200 not in answer.text, path


def test_a_name_of_usual_length_is_whole(served):
    served.taken_for("root", operator=True)
    served.show(a_job(id="1", name="n" * 200))
    assert served.get("/api/v1/jobs/1").json["job"]["name"] == "n" * 200


def test_nothing_turns_the_reading_direction_of_a_page_or_hides(served, tmp_path):
    served.taken_for("root", operator=True)
    log = tmp_path / "train.log"
    log.write_text(f"step 1/9 {TURNED}\n")
    texts = {"name": TURNED, "workdir": str(tmp_path), "logs": (str(log),)}
    served.store.keep_diagnosis("1", 0, a_diagnosis("gpu_oom", summary=TURNED))
    served.show(a_job(id="1", state=JobState.FAILED, **texts), a_job(id="2", **texts))
    for path in ("/", "/cluster", "/jobs/1", "/jobs/1/log", "/jobs/1/log?q=exe"):
        text = served.get(path, Accept="text/html").text
        assert "\\u202egpj.exe\\u2066 and\\u200b more\\u2069" in text, path
        assert not set(text) & set(
            "\u200b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        ), path
