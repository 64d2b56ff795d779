"""What a stranger sees of each record: the fields that are listed, and no other one."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from typing import Any

import pytest

from schedmate.config import Settings
from schedmate.handler.suspects import Against, Suspicion
from schedmate.model import (
    Advice,
    Checkpoint,
    EarlyWarning,
    Evidence,
    Finding,
    Fingerprint,
    Job,
    Match,
    NotSignedIn,
    PastRun,
    Prediction,
    Progress,
    Request,
    Workload,
)
from schedmate.model.profile import RunProfile
from schedmate.model.wire import to_json
from schedmate.service import visibility
from schedmate.service.views.board import seen_by
from schedmate.service.views.job_view import JobView
from schedmate.service.visibility import HIDDEN as OF_ANOTHER
from schedmate.service.visibility import Viewer, operators_only, owners_in, viewer_of
from schedmate.store.sqlite import SqliteStore
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

EVE = Viewer(user="eve", operator=False)
PRIVATE = "zebra"
SHOWN = {
    Job: "id user state request nodes cluster submit_time first_submit start_time end_time "
    "eligible_time restarts nice most_nice nice_an_hour soft_limit priority held tasks components",
    Request: "gpus no_gpus gpu_type nodes cpus memory_mb time_limit_s time_min_s partition "
    "exclude_nodes required_nodes features reservation account qos",
    Progress: "schema phase unit current total fraction fraction_of epoch ends_by rate_per_s "
    "elapsed_s eta_s slowdown silence confidence cost",
    Prediction: "basis duration_s outcome gpu_memory_mb gpu_utilization",
    Advice: "schema prediction cost",
    PastRun: "job steps_done steps_unit startup_s gpu_memory_mb gpu_utilization",
}
"""What docs/reference/files.md states, by the field."""
JOB = a_job(user="ada")
VALUES: dict[str, Any] = {
    "command": (PRIVATE,),
    "logs": (PRIVATE,),
    "earlier_logs": (PRIVATE,),
    "exit_code": 77,
    "signal": 77,
    "metrics": {PRIVATE: 1.0},
    "checkpoint": Checkpoint(path=PRIVATE),
    "warnings": (EarlyWarning(reason="disk_full", text=PRIVATE),),
    "links": (PRIVATE,),
    "matches": (Match(job_id=PRIVATE, similarity=1.0, duration_s=1.0),),
    "advice": (PRIVATE,),
    "fingerprint": Fingerprint(code=PRIVATE, arguments=""),
    "profile": RunProfile(unit="step", curve=()),
    "checkpoint_step": 77,
    "workload": Workload(batch_size=Finding(value=64, source="cli")),
}
"""Of hidden fields that are no texts."""


def seen(kind, **private):
    """The record of this kind with these fields, as a stranger sees it."""
    if kind is Job:
        return EVE.job(replace(JOB, **private))
    if kind is Request:
        return EVE.job(replace(JOB, request=replace(JOB.request, **private))).request
    if kind is Progress:
        return EVE.progress(replace(a_progress(), **private), "ada")
    if kind is PastRun:
        return EVE.run(a_past_run(job=JOB, **private))
    made = replace(a_prediction(), **private) if kind is Prediction else a_prediction()
    advice = an_advice(prediction=made, **(private if kind is Advice else {}))
    found = EVE.advice(advice, "ada", lambda _: "ada")
    return found if kind is Advice else found.prediction


HIDDEN = [
    (kind, one.name)
    for kind, names in SHOWN.items()
    for one in fields(kind)
    if one.name not in names.split()
]


@pytest.mark.parametrize(("kind", "name"), HIDDEN)
def test_a_field_that_is_not_listed_is_hidden(kind, name):
    value = VALUES.get(name, PRIVATE)
    found = getattr(seen(kind, **{name: value}), name)
    assert found != value
    assert found in ("", None, False, (), {}, "none", Workload())


@pytest.mark.parametrize("kind", SHOWN)
def test_the_listed_ones_are_there(kind):
    assert set(SHOWN[kind].split()) <= {one.name for one in fields(kind)}
    job = replace(JOB, held=True, restarts=3, nodes=("n1",), request=Request(gpus=4, qos="long"))
    assert (EVE.job(job).held, EVE.job(job).restarts, EVE.job(job).nodes) == (True, 3, ("n1",))
    assert EVE.job(job).request == job.request


def test_of_a_view_only_what_is_listed():
    progress = a_progress(counted=PRIVATE, note=f"/home/ada/{PRIVATE}.out cannot be read")
    view = JobView(
        job=replace(JOB, comment=PRIVATE, dependency=f"afterok:{PRIVATE}"),
        progress=progress,
        diagnoses={0: a_diagnosis(summary=PRIVATE)},
    )
    assert PRIVATE not in str(to_json(seen_by(EVE, view, lambda _: "ada")))


@pytest.mark.parametrize(
    "viewer", [Viewer(user="ada", operator=False), Viewer(user="root", operator=True)]
)
def test_a_secret_in_a_comment_is_masked_for_who_may_read_it(viewer):
    job = replace(JOB, comment="for ada password=hunter22")
    assert viewer.job(job).comment == "for ada password=[redacted]"
    assert viewer.run(a_past_run(job=job)).job.comment == "for ada password=[redacted]"


ADA = Viewer(user="ada", operator=False)
ROOT = Viewer(user="root", operator=True)
NOBODY = Viewer(user="", operator=False)
SECRET = f"password={PRIVATE}22"


@pytest.mark.parametrize(
    ("viewer", "owner", "may"),
    [
        (ADA, "ada", True),
        (ADA, "eve", False),
        (ADA, "", False),
        (NOBODY, "", False),
        (ROOT, "", True),
    ],
)
def test_only_the_owner_and_operators_read_and_an_unknown_owner_is_neither(viewer, owner, may):
    assert viewer.may_read(owner) is may


def test_the_owner_sees_all_of_a_record():
    run = a_past_run(job=JOB, **{key: VALUES[key] for key in ("fingerprint", "workload")})
    advice = an_advice(prediction=replace(a_prediction(), matches=VALUES["matches"]))
    progress = a_progress(links=(PRIVATE,), log="a.log")
    assert ADA.run(run) == ADA.run_to_predict_by(run) == run
    assert ADA.advice(advice, "ada", lambda _: "ada") == advice
    assert ADA.progress(progress, "ada") == progress


def test_texts_of_a_stranger_are_empty_not_missing():
    job, advice = EVE.job(JOB), EVE.advice(an_advice(), "ada", lambda _: "ada")
    assert (job.name, job.workdir) == ("", "")
    assert (advice.prediction.explanation, advice.workload) == ("", Workload())
    assert EVE.progress(a_progress(), "ada").log == ""


def test_of_own_advice_the_matches_of_others_are_left_out():
    matches = tuple(Match(job_id=one, similarity=1.0, duration_s=1.0) for one in ("1", "2", "3"))
    advice = an_advice(prediction=replace(a_prediction(), matches=matches))
    owners = {"1": "ada", "2": "eve", "3": ""}
    shown = ADA.advice(advice, "ada", owners.__getitem__)
    assert [match.job_id for match in shown.prediction.matches] == ["1"]
    assert shown.prediction.duration_s == advice.prediction.duration_s
    assert ROOT.advice(advice, "ada", owners.__getitem__) == advice


def test_a_stranger_s_run_predicts_by_numbers_without_their_lines():
    line = Evidence(file=PRIVATE, line=1, text=PRIVATE)
    workload = Workload(
        batch_size=Finding(value=64, source="cli", evidence=(line,)),
        model=Finding(value=PRIVATE, source="cli", evidence=(line,)),
    )
    run = a_past_run(job=JOB, workload=workload, fingerprint=VALUES["fingerprint"])
    shown = EVE.run_to_predict_by(run)
    assert shown.workload == Workload(batch_size=Finding(value=64, source="cli"))
    assert shown.fingerprint == run.fingerprint
    assert shown.job == EVE.job(JOB) != JOB
    assert EVE.run(run).fingerprint is None


def a_suspicion(*users: str) -> Suspicion:
    evidence = tuple(
        Against(job_id=user, user=user, reason="gpu_ecc", at=7.0, shared=1, weight=1.0)
        for user in users
    )
    return Suspicion(node="n1", probability=0.58, failures=9, users=len(users), evidence=evidence)


def test_a_suspicion_shows_own_failures_and_counts_only_those_of_many_users():
    few, many = a_suspicion("ada", "eve"), a_suspicion("ada", "eve", "bob")
    assert ROOT.suspicion(few) == few
    seen_few, seen_many = ADA.suspicion(few), ADA.suspicion(many)
    assert [one.user for one in seen_few.evidence] == ["ada"]
    assert (seen_few.failures, seen_few.users, seen_few.probability) == (1, 1, 0.5)
    assert (seen_many.failures, seen_many.users) == (9, 3)
    nothing = Viewer(user="zoe", operator=False).suspicion(few)
    assert (nothing.failures, nothing.users, nothing.evidence) == (0, 0, ())


DAY = 86_400.0
RULE = a_learned_rule(
    words=(PRIVATE,),
    positives=(PRIVATE,),
    origin=an_origin(by=PRIVATE, about=PRIVATE, note=PRIVATE, owner="ada", at=99.0),
    refused=f"matches a healthy log: {PRIVATE}",
    hits=5,
    last_hit=2 * DAY + 5,
)


def test_a_stranger_sees_of_a_rule_that_it_is_there():
    shown = EVE.rule(RULE)
    assert shown.id == RULE.id
    assert (shown.reason, shown.pattern, shown.positives) == (OF_ANOTHER, OF_ANOTHER, (OF_ANOTHER,))
    assert (shown.words, shown.hits, shown.last_hit) == ((), 0, None)
    origin = shown.origin
    assert (origin.by, origin.about, origin.note, origin.owner, origin.at) == ("", "", "", "", 0.0)
    assert shown.refused == "matches a healthy log"
    assert EVE.rules([RULE]) == []


def test_the_owner_of_a_rule_sees_it_without_other_logs_and_to_the_day():
    assert ADA.rule(RULE) == replace(RULE, refused="matches a healthy log", last_hit=2 * DAY)
    assert ADA.rule(replace(RULE, last_hit=None)).last_hit is None
    assert ADA.rules([RULE, replace(RULE, origin=an_origin(owner="eve"))]) == [ADA.rule(RULE)]


def test_an_operator_sees_rules_and_failures_with_others_secrets_masked():
    rule = replace(RULE, positives=(SECRET,))
    failure = a_past_failure("f1", "s", line=SECRET, origin=an_origin(owner="ada"))
    own = replace(failure, origin=an_origin(owner="root"))
    unowned = replace(failure, origin=an_origin(owner=""))
    assert ROOT.rule(rule) == replace(rule, positives=("password=[redacted]",))
    assert [one.line for one in ROOT.failures([failure, own, unowned])] == [
        "password=[redacted]",
        SECRET,
        SECRET,
    ]
    assert ROOT.refusal(RULE.refused) == RULE.refused
    assert [one.line for one in ADA.failures([failure, own, unowned])] == [SECRET]


def test_who_runs_the_process_is_an_operator_by_right_not_by_default(tmp_path, monkeypatch):
    monkeypatch.setattr(visibility, "account_name", lambda: "eve")
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    settings = Settings(state_dir=tmp_path)
    settings.database.write_bytes(b"")
    of_another = settings.database.stat().st_uid != 12_345
    assert of_another
    assert viewer_of(settings) == EVE
    with pytest.raises(NotSignedIn):
        operators_only(settings)
    trusted = replace(settings, operators=("eve",))
    assert viewer_of(trusted).operator
    operators_only(trusted)
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert viewer_of(settings).operator
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    settings.database.unlink()
    assert viewer_of(settings).operator  # a store that is not there yet will be theirs
    settings.state_dir.rmdir()
    settings.state_dir.write_bytes(b"")
    assert not viewer_of(settings).operator  # whose one is that cannot be reached is not known


def test_the_owner_of_a_past_job_is_known_from_the_store(tmp_path):
    store = SqliteStore(tmp_path / "store.sqlite3", scheduler="local")
    store.keep_run(a_past_run(job=JOB))
    assert owners_in(store)(JOB.id) == "ada"
    assert owners_in(store)("no such job") == ""
