"""What the gate answers: a page in a browser, a problem for programs, and a line in the audit."""

from __future__ import annotations

import pytest

from schedmate.config import Settings
from schedmate.model.account import account_name
from schedmate.service.usecases import audit
from schedmate.service.usecases.audit import FAILED_SIGN_IN, record_failed_sign_in
from schedmate.site_settings import WebSettings
from schedmate.testing.builders import a_job
from schedmate.web.access import UNIX, network_of
from schedmate.web.guard import MOST_BYTES
from schedmate.web.server import serving
from schedmate.web.sign_ins import FailedSignIns
from web.conftest import Served, free_port, post_form

pytestmark = pytest.mark.processes
PAGE = {"Accept": "text/html,application/xhtml+xml"}
WRONG = {"Authorization": "Bearer smt_wrong"}


@pytest.mark.parametrize(
    ("path", "headers", "status", "words"),
    [
        ("/", WRONG, 401, "Sign in to see this"),
        ("/jobs/77", {}, 404, "There is no such page"),
        ("/", {"Host": "evil.example.org"}, 400, "another name"),
    ],
)
def test_a_browser_gets_a_page_in_the_design(served, path, headers, status, words):
    answer = served.get(path, **PAGE, **headers)
    assert (answer.status, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert words in answer.text
    assert "/static/schedmate.css" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    program = served.get(path, **headers)
    assert program.headers["content-type"] == "application/problem+json"
    assert "content-security-policy" in program.headers


def test_the_api_answers_programs_whatever_they_accept(served):
    for path in ("/api/v1/jobs", "/api/v1/nothing"):
        answer = served.get(path, **PAGE, **WRONG)
        assert answer.headers["content-type"] == "application/problem+json"


def test_who_is_not_recognised_learns_how_to_sign_in(served):
    answer = served.get("/", **PAGE, **WRONG)
    assert "Basic realm=" in answer.headers["www-authenticate"]
    assert "schedmate token create" in answer.text
    assert 'href="/cluster"' not in answer.text
    assert served.get("/static/schedmate.css", **WRONG).status == 200


def test_a_form_of_another_site_and_one_that_is_too_long(served):
    crossed = {"Origin": "https://evil.example.org", **PAGE}
    answer = post_form(served, "/rules/r1/accept", headers=crossed, token="x")
    assert (answer.status, "This is not allowed" in answer.text) == (403, True)
    own = {"Origin": served.url(""), **PAGE}
    answer = post_form(served, "/rules/r1/accept", headers=own, token="x" * MOST_BYTES)
    assert (answer.status, "too much at once" in answer.text) == (413, True)


def test_too_many_requests(tmp_path):
    settings = Settings(state_dir=tmp_path, web=WebSettings(requests_a_second=0.2))
    port = free_port()
    with serving(settings, host="127.0.0.1", port=port) as site:
        served = Served(site, site.store, port)
        answers = [served.get("/", **PAGE) for _ in range(5)]
    refused = next(one for one in answers if one.status == 429)
    assert "Too many requests" in refused.text
    assert refused.headers["retry-after"] == "1"


def test_a_failed_sign_in_is_in_the_audit_trail(served):
    served.show(a_job(id="1"))
    for _ in range(5):
        assert served.get("/api/v1/jobs", **WRONG).status == 401
    [act] = served.store.acts(action=FAILED_SIGN_IN)
    assert (act.user, act.about) == (account_name(), "address 127.0.0.1")
    assert "smt_wrong" not in str(act)
    assert served.get("/api/v1/jobs").status == 200
    shown = served.get(f"/audit?action={FAILED_SIGN_IN.replace(' ', '+')}").text
    assert "127.0.0.1" in shown
    assert "schedmate_failed_sign_ins_total 5.0" in served.get("/metrics").text


def test_strangers_without_a_token_fail_no_sign_in(served):
    served.taken_for("")
    assert served.get("/api/v1/jobs").status == 401
    assert not served.store.acts()


def attempts(*events):
    """What is written down of attempts, each an address and a time."""
    lines = []
    log = FailedSignIns(lambda address, what, _: lines.append((address, what)))
    for address, at in events:
        log.note((address, 1), lambda: "", at)
    return log, lines


def test_attempts_of_one_address_are_counted_together():
    log, lines = attempts(*(("10.0.0.7", 100.0 + number / 100) for number in range(500)))
    assert lines == [("10.0.0.7", "a token that is not valid")]
    log.note(("10.0.0.7", 1), lambda: "", 200.0)
    assert lines[1:] == [("10.0.0.7", "500 invalid tokens")]
    assert log.total == 501


def test_attempts_of_many_addresses_cannot_fill_the_store():
    _, lines = attempts(*((f"10.{n // 250}.{n % 250}.1", 100.0) for n in range(5000)))
    assert len(lines) == 30


def test_one_machine_is_one_address():
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") == "2001:db8::/64"
    assert network_of("::ffff:10.0.0.7") == network_of("10.0.0.7") == "10.0.0.7"
    assert network_of(UNIX) == UNIX


def test_only_the_newest_failed_sign_ins_are_kept(served, monkeypatch):
    monkeypatch.setattr(audit, "MOST_FAILED", 3)
    audit.record_act(served.store, "revert", "job 1", user="ada")
    for number in range(6):
        record_failed_sign_in(served.store, str(number), "x")
    kept = [one.about for one in served.store.acts()]
    assert kept == ["address 5", "address 4", "address 3", "job 1"]
