"""Which jobs are left alone, and that nothing at all is done to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.core import (
    Act,
    Advise,
    DecisionEngine,
    DecisionLimits,
    JobAdvised,
    JobDiagnosed,
    JobReverted,
    JobSeen,
    Remember,
    Scope,
    TimeLimits,
)
from schedmate.model import JobState, Prediction, Remark, Request, Spread
from schedmate.policies import ordering
from schedmate.testing.builders import a_diagnosis, a_job, an_advice

BROKEN = Remark(level="error", text="train.py is not there", certain=True)


def a_scoped_job(**parts):
    asked = {"partition": "gpu", "account": "lab", "qos": "normal", "time_limit_s": 86400.0}
    request = Request(**{**asked, **parts.pop("ask", {})})
    return a_job(user="ada", most_nice=1000, request=request, **parts)


def kinds(engine, **parts):
    """All that is decided about a job that could be ordered, limited, held and requeued."""
    failed = {"state": JobState.NODE_FAIL, **parts}
    found = [
        *engine.handle(JobSeen(0.0, a_scoped_job(**parts))),
        *engine.handle(JobAdvised(1.0, "1", an_advice(60.0, advice=(BROKEN,)))),
        *engine.handle(JobSeen(2.0, a_scoped_job(**failed))),
        *engine.handle(JobDiagnosed(3.0, "1", 0, a_diagnosis("node_failure"))),
    ]
    return {one.action.kind for one in found if isinstance(one, Act)}


def an_engine(**scope):
    limits = DecisionLimits(scope=Scope(**{name: frozenset(one) for name, one in scope.items()}))
    return DecisionEngine(ordering("sjf"), limits, TimeLimits(lower=True))


EVERYTHING = {"set_nice", "set_time_limit", "hold", "requeue"}


@pytest.mark.parametrize(
    "scope",
    [
        {},
        {"canary_partitions": ["gpu"]},
        {"exclude_users": ["bob"], "exclude_partitions": ["cpu"], "exclude_accounts": ["other"]},
    ],
)
@pytest.mark.parametrize("comment", ["", "schedmate=offline", "noschedmate=off", "schedmate=on"])
def test_others_are_acted_upon(scope, comment):
    assert kinds(an_engine(**scope), comment=comment) == EVERYTHING


@pytest.mark.parametrize(
    ("scope", "comment"),
    [
        ({"exclude_users": ["ada"]}, ""),
        ({"exclude_partitions": ["gpu"]}, ""),
        ({"exclude_accounts": ["lab"]}, ""),
        ({"exclude_qos": ["normal"]}, ""),
        ({"canary_partitions": ["debug"]}, ""),
    ],
)
def test_nothing_is_done_to_those_that_are_left_alone(scope, comment):
    assert kinds(an_engine(**scope), comment=comment) == {"leave"}


@pytest.mark.parametrize("comment", ["schedmate=off", "run 7, SchedMate=off; thanks"])
def test_who_opts_out_is_ordered_and_nothing_else(comment):
    assert kinds(an_engine(), comment=comment) == {"set_nice", "leave"}


def test_no_file_of_a_job_that_has_opted_out_is_looked_at():
    engine = an_engine()
    for state in (JobState.PENDING, JobState.RUNNING, JobState.NODE_FAIL):
        ended = {"end_time": 3.0} if state.ended else {}
        job = a_scoped_job(state=state, comment="schedmate=off", start_time=1.0, **ended)
        found = {type(one) for one in engine.handle(JobSeen(2.0, job))}
        assert found <= {Act, Advise, Remember}, state


def place(prediction, **parts):
    engine = DecisionEngine(ordering("sjf"))
    engine.handle(JobSeen(0.0, a_scoped_job(**parts)))
    engine.handle(JobAdvised(1.0, "1", replace(an_advice(60.0), prediction=prediction)))
    return engine.known["1"].job.nice


KNOWN = Prediction(
    basis="history", duration_s=Spread(60.0, 3600.0, 36_000.0), explanation="ada's last 9 runs"
)
UNKNOWN = Prediction(basis="none", explanation="no past run resembles it")


@pytest.mark.parametrize("prediction", [KNOWN, UNKNOWN])
@pytest.mark.parametrize("limit_s", [None, 60.0, 86400.0 * 6])
def test_opting_out_never_moves_a_job_forward(prediction, limit_s):
    """By its request and its user's past, at the cautious quantile of all jobs."""
    ask = {"ask": {"time_limit_s": limit_s}}
    honest = place(prediction, **ask)
    hidden = place(prediction, comment="schedmate=off", **ask)
    same = prediction is KNOWN or limit_s == 60.0
    assert hidden == honest if same else hidden > honest


def test_one_more_partition_moves_no_job_forward():
    job = a_job(request=Request(partition="gpu,spare"))
    for scope in (
        Scope(canary_partitions=frozenset({"gpu"})),
        Scope(exclude_partitions=frozenset({"spare"})),
    ):
        assert scope.objection(job) is not None
        assert scope.unordered(job) is None
        assert scope.unordered(a_job(request=Request(partition="spare"))) is not None


def test_a_job_in_several_partitions_is_in_the_canary_only_with_all_of_them():
    scope = Scope(canary_partitions=frozenset({"a", "b"}))
    job = a_job(request=Request(partition="a,c"))
    assert scope.objection(job) == "its partition is no canary partition"
    assert scope.objection(a_job(request=Request(partition="b,a"))) is None
    assert scope.objection(a_job()) is not None, "its partition is unknown"


def test_who_opts_out_later_keeps_the_place():
    engine = an_engine()
    engine.handle(JobSeen(0.0, a_scoped_job()))
    [place, *_] = engine.handle(JobAdvised(1.0, "1", an_advice(60.0)))
    number = int(place.action.value)

    assert engine.handle(JobSeen(2.0, a_scoped_job(nice=number, comment="schedmate=off"))) == []


def test_what_a_person_has_undone_is_not_done_again():
    engine = an_engine()
    engine.handle(JobSeen(0.0, a_scoped_job()))
    engine.handle(JobReverted(1.0, "1"))
    assert kinds(engine) == {"leave"}


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ({"submit_time": 1071.0}, "leave"),
        ({"submit_time": 1005.0}, "requeue"),
        ({"submit_time": 1071.0, "user": "bob"}, "requeue"),
    ],
)
def test_a_job_that_its_owner_has_submitted_again_is_not_queued_a_second_time(parts, kind):
    engine = an_engine()
    engine.handle(JobSeen(1071.0, a_scoped_job(state=JobState.NODE_FAIL)))
    engine.handle(JobSeen(1072.0, a_job(**{"id": "2", "user": "ada", **parts})))
    found = engine.handle(JobDiagnosed(1073.0, "1", 0, a_diagnosis("node_failure")))

    [decided] = [one.action for one in found if isinstance(one, Act)]
    assert decided.kind == kind
    if kind == "leave":
        assert "its owner has submitted it again as job 2" in decided.why + decided.reason.detail
