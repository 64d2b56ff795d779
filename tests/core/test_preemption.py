"""Who makes way for whom: by consent, with proof, and only where it pays."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.core.preemption import (
    Contender,
    Incumbent,
    MadeWay,
    PreemptionLimits,
    ResumeProof,
    choose,
    index_s,
    lost_s,
)
from schedmate.model import Action, ActionRecord, DecisionReason, Request, Spread
from schedmate.testing.builders import a_job

HOUR = 3600.0
LIMITS = PreemptionLimits(partitions=frozenset({"gpu"}), widest=1.0)


def a_run(**parts):
    return Incumbent(**({"gpus": 4, "left_s": 20 * HOUR, "lost_s": 120.0, "pool": 8} | parts))


def waiting(*jobs):
    """Each as GPUs and hours."""
    return [
        Contender(job_id=str(number), gpus=gpus, left_s=hours * HOUR, limit_s=10 * hours * HOUR)
        for number, (gpus, hours) in enumerate(jobs, 1)
    ]


@pytest.mark.parametrize(
    ("comment", "partition", "qos", "consents"),
    [
        ("", "gpu", "", True),
        ("", "cpu", "", False),
        ("", "gpu,cpu", "", False),
        ("", "cpu", "scavenger", True),
        ("schedmate=preemptible", "cpu", "", True),
        ("mail=me,SCHEDMATE=Preemptible", "cpu", "", True),
        ("schedmate=preemptible-not", "cpu", "", False),
        ("schedmate=keep", "gpu", "", False),
        ("schedmate=preemptible schedmate=keep", "gpu", "", False),
        ("schedmate=off", "gpu", "", False),
    ],
)
def test_consent_is_of_the_site_or_of_the_owner(comment, partition, qos, consents):
    limits = replace(LIMITS, qos=frozenset({"scavenger"}))
    job = a_job(comment=comment, request=Request(partition=partition, qos=qos))

    assert (limits.consent(job) is not None) == consents


def test_by_default_nobody_has_consented():
    assert PreemptionLimits().consent(a_job(request=Request(partition="gpu"))) is None


@pytest.mark.parametrize(
    ("proof", "sure"),
    [
        (ResumeProof(), False),
        (ResumeProof(resumes=True), False),
        (ResumeProof(seen=3), False),
        (ResumeProof(resumes=True, seen=1), True),
        (ResumeProof(resumes=True, seen=9, started_over=1), False),
    ],
)
def test_proof_takes_the_code_and_a_resume_that_was_seen(proof, sure):
    assert proof.is_sure == sure


def test_a_checkpoint_that_is_older_than_a_restart_costs_is_too_old():
    proof = ResumeProof(resumes=True, seen=1, restart_s=300.0)

    assert lost_s(1000.0, 900.0, proof) == 400.0
    assert lost_s(1000.0, 600.0, proof) is None


@pytest.mark.parametrize(
    ("jobs", "named"),
    [
        ([(4, 1)], ("1",)),
        ([(1, 1), (1, 1), (2, 1)], ("1", "2", "3")),
        ([(1, 1)], ()),  # three of its GPUs would be idle
        ([(4, 15)], ()),  # not short enough
        ([(4, 15), (4, 1)], ()),  # the scheduler would start the long one
        ([(2, 1), (2, 50)], ("1",)),
        ([(8, 1), (4, 1)], ("2",)),  # backfilled before the wide one
        ([], ()),
    ],
)
def test_those_are_named_that_start_and_are_worth_it(jobs, named):
    run = a_run(others=((100 * HOUR, 4),))

    assert choose(run, waiting(*jobs), LIMITS) == named


def test_a_wide_job_before_them_leaves_only_what_backfill_would():
    run = a_run(others=((5 * HOUR, 4),))
    wide, short = waiting((8, 1), (4, 0.4))

    assert choose(run, [wide, short], LIMITS) == ("2",)  # its limit ends it within five hours
    assert choose(run, [wide, replace(short, limit_s=6 * HOUR)], LIMITS) == ()


def test_wide_runs_are_not_stopped_but_those_on_one_gpu_are():
    jobs = waiting((4, 1))

    assert choose(a_run(), jobs, replace(LIMITS, widest=0.5)) == ("1",)
    assert choose(a_run(), jobs, replace(LIMITS, widest=0.25)) == ()
    small = a_run(gpus=1, pool=2)  # there is nothing to gather
    assert choose(small, waiting((1, 1)), replace(LIMITS, widest=0.25)) == ("1",)


def test_the_index_is_least_attained_service_without_a_prediction():
    assert index_s(None, 60.0) == 1800.0
    assert index_s(None, 7200.0) == 7200.0
    assert index_s(None, 7200.0, left_s=100.0) == 100.0


def test_the_index_goes_with_the_prediction_and_then_with_what_has_run():
    sure, vague = Spread(3500.0, 3600.0, 3700.0), Spread(60.0, 3600.0, 40_000.0)

    assert index_s(sure, 0.0) == pytest.approx(3600.0, rel=0.1)
    assert index_s(vague, 0.0) < index_s(sure, 0.0)  # it may well end soon
    assert index_s(vague, 36_000.0) >= 36_000.0


JOBS = st.lists(
    st.builds(
        Contender,
        job_id=st.uuids().map(str),
        gpus=st.integers(1, 16),
        left_s=st.floats(1.0, 1e6),
        limit_s=st.one_of(st.just(inf), st.floats(1.0, 1e6)),
        fits=st.booleans(),
    ),
    max_size=12,
)
RUNS = st.builds(
    Incumbent,
    gpus=st.integers(1, 16),
    left_s=st.floats(1.0, 1e6),
    lost_s=st.floats(0.0, 600.0),
    free=st.integers(0, 4),
    pool=st.integers(16, 64),
    others=st.lists(st.tuples(st.floats(-1e5, 1e6), st.integers(1, 16)), max_size=6),
)


@given(run=RUNS, jobs=JOBS, worth=st.floats(1.0, 5.0))
def test_the_named_fit_are_shorter_and_leave_few_gpus_idle(run, jobs, worth):
    limits = replace(LIMITS, worth=worth)
    named = choose(run, jobs, limits)
    theirs = [job for job in jobs if job.job_id in named]

    assert len(theirs) == len(named) == len(set(named))
    if not named:
        return
    gpus = sum(job.gpus for job in theirs)
    assert run.gpus / 2 <= gpus <= run.gpus
    assert all(job.fits for job in theirs)
    assert all(worth * job.gpus * job.left_s <= run.gpus * run.left_s for job in theirs)


def record(kind, attempt, at=100.0, state="done", **parts):
    reason = parts.pop("reason", None)
    action = Action(kind=kind, job_id="1", attempt=attempt, why="", reason=reason, **parts)
    return ActionRecord(action=action, state=state, at=at)


def makes_way(attempt, at, state="done"):
    reason = DecisionReason(code="makes_way", lost_s=150.0, served_s=at, left_s=50.0)
    return record("preempt", attempt, at, state, reason=reason, for_jobs=("7",))


def test_what_a_job_gave_up_is_read_from_its_records():
    job = a_job(restarts=2, request=Request(gpus=2))
    records = [makes_way(0, 100.0), record("release", 1), makes_way(1, 900.0)]

    found = MadeWay.of(records, job)

    assert found.losses == ((100.0, 300.0), (900.0, 300.0))
    assert found.held is not None
    assert found.held.for_jobs == ("7",)
    assert (found.served_s, found.left_s, found.stopped_at) == (900.0, 50.0, 900.0)


@pytest.mark.parametrize(
    "records",
    [
        [],
        [makes_way(0, 100.0, "observed")],
        [makes_way(0, 100.0, "failed")],
        [makes_way(0, 100.0), record("release", 1)],
    ],
)
def test_a_job_that_was_not_stopped_or_was_let_go_is_not_held(records):
    assert MadeWay.of(records, a_job(restarts=1)).held is None
