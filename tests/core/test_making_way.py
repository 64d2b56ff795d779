"""A run that makes way, from its checkpoint until it runs again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.core import (
    Act,
    CheckpointSeen,
    DecisionEngine,
    DecisionLimits,
    JobAdvised,
    JobForgotten,
    JobReverted,
    JobSeen,
    MadeWay,
    Past,
    PreemptionLimits,
    ResumeKnown,
    ResumeProof,
)
from schedmate.core.preemption import Preempted
from schedmate.model import JobState, Request, Spread
from schedmate.policies import ordering
from schedmate.testing.builders import a_job, an_advice

HOUR = 3600.0
NOW = 10 * HOUR
SURE = ResumeProof(resumes=True, seen=1, restart_s=60.0)
LIMITS = PreemptionLimits(partitions=frozenset({"gpu"}), widest=1.0)


def a_run(**parts):
    values = {
        "id": "1",
        "state": JobState.RUNNING,
        "submit_time": 0.0,
        "start_time": 0.0,
        "can_requeue": True,
        "request": Request(gpus=2, partition="gpu", time_limit_s=100 * HOUR),
    }
    return a_job(**(values | parts))


def one_that_waits(**parts):
    request = Request(gpus=2, partition="gpu", time_limit_s=HOUR)
    values = {"id": "2", "submit_time": 9 * HOUR, "request": request, "priority": 100}
    return a_job(**(values | parts))


def an_engine(*, limits=LIMITS, proof=SURE, run=None, waits=None, left_s=50 * HOUR):
    engine = DecisionEngine(ordering("fifo"), DecisionLimits(preemption=limits))
    run, waits = run or a_run(), waits or one_that_waits()
    engine.handle(JobSeen(NOW, run))
    engine.handle(JobSeen(NOW, waits))
    engine.handle(JobAdvised(NOW, run.id, an_advice(left_s)))
    engine.handle(JobAdvised(NOW, waits.id, an_advice(600.0)))
    engine.handle(ResumeKnown(NOW, run.id, proof))
    return engine


def saved(engine, at=NOW + 30, **parts):
    values = {"at": at, "job_id": "1", "attempt": 0, "saved_at": at - 10, "step": 40.0}
    return actions(engine.handle(CheckpointSeen(**(values | parts))))


def actions(instructions):
    found = [each.action for each in instructions if isinstance(each, Act)]
    return [each for each in found if each.kind in ("preempt", "release", "requeue")]


def stopped(**parts):
    values = {"state": JobState.PENDING, "restarts": 1, "start_time": None, "held": True}
    return a_run(**(values | {"submit_time": NOW + 31} | parts))


def test_a_run_makes_way_right_after_its_checkpoint_for_jobs_that_are_named():
    [action] = saved(an_engine())

    assert (action.kind, action.job_id, action.for_jobs) == ("preempt", "1", ("2",))
    assert action.reason.code == "makes_way"
    assert (action.reason.step, action.reason.lost_s) == (40.0, 70.0)
    assert action.reason.served_s == NOW + 20
    assert "job 2" in action.why
    assert "partition gpu lets jobs make way" in action.why


@pytest.mark.parametrize(
    "parts",
    [
        {"limits": PreemptionLimits()},
        {"proof": ResumeProof(resumes=True)},
        {"proof": replace(SURE, started_over=1)},
        {"run": a_run(comment="schedmate=keep")},
        {"run": a_run(can_requeue=False)},
        {"run": a_run(start_time=NOW - 600)},
        {"run": a_run(components=("1", "2"))},
        {"limits": replace(LIMITS, lost_gpu_hours=0.01)},
        {"limits": replace(LIMITS, at_most=0)},
        {"waits": one_that_waits(held=True)},
        {"waits": one_that_waits(reason="Dependency")},
        {"waits": one_that_waits(eligible_time=NOW + HOUR)},
        {"waits": one_that_waits(request=Request(gpus=2, partition="other"))},
        {"waits": one_that_waits(request=Request(gpus=2, partition="gpu", gpu_type="h100"))},
        {"waits": one_that_waits(request=Request(gpus=1, partition="gpu", memory_mb=10**6))},
    ],
    ids=str,
)
def test_nothing_is_stopped_without_consent_proof_or_need(parts):
    if "memory_mb=1000000" in str(parts):
        parts["run"] = a_run(request=Request(gpus=2, partition="gpu", memory_mb=1000))
    engine = an_engine(**parts)
    if "partition='other'" in str(parts):  # on nodes of its own
        on = {"start_time": 0.0, "state": JobState.RUNNING}
        engine.handle(JobSeen(NOW, a_run(nodes=("a",))))
        other = one_that_waits(id="3", nodes=("b",), request=Request(partition="other"), **on)
        engine.handle(JobSeen(NOW, other))

    assert saved(engine) == []


@pytest.mark.parametrize(
    "parts",
    [{"attempt": 1}, {"saved_at": NOW - HOUR}, {"job_id": "2"}, {"job_id": "9"}],
    ids=str,
)
def test_another_run_or_an_old_checkpoint_is_no_moment(parts):
    assert saved(an_engine(), **parts) == []


def test_two_runs_that_save_within_a_poll_do_not_make_way_for_one_job():
    engine = an_engine()
    engine.handle(JobSeen(NOW, a_run(id="3")))
    engine.handle(JobAdvised(NOW, "3", an_advice(50 * HOUR)))
    engine.handle(ResumeKnown(NOW, "3", SURE))
    [first] = saved(engine)

    assert saved(engine, job_id="3") == []
    engine.handle(JobSeen(NOW, one_that_waits(id="4")))
    engine.handle(JobAdvised(NOW, "4", an_advice(600.0)))
    [second] = saved(engine, at=NOW + 60, job_id="3")
    assert (first.for_jobs, second.for_jobs) == (("2",), ("4",))


def test_a_job_that_did_not_start_may_be_made_way_for_by_another_run():
    engine = an_engine()
    engine.handle(JobSeen(NOW, a_run(id="3")))
    engine.handle(JobAdvised(NOW, "3", an_advice(50 * HOUR)))
    engine.handle(ResumeKnown(NOW, "3", SURE))
    saved(engine)

    [second] = saved(engine, at=NOW + 30 + LIMITS.give_back_s, job_id="3")

    assert second.for_jobs == ("2",)


def test_a_run_that_ends_soon_goes_on():
    assert saved(an_engine(left_s=300.0, run=a_run(start_time=NOW - HOUR))) != []
    engine = an_engine(left_s=2 * HOUR, run=a_run(start_time=NOW - HOUR))
    engine.known["1"].ends_at = NOW + 600
    assert saved(engine) == []


def test_a_run_that_likely_ends_soon_by_its_prediction_goes_on():
    for left_s, goes_on in ((900.0, True), (20 * HOUR, False)):
        engine, whole = an_engine(), NOW + left_s
        sure = replace(an_advice().prediction, duration_s=Spread(whole - 60, whole, whole + 60))
        engine.handle(JobAdvised(NOW, "1", an_advice(prediction=sure)))
        assert (saved(engine) == []) == goes_on


def test_a_run_with_dependants_goes_on():
    engine = an_engine()
    engine.handle(JobSeen(NOW, one_that_waits(id="3", dependency="afterok:1", reason="Dependency")))

    assert saved(engine) == []


def test_a_run_that_one_of_the_same_name_waits_for_goes_on():
    engine = an_engine()
    name, user = engine.known["1"].job.name, engine.known["1"].job.user
    waits = {"dependency": "singleton", "reason": "Dependency"}
    engine.handle(JobSeen(NOW, one_that_waits(id="3", name=name, user=user, **waits)))
    assert saved(engine) == []


def test_one_that_queued_itself_again_and_is_held_after_that_is_released():
    engine = an_engine()
    saved(engine)
    assert actions(engine.handle(JobSeen(NOW + 40, replace(stopped(), held=False)))) == []
    assert actions(engine.handle(JobSeen(NOW + 50, stopped()))) == []
    [action] = actions(engine.handle(JobSeen(NOW + 700, stopped())))
    assert (action.kind, action.reason.code) == ("release", "others_did_not_start")


def test_a_clock_that_is_set_back_does_not_keep_it_waiting():
    engine = an_engine()
    saved(engine)
    [action] = actions(engine.handle(JobSeen(NOW - 86400, stopped())))
    assert (action.kind, action.reason.code) == ("release", "others_did_not_start")


def test_what_a_person_has_undone_stays():
    engine = an_engine()
    engine.handle(JobReverted(NOW, "1"))

    assert saved(engine) == []


def test_it_is_decided_once_in_an_attempt_also_where_nothing_comes_of_it():
    engine = an_engine()

    assert len(saved(engine)) == 1
    assert saved(engine, at=NOW + 1900) == []
    assert actions(engine.handle(JobSeen(NOW + 2000, a_run()))) == []


def test_it_is_held_until_the_named_have_started_and_then_let_go():
    engine = an_engine()
    saved(engine)

    assert actions(engine.handle(JobSeen(NOW + 40, stopped()))) == []
    running = one_that_waits(state=JobState.RUNNING, start_time=NOW + 50)
    [action] = actions(engine.handle(JobSeen(NOW + 60, running)))

    assert (action.kind, action.job_id, action.attempt) == ("release", "1", 1)
    assert action.reason.code == "others_started"
    assert not engine.known["1"].goes_first
    assert actions(engine.handle(JobSeen(NOW + 90, running))) == []


def test_it_goes_back_first_where_they_did_not_start():
    engine = an_engine()
    saved(engine)
    engine.handle(JobSeen(NOW + 40, stopped()))
    assert engine.due("1") == NOW + 30 + LIMITS.give_back_s

    [action] = actions(engine.handle(JobSeen(NOW + 700, stopped())))

    assert (action.kind, action.reason.code) == ("release", "others_did_not_start")
    assert engine.known["1"].goes_first
    again = a_run(restarts=1, start_time=NOW + 800)
    engine.handle(JobSeen(NOW + 800, again))
    assert saved(engine, at=NOW + 9 * HOUR, attempt=1) == []


def test_named_jobs_that_are_gone_do_not_keep_it_waiting():
    engine = an_engine()
    saved(engine)
    engine.handle(JobForgotten(NOW + 35, "2"))

    [action] = actions(engine.handle(JobSeen(NOW + 40, stopped())))

    assert action.reason.code == "others_started"


def test_one_that_a_person_released_is_left_to_them():
    engine = an_engine()
    saved(engine)
    engine.handle(JobSeen(NOW + 40, stopped()))

    assert actions(engine.handle(JobSeen(NOW + 50, stopped(held=False)))) == []
    assert actions(engine.handle(JobSeen(NOW + 5000, stopped(held=False)))) == []


def test_its_wait_is_counted_and_its_place_is_by_what_is_left():
    engine = an_engine(left_s=20 * HOUR)
    saved(engine)
    engine.handle(JobSeen(NOW + 40, stopped()))
    engine.handle(JobSeen(NOW + 60, one_that_waits(state=JobState.RUNNING, start_time=NOW + 50)))
    known = engine.known["1"]

    left = known.prediction_left.duration_s
    assert left.p50 < known.prediction.duration_s.p50
    again = a_run(restarts=1, submit_time=NOW + 31, start_time=NOW + HOUR)
    engine.handle(JobSeen(NOW + HOUR, again))
    assert known.made_way.stopped_at is None
    assert known.made_way.waited_s == pytest.approx(HOUR - 30)
    assert known.waited_s == 0.0  # it had not waited before its first run


def test_one_that_begins_anew_goes_first_and_is_never_stopped_again():
    engine = an_engine()
    saved(engine)
    engine.handle(JobSeen(NOW + 40, stopped(held=False)))
    engine.handle(JobSeen(NOW + 60, a_run(restarts=1, start_time=NOW + 50)))

    engine.handle(ResumeKnown(NOW + 90, "1", replace(SURE, started_over=1)))

    assert engine.known["1"].goes_first
    assert saved(engine, at=NOW + 9 * HOUR, attempt=1) == []


def test_a_new_engine_lets_go_what_one_before_it_has_stopped():
    held = Preempted(attempt=0, at=NOW, for_jobs=("2",))
    past = Past(made_way=MadeWay(held=held, losses=((NOW, 120.0),), stopped_at=NOW))
    engine = DecisionEngine(ordering("fifo"), DecisionLimits(preemption=LIMITS))
    waits = one_that_waits()
    engine.handle(JobSeen(NOW + 20, waits))

    assert actions(engine.handle(JobSeen(NOW + 20, stopped(), past))) == []
    running = replace(waits, state=JobState.RUNNING, start_time=NOW + 30)
    [action] = actions(engine.handle(JobSeen(NOW + 40, running)))
    assert (action.kind, action.job_id) == ("release", "1")


FLAGS = st.fixed_dictionaries(
    {
        "consent": st.booleans(),
        "keep": st.booleans(),
        "resumes": st.sampled_from([True, False, None]),
        "seen": st.integers(0, 2),
        "started_over": st.integers(0, 1),
        "can_requeue": st.booleans(),
        "stops": st.integers(0, 4),
        "ran_h": st.floats(0.0, 9.0),
        "age_s": st.floats(0.0, 600.0),
    }
)


@given(FLAGS)
def test_whatever_is_known_no_run_is_stopped_beyond_its_bounds(flags):
    limits = LIMITS if flags["consent"] else PreemptionLimits()
    comment = "schedmate=keep" if flags["keep"] else ""
    run = a_run(
        comment=comment, can_requeue=flags["can_requeue"], start_time=NOW - flags["ran_h"] * HOUR
    )
    proof = ResumeProof(
        resumes=flags["resumes"], seen=flags["seen"], started_over=flags["started_over"]
    )
    engine = an_engine(limits=limits, proof=proof, run=run)
    losses = tuple((0.0, 10.0) for _ in range(flags["stops"]))
    engine.known["1"].made_way = MadeWay(losses=losses)

    found = saved(engine, at=NOW, saved_at=NOW - flags["age_s"])

    allowed = (
        flags["consent"]
        and not flags["keep"]
        and proof.is_sure
        and flags["can_requeue"]
        and flags["stops"] < limits.at_most
        and flags["ran_h"] * HOUR >= limits.after_s
        and flags["age_s"] <= 120.0
    )
    assert len(found) <= int(allowed)
    assert saved(engine, at=NOW + 30, saved_at=NOW + 20) == [] or not found
