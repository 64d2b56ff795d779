"""What people do through pages: who may, from where, and that it is written down."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from schedmate.client import Client
from schedmate.handler import Case, Handler
from schedmate.model import (
    Action,
    BadInput,
    DecisionReason,
    JobState,
    NotFound,
    NotSignedIn,
    Request,
)
from schedmate.model.account import account_name
from schedmate.testing.builders import a_diagnosis, a_job, a_learned_rule, an_origin
from schedmate.web.server import serving
from schedulers.local_site import wait_for
from service.place import Place
from web.conftest import Served, free_port, post_form

pytestmark = pytest.mark.processes


def post(served, path, *, headers=None, **fields):
    return post_form(served, path, headers=headers, **fields).status


def token(served, path):
    return re.search(r'name="token" value="(\w+)"', served.get(path).text)[1]


@pytest.fixture
def failed(served, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("starting\nbeegfs: target 7 lost, retry limit reached\n")
    served.store.keep_diagnosis("1", 0, a_diagnosis("unknown", confidence=0.2))
    served.show(
        a_job(id="1", state=JobState.FAILED, exit_code=1, workdir=str(tmp_path), logs=(str(log),))
    )
    return served


def test_an_operator_corrects_a_diagnosis_for_all(failed):
    given = token(failed, "/jobs/1")
    sent = {"token": given, "reason": "storage_io", "note": "OST 12", "for_all": "yes"}
    assert post(failed, "/jobs/1/correct", **sent) == 303
    assert failed.store.diagnoses("1")[0].reason == "storage_io"
    assert [past.reason for past in failed.store.past_failures(teacher="operator")] == [
        "storage_io"
    ]
    act = failed.store.acts(about="job 1")[0]
    assert act.action == "correct a diagnosis"
    assert "was unknown, is storage_io" in act.detail
    text = failed.get("/jobs/1").text
    assert "Why attempt 1 failed: storage_io" in text
    assert "correct a diagnosis" in text


def test_a_correction_for_all_states_that_past_failures_stay(failed):
    assert "of any job from now on; past failures of other jobs keep" in failed.get("/jobs/1").text


def test_its_owner_corrects_it_for_this_run_alone(failed):
    failed.taken_for(a_job().user)
    given = token(failed, "/jobs/1")
    sent = {"token": given, "reason": "storage_io", "for_all": "yes"}
    assert post(failed, "/jobs/1/correct", **sent) == 303
    assert failed.store.diagnoses("1")[0].reason == "storage_io"
    assert not failed.store.past_failures(teacher="operator")
    assert not failed.store.learned_rules()


def test_a_correction_is_left_for_the_decision_engine(failed):
    post(failed, "/jobs/1/correct", token=token(failed, "/jobs/1"), reason="storage_io")
    assert [event.kind for event in failed.store.unhandled_events()] == ["JobDiagnosed"]


@pytest.mark.parametrize("reason", ["", "no_such_reason"])
def test_a_reason_that_does_not_exist_is_refused(failed, reason):
    assert post(failed, "/jobs/1/correct", token=token(failed, "/jobs/1"), reason=reason) == 400
    assert failed.store.diagnoses("1")[0].reason == "unknown"
    assert not failed.store.acts()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://evil.example.org"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_of_another_page_does_nothing(failed, headers):
    given = token(failed, "/jobs/1")
    sent = {"token": given, "reason": "storage_io"}
    assert post(failed, "/jobs/1/correct", headers=headers, **sent) == 403
    assert failed.store.diagnoses("1")[0].reason == "unknown"


@pytest.mark.parametrize("given", ["", "0" * 64, "é"])
def test_a_form_without_its_token_does_nothing(failed, given):
    assert post(failed, "/jobs/1/correct", token=given, reason="storage_io") == 403
    assert failed.store.diagnoses("1")[0].reason == "unknown"


def eves_token(served):
    """From the page of a failed job of hers."""
    served.store.keep_diagnosis("9", 0, a_diagnosis("unknown"))
    served.show(a_job(id="9", user="eve", state=JobState.FAILED))
    before = served.site.access.local
    served.taken_for("eve")
    given = token(served, "/jobs/9")
    object.__setattr__(served.site.access, "local", before)
    return given


def test_a_token_is_its_users_alone(failed):
    given = eves_token(failed)
    assert post(failed, "/jobs/1/correct", token=given, reason="storage_io") == 403


def test_an_endless_form_is_refused(failed):
    given = token(failed, "/jobs/1")
    sent = {"token": given, "reason": "storage_io", "note": "x" * 100_000}
    assert post(failed, "/jobs/1/correct", **sent) == 413


@pytest.fixture
def proposed(served):
    served.store.keep_rule(a_learned_rule("r1", enabled=False, origin=an_origin("llm")))
    return served


@pytest.mark.parametrize(("decision", "asked"), [("accept", True), ("refuse", False)])
def test_an_operator_decides_on_a_proposed_rule(proposed, decision, asked):
    given = token(proposed, "/rules")
    assert post(proposed, f"/rules/r1/{decision}", token=given) == 303
    rule = proposed.store.learned_rules()[0]
    assert rule.asked is asked
    assert not rule.proposed
    assert proposed.store.acts(about="rule r1")[0].action == f"{decision} a rule"
    assert "No proposal waits" in proposed.get("/rules").text
    assert post(proposed, f"/rules/r1/{decision}", token=given) == 400


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    place = Place(tmp_path)
    yield place
    place.leave()


@pytest.fixture
def page_of_place(place):
    port = free_port()
    with place.store() as store, serving(place.settings, host="127.0.0.1", port=port) as site:
        yield Served(site, store, port)


def test_what_was_done_to_a_job_is_undone(place, page_of_place):
    served = page_of_place
    blocker = place.submit("sleep 600", request=Request(gpus=2))
    wait_for(lambda: place.job(blocker).state is JobState.RUNNING, "the start of the blocker")
    waiting = place.submit("true")
    place.scheduler.set_nice(waiting, 77)
    action = Action(kind="set_nice", job_id=waiting, attempt=0, why="shorter first", value=77.0)
    served.store.intend(action, at=1.0)
    served.store.settle(action, "done", at=1.0)
    served.show(place.job(blocker), place.job(waiting))
    given = token(served, f"/jobs/{waiting}")
    assert post(served, f"/jobs/{waiting}/revert", token=given) == 303
    assert place.job(waiting).nice == 0
    assert served.store.acts(about=f"job {waiting}")[0].action == "revert"
    assert post(served, f"/jobs/{waiting}/revert", token=given) == 400


@pytest.mark.parametrize("way", ["page", "API"])
def test_a_run_in_vain_is_ended_by_its_owner(place, page_of_place, way):
    served, client = page_of_place, Client(page_of_place.url(""))
    well, lost = place.submit("sleep 600"), place.submit("sleep 600")
    for job_id in (well, lost):
        wait_for(lambda job_id=job_id: place.job(job_id).state is JobState.RUNNING, "the start")
    line = "step 9 <b>loss nan</b>"
    reason = DecisionReason(code="doomed", failure="nan", detail="no number", line=line)
    told = Action(kind="warn", job_id=lost, attempt=0, why="no number", reason=reason)
    served.store.intend(told, at=1.0, state="noted")
    served.show(place.job(well), place.job(lost))
    shown = served.get(f"/jobs/{lost}").text
    assert "it runs on for nothing: no number" in shown
    assert "step 9 &lt;b&gt;loss nan" in shown
    assert client.job(lost).may == ("stop",)
    assert client.job(well).may == ()
    assert "End this run" not in served.get(f"/jobs/{well}").text

    if way == "page":
        given = token(served, f"/jobs/{lost}")
        assert post(served, f"/jobs/{lost}/stop", token="0" * 64) == 403
        foreign = {"Origin": "http://evil.example.org"}
        assert post(served, f"/jobs/{lost}/stop", headers=foreign, token=given) == 403
        before = served.site.access.local
        served.taken_for("eve")
        assert post(served, f"/jobs/{lost}/stop", token=given) in (403, 404)
        object.__setattr__(served.site.access, "local", before)
        assert place.job(lost).state is JobState.RUNNING
        assert post(served, f"/jobs/{well}/stop", token=given) == 400
        assert post(served, f"/jobs/{lost}/stop", token=given) == 303
    else:
        with pytest.raises(BadInput, match="does not run on for nothing"):
            client.stop(well)
        assert client.stop(lost).why == "no number"

    wait_for(lambda: place.job(lost).state is JobState.CANCELLED, "the end of it")
    assert place.job(well).state is JobState.RUNNING
    [act] = served.store.acts(about=f"job {lost}")
    assert (act.action, act.detail) == ("stop a run", "no number")


def test_what_was_undone_is_not_offered_again(place, page_of_place):
    """Neither on the page nor by the API, also where nothing is left to be undone."""
    served = page_of_place
    client = Client(served.url(""))
    blocker = place.submit("sleep 600", request=Request(gpus=2))
    wait_for(lambda: place.job(blocker).state is JobState.RUNNING, "the start of the blocker")
    waiting = place.submit("true")
    place.scheduler.set_nice(waiting, 77)
    for job_id, kind in ((waiting, "set_nice"), (blocker, "requeue")):
        action = Action(kind=kind, job_id=job_id, attempt=0, why="because", value=77.0)
        served.store.intend(action, at=1.0)
        served.store.settle(action, "done", at=1.0)
    served.show(place.job(blocker), place.job(waiting))
    assert client.job(waiting).may == ("revert",)
    shown = served.get(f"/jobs/{waiting}").text
    assert "Undo what was done" in shown
    assert "A run that was queued again still takes place unless the job is cancelled." in shown
    assert client.job(blocker).may == (), "a run that is gone does not come back"

    assert [one.outcome for one in client.revert(waiting, dry_run=True).actions] == ["would_undo"]
    assert place.job(waiting).nice == 77
    assert [one.outcome for one in client.revert(waiting).actions] == ["undone"]

    assert place.job(waiting).nice == 0
    served.show(place.job(blocker), place.job(waiting))
    assert client.job(waiting).may == ()
    assert "Undo what was done" not in served.get(f"/jobs/{waiting}").text
    with pytest.raises(BadInput, match="nothing to undo"):
        client.revert(waiting)
    assert [act.action for act in served.store.acts(about=f"job {waiting}")] == ["revert"]


def test_a_diagnosis_is_corrected_by_the_api(failed):
    client = Client(failed.url(""))
    failed.taken_for(a_job().user)
    assert client.job("1").may == ("correct",)
    with pytest.raises(NotSignedIn, match="only operators"):
        client.correct("1", "storage_io", for_all=True)
    for reason in ("unknown", "no_such_reason"):
        with pytest.raises(BadInput, match="reason"):
            client.correct("1", reason)
    assert not failed.store.acts()

    corrected = client.correct("1", "storage_io", note="OST 12")

    assert (corrected.job_id, corrected.attempt) == ("1", 0)
    assert corrected.diagnosis.reason == failed.store.diagnoses("1")[0].reason == "storage_io"
    act = failed.store.acts(about="job 1")[0]
    assert (act.action, act.detail) == (
        "correct a diagnosis",
        "was unknown, is storage_io OST 12",
    )
    failed.show(a_job(id="2", state=JobState.COMPLETED))
    with pytest.raises(BadInput, match="has not failed"):
        client.correct("2", "storage_io")
    failed.taken_for("op", operator=True)
    assert client.correct("1", "network", for_all=True).diagnosis.reason == "network"
    assert [past.reason for past in failed.store.past_failures(teacher="operator")] == ["network"]


def test_a_correction_for_all_is_withdrawn_with_its_rule(failed):
    given = token(failed, "/jobs/1")
    assert "Withdraw the correction" not in failed.get("/jobs/1").text
    assert post(failed, "/jobs/1/withdraw", token=given) == 400, "there is none"
    post(failed, "/jobs/1/correct", token=given, reason="storage_io", for_all="yes")
    assert failed.store.learned_rules()
    assert "Withdraw the correction" in failed.get("/jobs/1").text
    assert 'of <a href="/jobs/1">job 1</a>' in failed.get("/rules").text

    assert post(failed, "/jobs/1/withdraw", token=given) == 303

    assert failed.store.diagnoses("1")[0].reason == "unknown"
    assert not failed.store.past_failures(teacher="operator")
    assert not failed.store.learned_rules()
    act = failed.store.acts(about="job 1")[0]
    assert (act.action, act.detail) == (
        "withdraw a correction",
        "was storage_io, is unknown again",
    )
    assert [event.kind for event in failed.store.unhandled_events()] == ["JobDiagnosed"] * 2
    text = failed.get("/jobs/1").text
    assert "Why attempt 1 failed: unknown" in text
    assert "Withdraw the correction" not in text
    assert Client(failed.url("")).accuracy().diagnoses.corrected == 0


def test_an_owner_withdraws_by_the_api_what_is_not_for_all(failed):
    client = Client(failed.url(""))
    client.correct("1", "network", for_all=True)
    failed.taken_for(a_job().user)
    with pytest.raises(BadInput, match="an operator can withdraw that"):
        client.withdraw("1")
    client.correct("1", "storage_io")
    assert client.job("1").may == ("correct", "withdraw")

    assert client.withdraw("1").diagnosis.reason == "network", "which holds for all"

    assert [past.reason for past in failed.store.past_failures(teacher="operator")] == ["network"]
    failed.taken_for("op", operator=True)
    assert client.withdraw("1").diagnosis.reason == "unknown"
    assert client.job("1").may == ("correct",)
    with pytest.raises(BadInput, match="is no correction"):
        client.withdraw("1")


@pytest.mark.parametrize("for_all", [True, False])
def test_a_correction_is_withdrawn_where_the_logs_are_gone(failed, tmp_path, for_all):
    client = Client(failed.url(""))
    before = failed.store.diagnoses("1")[0]
    client.correct("1", "storage_io", for_all=for_all)
    (tmp_path / "train.log").unlink()
    assert client.job("1").may == ("correct", "withdraw")

    client.withdraw("1")

    assert failed.store.diagnoses("1")[0] == before
    assert not failed.store.past_failures(teacher="operator")


def test_a_correction_of_a_correction_names_and_gives_back_the_original(failed):
    client = Client(failed.url(""))
    before = failed.store.diagnoses("1")[0]
    for reason in ("storage_io", "network", "gpu_oom"):
        corrected = client.correct("1", reason).diagnosis

    assert corrected.summary == f"corrected by {account_name()} (was unknown: {before.summary})"
    client.withdraw("1")
    assert failed.store.diagnoses("1")[0] == before
    with pytest.raises(BadInput, match="is no correction"):
        client.withdraw("1")


def test_what_was_taught_on_another_job_is_withdrawn_there(failed, tmp_path):
    """Such a diagnosis comes from memory as well, and is no correction of this job."""
    client = Client(failed.url(""))
    client.correct("1", "storage_io", for_all=True)
    later = replace(failed.site.board.views()[0].job, id="34")
    found = Handler(failed.store).diagnose(Case.of_job(later))
    assert (found.reason, found.source) == ("storage_io", "memory")
    failed.store.keep_diagnosis("34", 0, found)
    failed.show(later)

    assert client.job("34").may == ("correct",)
    with pytest.raises(BadInput, match="it was taught on job 1, withdraw it there"):
        client.withdraw("34")
    assert not failed.store.acts(about="job 34")


def test_only_a_withdrawal_that_can_be_done_is_offered(failed):
    client = Client(failed.url(""))
    client.correct("1", "network", for_all=True)
    assert client.job("1").may == ("correct", "withdraw")
    failed.taken_for(a_job().user)
    assert client.job("1").may == ("correct",)
    assert "Withdraw the correction" not in failed.get("/jobs/1").text


@pytest.mark.parametrize(
    ("state", "restarts"), [(JobState.PENDING, 0), (JobState.RUNNING, 1), (JobState.FAILED, 1)]
)
def test_a_correction_of_an_attempt_before_names_the_new_one(failed, state, restarts):
    client = Client(failed.url(""))
    client.correct("1", "network", for_all=True)
    taught = failed.store.past_failures(teacher="operator")[0].id
    job = failed.site.board.views()[0].job
    failed.show(replace(job, state=state, restarts=restarts))

    with pytest.raises(BadInput) as refused:
        client.withdraw("1")

    now = f"attempt 1 of job 1 was corrected, and it was queued again since: attempt {restarts + 1}"
    assert now in str(refused.value)
    assert f"schedmate rules remove {taught}" in str(refused.value)
    assert "withdraw" not in client.job("1").may


@pytest.mark.parametrize("mode", ["observe", "act"])
def test_the_form_states_beforehand_that_the_job_will_be_queued_again(failed, mode):
    failed.site.settings = replace(failed.site.settings, mode=mode)
    assert ("it will be queued again" in failed.get("/jobs/1").text) == (mode == "act")


@pytest.mark.parametrize("accept", [True, False])
def test_a_proposed_rule_is_decided_on_by_the_api(proposed, accept):
    client = Client(proposed.url(""))
    rule = client.decide_on_rule("r1", accept=accept)
    assert (rule.id, rule.proposed, rule.asked) == ("r1", False, accept)
    assert proposed.store.acts(about="rule r1")[0].user == account_name()
    with pytest.raises(BadInput, match="no proposal any more"):
        client.decide_on_rule("r1", accept=accept)
    with pytest.raises(NotFound):
        client.decide_on_rule("r2", accept=accept)


def test_the_page_offers_only_what_can_be_chosen(failed):
    failed.store.keep_diagnosis("1", 0, a_diagnosis("gpu_oom"))
    failed.site.refresh()
    offered = re.findall(r"<option>(\w+)</option>", failed.get("/jobs/1").text)
    assert "not_failed" in offered
    assert not {"unknown", "gpu_oom"} & set(offered)


@pytest.mark.parametrize(("user", "status"), [("", 401), ("eve", 404)])
@pytest.mark.parametrize(
    "path",
    [
        *("/jobs/1/correct", "/jobs/1/withdraw", "/jobs/1/revert", "/jobs/1/stop"),
        *("/rules/r1/accept", "/rules/r1/refuse"),
    ],
)
def test_who_may_not_is_shown_nothing(failed, proposed, path, user, status):
    given = eves_token(failed)
    failed.taken_for(user)
    assert post(failed, path, token=given, reason="storage_io") == status
    assert failed.store.diagnoses("1")[0].reason == "unknown"
    assert failed.store.learned_rules()[0].proposed
    assert not failed.store.acts()
