"""What a user who owns no job here gets from every route; a new route needs a case of its own."""

from __future__ import annotations

import re
import time

import pytest

from schedmate.model import Fingerprint, JobState, Match
from schedmate.model.profile import Mark, RunProfile
from schedmate.service.usecases.tokens import create_token
from schedmate.store import KeptAdvice
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_learned_rule,
    a_past_failure,
    a_past_run,
    a_prediction,
    a_progress,
    an_advice,
    an_origin,
)
from schedmate.web import guard
from schedmate.web.app import create_app

pytestmark = pytest.mark.processes
PRIVATE = "zebra"
"""In every text of the owner's that any answer could show."""
OWNER = a_job().user
"""An account whose files can be read here."""
REASON = "gpu_ecc"
"""What the owner's job died of."""
NOT_THERE, NO_TEXT, OWN = "404", "answered without any text of the owner's", "of the asker alone"
EXPECTED = {
    "GET /": NO_TEXT,
    "GET /accuracy": NO_TEXT,
    "GET /api/v1/accuracy": NO_TEXT,
    "GET /api/v1/advise/{advice_id}": NOT_THERE,
    "GET /api/v1/audit": NOT_THERE,
    "GET /api/v1/cluster": NO_TEXT,
    "GET /api/v1/corrections": NO_TEXT,
    "GET /api/v1/events": OWN,
    "GET /api/v1/failures": NO_TEXT,
    "GET /api/v1/history": NO_TEXT,
    "GET /api/v1/history/{job_id}": NO_TEXT,
    "GET /api/v1/jobs": NO_TEXT,
    "GET /api/v1/jobs/{job_id}": NO_TEXT,
    "GET /api/v1/jobs/{job_id}/acts": NOT_THERE,
    "GET /api/v1/jobs/{job_id}/curves": NOT_THERE,
    "GET /api/v1/jobs/{job_id}/eta": NO_TEXT,
    "GET /api/v1/jobs/{job_id}/file": NOT_THERE,
    "GET /api/v1/jobs/{job_id}/log": NOT_THERE,
    "GET /api/v1/jobs/{job_id}/prediction": NO_TEXT,
    "GET /api/v1/jobs/{job_id}/progress": NO_TEXT,
    "GET /api/v1/jobs/{job_id}/similar": NO_TEXT,
    "GET /api/v1/jobs/{job_id}/why": NO_TEXT,
    "GET /api/v1/me": OWN,
    "GET /api/v1/me/notifications": OWN,
    "GET /api/v1/model": NO_TEXT,
    "GET /api/v1/nodes": NO_TEXT,
    "GET /api/v1/openapi.json": NO_TEXT,
    "GET /api/v1/predictions": NO_TEXT,
    "GET /api/v1/rules": NO_TEXT,
    "GET /api/v1/status": NOT_THERE,
    "GET /api/v1/summary": NO_TEXT,
    "GET /api/v1/tokens": OWN,
    "GET /audit": NOT_THERE,
    "GET /cluster": NO_TEXT,
    "GET /failures": NO_TEXT,
    "GET /healthz": NO_TEXT,
    "GET /jobs/{job_id}": NO_TEXT,
    "GET /jobs/{job_id}/file": NOT_THERE,
    "GET /jobs/{job_id}/log": NOT_THERE,
    "GET /jobs/{job_id}/log/lines": NOT_THERE,
    "GET /jobs/{job_id}/log/next-error": NOT_THERE,
    "GET /jobs/{job_id}/log/raw": NOT_THERE,
    "GET /me": OWN,
    "GET /metrics": NO_TEXT,
    "GET /model": NO_TEXT,
    "GET /nodes": NO_TEXT,
    "GET /readyz": NO_TEXT,
    "GET /rules": NO_TEXT,
    "GET /static": NO_TEXT,
    "DELETE /api/v1/me/notifications": OWN,
    "DELETE /api/v1/tokens/{token_id}": NOT_THERE,
    "POST /api/v1/advise": OWN,
    "POST /api/v1/jobs/{job_id}/correct": NOT_THERE,
    "POST /api/v1/jobs/{job_id}/revert": NOT_THERE,
    "POST /api/v1/jobs/{job_id}/stop": NOT_THERE,
    "POST /api/v1/jobs/{job_id}/withdraw": NOT_THERE,
    "POST /api/v1/me/notifications/test": OWN,
    "POST /api/v1/pause": NOT_THERE,
    "POST /api/v1/resume": NOT_THERE,
    "POST /api/v1/rules/{rule_id}/accept": NOT_THERE,
    "POST /api/v1/rules/{rule_id}/refuse": NOT_THERE,
    "POST /api/v1/tokens": OWN,
    "POST /jobs/{job_id}/correct": NOT_THERE,
    "POST /jobs/{job_id}/revert": NOT_THERE,
    "POST /jobs/{job_id}/stop": NOT_THERE,
    "POST /jobs/{job_id}/withdraw": NOT_THERE,
    "POST /me/notifications": OWN,
    "POST /me/tokens": OWN,
    "POST /me/tokens/{token_id}/revoke": NOT_THERE,
    "POST /rules/{rule_id}/{decision}": NOT_THERE,
    "PUT /api/v1/me/notifications": OWN,
}
STREAMS = {"GET /api/v1/events"}
"""They have no end; an event names jobs, as the queue does."""
QUERIES = {
    "GET /jobs/{job_id}/file": f"?name={PRIVATE}.py",
    "GET /api/v1/jobs/{job_id}/file": f"?name={PRIVATE}.py",
    "GET /jobs/{job_id}/log/lines": "?at=0",
}

BODIES = {"POST /api/v1/jobs/{job_id}/correct": b'{"reason": "network"}'}


def every_route(routes):
    """`GET /jobs/{job_id}`, those of included routers and mounted files too."""
    for route in routes:
        if hasattr(route, "original_router"):
            yield from every_route(route.original_router.routes)
        elif getattr(route, "methods", None) is None:
            yield f"GET {route.path}"
        else:
            yield from (f"{method} {route.path}" for method in route.methods if method != "HEAD")


@pytest.fixture
def site(served, tmp_path):
    """All that a user's jobs can leave behind, with the same word in every text of it."""
    (tmp_path / f"{PRIVATE}.py").write_text(f"{PRIVATE} = 1\n")
    log = tmp_path / f"{PRIVATE}.log"
    log.write_text(f"{PRIVATE} error\n" * 3)
    texts = {
        "name": PRIVATE,
        "command": ("python", f"{PRIVATE}.py"),
        "workdir": str(tmp_path),
        "logs": (str(log),),
        "script": f"{PRIVATE}.py",
        "nodes": ("n1",),
        "comment": f"{PRIVATE} password=hunter22",
        "dependency": f"afterok:{PRIVATE}",
        "licenses": PRIVATE,
    }
    times = {"start_time": time.time() - 60, "end_time": time.time() - 30}
    failed = a_job(id="3", user=OWNER, state=JobState.FAILED, **texts, **times)
    store = served.store
    matches = (Match(job_id="9", similarity=0.9, duration_s=60.0),)
    made = a_prediction(matches=matches, explanation=f"like {PRIVATE}")
    store.keep_advice("1", KeptAdvice(an_advice(prediction=made), None))
    store.keep_progress("1", 0, _progress(), at=1.0)
    store.keep_diagnosis("3", 0, a_diagnosis(REASON, summary=PRIVATE, suggestion=PRIVATE))
    store.keep_run(a_past_run(job=a_job(id="9", user=OWNER, state=JobState.COMPLETED, **texts)))
    store.keep_run(a_past_run(job=failed))
    proposed = {"origin": an_origin("llm", owner=OWNER, about=PRIVATE), "positives": (PRIVATE,)}
    store.keep_rule(a_learned_rule("r1", enabled=False, pattern=PRIVATE, reason=REASON, **proposed))
    taught = an_origin("operator", owner=OWNER, about=PRIVATE)
    store.remember_failure(a_past_failure("c1", PRIVATE, reason=REASON, origin=taught))
    token, _ = create_token(store, OWNER, name=PRIVATE, days=1)
    waiting = a_job(id="1", user=OWNER, reason=PRIVATE, **texts)
    served.show(waiting, failed)
    served.ids = {"token_id": token.id, "rule_id": "r1", "job_id": "3", "decision": "accept"}
    served.store.keep_diagnosis("1", 0, a_diagnosis(REASON))
    served.site.refresh()
    served.site.looked(4e9)
    return served


def _progress():
    """Of a log that names what it counts."""
    return a_progress(log=f"{PRIVATE}.log", links=(PRIVATE,), counted=PRIVATE, note=PRIVATE)


def test_every_route_has_its_case(served):
    assert set(every_route(create_app(served.site).routes)) == set(EXPECTED)


def form_headers(site):
    return {
        "Origin": f"http://127.0.0.1:{site.port}",
        "Content-Type": "application/x-www-form-urlencoded",
    }


def asked(site, route, shown="", **headers):
    method, _, path = route.partition(" ")
    values = {"advice_id": "none", **site.ids}
    filled = re.sub(r"{(\w+)}", lambda found: values[found[1]], path) + QUERIES.get(route, "")
    body = None
    if method in ("POST", "PUT"):
        page = not path.startswith("/api/")
        body = f"token={shown}&reason=network".encode() if page else BODIES.get(route, b"{}")
        headers |= form_headers(site) if page else {}
    return site.ask(method, filled, body, **headers)


def test_another_user_gets_nothing_of_it(site):
    site.taken_for("eve")
    shown = re.search(r'name="token" value="(\w+)"', site.get("/me").text)[1]
    statuses = {NOT_THERE: {404}, NO_TEXT: {200}, OWN: {200, 201, 303, 400, 409, 422}}
    for route, expected in EXPECTED.items():
        if route in STREAMS:
            continue
        answer = asked(site, route, shown)
        assert PRIVATE not in answer.text, route
        if route != "GET /api/v1/openapi.json":
            assert REASON not in answer.text, route
        allowed = {404} if route == "GET /static" else statuses[expected]
        assert answer.status in allowed, (route, answer.status, answer.text)
    assert site.store.learned_rules()[0].proposed
    assert site.store.diagnoses("3")[0].reason == "gpu_ecc"
    assert not any(one.revoked_at for one in site.store.tokens() if one.user == OWNER)


def test_another_user_gets_no_digests_or_curve_of_a_run(site):
    job = a_job(id="9", user=OWNER, state=JobState.COMPLETED)
    marks = Fingerprint(code="c0dec0de", arguments="a4g5a4g5", signature=(987654321,))
    profile = RunProfile(unit="step", curve=(Mark(at=1.0, done=777.0625),))
    site.store.keep_run(a_past_run(job=job, fingerprint=marks, profile=profile))
    secrets = ("c0dec0de", "a4g5a4g5", "987654321", "777.0625")
    for path in ("/api/v1/history/9", "/api/v1/history"):
        site.taken_for("eve")
        shown = site.get(path).text
        assert not [one for one in secrets if one in shown], path
        site.taken_for(OWNER)
        shown = site.get(path).text
        assert all(one in shown for one in secrets), path


def test_its_owner_gets_it(site):
    """Else the cases above could not fail."""
    site.taken_for(OWNER)
    for path in (
        *("/jobs/3", "/jobs/3/log", f"/jobs/3/file?name={PRIVATE}.py&line=1", "/jobs/3/log/raw"),
        *("/jobs/3/log/lines?at=0", "/api/v1/jobs/3", "/api/v1/jobs/3/log", "/api/v1/history"),
        *("/api/v1/jobs/1/similar", "/api/v1/rules", "/api/v1/tokens", "/", "/cluster", "/rules"),
        *("/api/v1/jobs/1/why", "/api/v1/cluster", "/me", "/api/v1/jobs/3/why"),
    ):
        answer = site.get(path)
        assert answer.status == 200, path
        assert PRIVATE in answer.text, path
    for path in ("/failures", "/api/v1/failures", "/api/v1/summary", "/nodes", "/api/v1/rules"):
        assert REASON in site.get(path).text, path
    site.taken_for("root", operator=True)
    assert REASON in site.get("/metrics").text


def test_a_secret_in_a_comment_is_masked_for_its_owner_and_operators(site):
    for user, operator in ((OWNER, False), (OWNER, True), ("root", True)):
        site.taken_for(user, operator=operator)
        for path in ("jobs", "jobs/1", "jobs/3", "history", "history/9"):
            answer = site.get(f"/api/v1/{path}").text
            assert f"{PRIVATE} password=[redacted]" in answer, (path, user, operator)
            assert "hunter22" not in answer, (path, user, operator)


@pytest.fixture(autouse=True)
def patient_gate(monkeypatch):
    """So many attempts in a test are no attack."""
    monkeypatch.setattr(guard, "_FAILURES_A_SECOND", 100.0)


def test_who_is_not_recognised_gets_nothing(site):
    for route in EXPECTED:
        answer = asked(site, route, Authorization="Bearer smt_wrong")
        assert PRIVATE not in answer.text, route
        path = route.partition(" ")[2]
        if not guard.is_open(f"{path}/" if path == "/static" else path):
            assert answer.status == 401, (route, answer.status)
