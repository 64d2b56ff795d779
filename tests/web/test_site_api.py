"""What the pages of the whole site show, as data, and by the client."""

from __future__ import annotations

import time

import pytest

from schedmate.client import Client
from schedmate.model import JobState, LlmCall, Request
from schedmate.service.usecases.audit import CORRECTION, record_act
from schedmate.store import KeptAdvice, PersonsAct
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_learned_rule,
    a_past_failure,
    a_past_run,
    a_prediction,
    an_advice,
    an_origin,
)

pytestmark = pytest.mark.processes
HOUR = 3600.0


@pytest.fixture
def site(served):
    """Ten runs of two users that have ended, one that failed, one that runs and three that wait."""
    now, store = time.time(), served.store
    gpus = Request(gpus=4, partition="a100")
    for number in range(10):
        times = {"start_time": now - 3 * HOUR, "end_time": now - HOUR - number}
        user = "ada" if number % 2 else "bob"
        done = {"state": JobState.COMPLETED, "request": gpus, "user": user, **times}
        store.keep_advice(str(number), KeptAdvice(an_advice(prediction=a_prediction(6000.0)), None))
        store.keep_run(a_past_run(job=a_job(id=str(number), nodes=("n1",), **done)))
    lost = {"start_time": now - 2 * HOUR, "end_time": now - HOUR, "nodes": ("n2",)}
    failed = a_job(id="20", user="bob", state=JobState.NODE_FAIL, request=gpus, **lost)
    store.keep_diagnosis("20", 0, a_diagnosis("node_failure"))
    store.keep_run(a_past_run(job=failed))
    running = {"state": JobState.RUNNING, "start_time": now - 60, "nodes": ("n1",)}
    served.show(
        a_job(id="30", user="ada", request=gpus, **running),
        *(a_job(id=str(number), user="bob", request=gpus) for number in (31, 32, 33)),
    )
    return served


@pytest.fixture
def client(site):
    return Client(site.url(""))


def test_the_cluster_over_time(site, client):
    found = client.cluster(hours=4, by="partition")
    assert [one.name for one in found.use.series] == ["a100"]
    assert max(found.use.series[0].values) > 30
    assert len(found.use.series[0].values) == 120
    users = {one.name: one for one in found.users}
    assert (users["ada"].running, users["ada"].gpus_running) == (1, 4)
    assert (users["bob"].pending, users["bob"].gpus_pending) == (3, 12)
    assert users["bob"].gpu_hours > 30
    assert found.total == 3
    assert {one.job_id for one in client.waiting()} == {"31", "32", "33"}
    assert "1 running" in found.waiting[0].why
    pages = site.get("/api/v1/cluster?limit=2").json
    assert len(pages["waiting"]) == 2
    assert len(site.get(f"/api/v1/cluster{pages['next']}").json["waiting"]) == 1


def test_a_waiting_job_has_its_expected_start_in_its_prediction(served):
    served.store.keep_advice("30", KeptAdvice(an_advice(600.0), None))
    gpus, now = Request(gpus=4, partition="a100"), time.time()
    running = {"state": JobState.RUNNING, "start_time": now - 60, "nodes": ("n1",)}
    served.show(a_job(id="30", request=gpus, **running), a_job(id="31", request=gpus))
    shown = served.get("/cluster").text
    found = Client(served.url("")).prediction("31")
    assert found.start_s == pytest.approx(540, abs=200)
    assert "Could start in" in shown


def test_nodes_with_why_one_is_suspect(site, client):
    now = time.time()
    for number in range(4):
        times = {"start_time": now - 90, "end_time": now - 60, "nodes": ("n3",)}
        job = a_job(id=f"4{number}", user=f"u{number}", state=JobState.NODE_FAIL, **times)
        site.store.keep_diagnosis(job.id, 0, a_diagnosis("node_failure"))
        site.store.keep_run(a_past_run(job=job))
    nodes = {one.name: one for one in client.nodes()}
    assert next(iter(nodes)) == "n3"
    assert nodes["n3"].suspect
    assert {one.reason for one in nodes["n3"].evidence} == {"node_failure"}
    assert nodes["n1"].running == 1
    assert [one.name for one in client.nodes(suspect=True)] == ["n3"]
    assert [one.name for one in client.nodes(q="n2")] == ["n2"]
    site.taken_for("u1")
    seen = {one.job_id for one in next(client.nodes(q="n3")).evidence}
    assert seen == {"41"}
    assert next(client.nodes(q="n3")).failures == 4
    assert next(client.nodes(q="n3")).command is None
    assert next(client.nodes(q="n2")).failures == 0, "it would be about bob's job"
    first = site.get("/api/v1/nodes?limit=1").json
    assert (len(first["nodes"]), first["total"] >= 3, first["next"]) == (
        1,
        True,
        "?limit=1&offset=1",
    )


def test_failures_by_reason_over_time(client):
    found = client.failures(days=7)
    assert (found.ended, found.failed) == (11, 1)
    assert [(one.name, sum(one.values)) for one in found.over_time.series] == [("node_failure", 1)]
    [kind] = found.kinds
    assert (kind.reason, kind.count, kind.users) == ("node_failure", 1, 1)
    assert kind.gpu_hours == pytest.approx(4, abs=0.1)


def test_another_user_gets_no_reason_of_a_failure(site, client):
    site.taken_for("ada")
    for path in ("/api/v1/failures", "/failures", "/api/v1/nodes", "/nodes", "/api/v1/summary"):
        assert "node_failure" not in site.get(path).text, path
    found = client.failures(days=7)
    assert (found.ended, found.failed) == (11, 1)
    assert [(one.reason, one.count) for one in found.kinds] == [("of other users", 1)]
    site.taken_for("bob")
    assert [one.reason for one in client.failures(days=7).kinds] == ["node_failure"]


def test_how_good_it_has_been(client):
    found = client.accuracy()
    every = found.predictions[0]
    assert (every.name, every.cases) == ("all", 10)
    assert every.error is not None
    assert found.diagnoses.failures == 1
    assert found.by_week
    assert len(found.etas) == 4


def test_corrected_diagnoses_are_counted_not_lessons(site, client):
    """A lesson from a log is about no run; a correction of one run leaves no lesson."""
    site.store.remember_failure(a_past_failure("c1", origin=an_origin("operator")))
    assert client.accuracy().diagnoses.corrected == 0
    for detail in ("is network", "is storage_io"):
        record_act(site.store, CORRECTION, "job 20", detail, user="bob")
    assert client.accuracy().diagnoses.corrected == 1


def test_what_the_model_cost(site, client):
    asked = {"purpose": "diagnose", "model": "tiny", "outcome": "ok"}
    site.store.record_call(
        LlmCall(at=time.time() - 60, prompt_tokens=70, answer_tokens=30, calls=1, **asked)
    )
    found = client.model_use(days=1)
    assert (found.questions, found.tokens, found.spent.tokens) == (1, 100, 100)
    assert found.models == {"tiny": 1}
    assert [one.purpose for one in found.purposes] == ["diagnose"]


def test_rules_and_corrections(site, client):
    site.store.keep_rule(a_learned_rule("r1", enabled=False, origin=an_origin("llm", owner="ada")))
    site.store.keep_rule(a_learned_rule("r2", origin=an_origin("operator", owner="bob")))
    site.store.remember_failure(
        a_past_failure("c1", "s", origin=an_origin("operator", owner="ada"))
    )
    assert [one.id for one in client.rules()] == ["r1", "r2"]
    assert [one.id for one in client.rules(proposed=True)] == ["r1"]
    assert len(list(client.corrections())) == 1
    site.taken_for("bob")
    [shown] = client.rules()
    assert (shown.id, "shard 3" in shown.positives[0]) == ("r2", True)
    assert list(client.corrections()) == []
    site.taken_for("ada")
    assert [one.signatures for one in client.corrections()] == [("s",)]


def test_own_corrections_are_found_behind_those_of_others(site, client):
    for number in range(7):
        origin = an_origin("operator", owner="bob" if number else "ada", at=float(number))
        site.store.remember_failure(a_past_failure(f"c{number}", origin=origin))
    site.taken_for("ada")
    found = site.get("/api/v1/corrections?limit=2").json
    assert [one["id"] for one in found["corrections"]] == ["c0"]
    assert found["next"] is None


def test_an_owner_gets_the_day_on_which_their_rule_last_answered(site, client):
    """It may have answered about another user's job."""
    origin = an_origin("operator", owner="ada")
    site.store.keep_rule(a_learned_rule("r1", origin=origin, hits=2, last_hit=90_061.0))
    assert [one.last_hit for one in client.rules()] == [90_061.0]
    site.taken_for("ada")
    assert [one.last_hit for one in client.rules()] == [86_400.0]


def test_who_did_what_is_for_operators(site, client):
    for number in range(5):
        act = PersonsAct(at=float(number), user="ada", action="revert", about=f"job {number}")
        site.store.record_act(act)
    assert [one.about for one in client.audit(user="ada", limit=2).acts] == ["job 4", "job 3"]
    first = site.get("/api/v1/audit?limit=3").json
    second = site.get(f"/api/v1/audit{first['next']}").json
    assert (len(second["acts"]), second["next"]) == (2, None)
    assert "job 4" in site.get("/audit").text
    assert [one.about for one in client.acts("30").acts] == []
    site.taken_for("eve")
    assert site.get("/api/v1/audit").status == 404


@pytest.mark.parametrize(
    "path", ["/api/v1/nodes", "/api/v1/accuracy", "/api/v1/rules", "/api/v1/audit"]
)
def test_who_has_it_already_gets_304(site, path):
    tag = site.get(path).headers["etag"]
    assert site.get(path, **{"If-None-Match": tag}).status == 304


def test_an_operator_pauses_and_resumes(site, client):
    page = "changes nothing"
    assert page not in site.get("/").text
    made = client.pause(7200.0).paused
    assert client.status().paused == made
    assert page in site.get("/").text
    assert [one.action for one in client.audit().acts] == ["pause"]
    site.taken_for("eve")
    assert page in site.get("/").text, "every user may know"
    for path in ("/api/v1/pause", "/api/v1/resume"):
        assert site.post(path, {}).status == 404
    site.taken_for("root", operator=True)
    assert site.post("/api/v1/pause", {"for_s": -1.0}).status == 422
    assert client.resume().paused is None
    assert page not in site.get("/").text
