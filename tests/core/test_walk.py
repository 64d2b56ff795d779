"""One job's way through the decision engine."""

from __future__ import annotations

import pytest

from schedmate.core import (
    Act,
    Advise,
    Attempt,
    DecisionEngine,
    DecisionLimits,
    Diagnose,
    FairnessLimits,
    JobAdvised,
    JobDiagnosed,
    JobSeen,
    Past,
    ProgressSeen,
    Remember,
    Started,
    Track,
)
from schedmate.model import Decision, JobState
from schedmate.policies import ordering
from schedmate.testing.builders import a_diagnosis, a_job, a_progress, an_advice

FAILURES = [state for state in JobState if state.failed]


PLACE = -938
"""In a thousand numbers, of a job that may take three minutes."""


@pytest.fixture
def engine() -> DecisionEngine:
    return DecisionEngine(ordering("sjf"), DecisionLimits(retries=2))


def see(engine: DecisionEngine, **overrides):
    return engine.handle(JobSeen(0.0, a_job(**overrides)))


def diagnose(
    engine: DecisionEngine, reason: str = "node_failure", *, attempt: int = 0, **overrides
):
    return engine.handle(JobDiagnosed(0.0, "1", attempt, a_diagnosis(reason, **overrides)))


def only_action(instructions):
    [act] = instructions
    assert isinstance(act, Act)
    return act.action


def test_a_job_walks_from_submission_over_a_requeue_to_memory(engine):
    pending, running = a_job(most_nice=1000), a_job(state=JobState.RUNNING)
    lost = a_job(state=JobState.NODE_FAIL)

    middle, advise = engine.handle(JobSeen(1, pending))
    assert (advise, middle.action.value, middle.action.provisional) == (Advise(pending), -500, True)
    nice = only_action(engine.handle(JobAdvised(2, "1", an_advice(90.0))))
    assert (nice.kind, nice.value, nice.attempt) == ("set_nice", PLACE, 0)
    assert engine.handle(JobSeen(3, running)) == [Track(running)]
    assert engine.handle(ProgressSeen(4, "1", a_progress())) == []
    assert engine.handle(JobSeen(5, lost)) == [Remember(lost), Diagnose(lost)]
    requeue = only_action(engine.handle(JobDiagnosed(6, "1", 0, a_diagnosis("node_failure"))))
    assert (requeue.kind, requeue.attempt) == ("requeue", 0)

    again = a_job(restarts=1, nice=PLACE)
    done = a_job(state=JobState.COMPLETED, restarts=1)
    assert engine.handle(JobSeen(7, again)) == []
    assert engine.handle(JobSeen(8, a_job(state=JobState.RUNNING, restarts=1)))
    assert engine.handle(JobSeen(9, done)) == [Remember(done)]


def test_everything_learnt_is_kept(engine):
    see(engine, state=JobState.RUNNING)
    engine.handle(JobAdvised(0, "1", an_advice(90.0)))
    engine.handle(ProgressSeen(0, "1", a_progress(fraction=0.25)))
    diagnose(engine, "hang")

    known = engine.known["1"]
    assert known.job.state is JobState.RUNNING
    assert known.prediction is not None
    assert known.prediction.duration_s.p50 == 90
    assert known.progress.fraction == 0.25
    assert known.attempts[0].diagnosis.reason == "hang"


@pytest.mark.parametrize("state", list(JobState))
def test_telling_it_twice_asks_for_nothing_new(engine, state):
    assert see(engine, state=state)[0] == Advise(a_job(state=state))
    assert see(engine, state=state) == []
    assert see(engine, state=state, nice=5) == []


@pytest.mark.parametrize("state", FAILURES)
def test_a_failure_that_nobody_saw_begin_is_diagnosed_all_the_same(engine, state):
    job = a_job(state=state)

    assert engine.handle(JobSeen(0, job)) == [Advise(job), Remember(job), Diagnose(job)]


def test_a_run_that_failed_again_between_two_looks_is_another_failure(engine):
    see(engine, state=JobState.FAILED)
    job = a_job(state=JobState.FAILED, restarts=1)

    assert engine.handle(JobSeen(0, job)) == [Remember(job), Diagnose(job)]


def test_a_cancelled_job_is_remembered_but_not_diagnosed(engine):
    see(engine, state=JobState.RUNNING)
    job = a_job(state=JobState.CANCELLED)

    assert engine.handle(JobSeen(0, job)) == [Remember(job)]


def test_advice_orders_only_a_job_that_still_waits(engine):
    see(engine, state=JobState.RUNNING)

    assert engine.handle(JobAdvised(0, "1", an_advice(90.0))) == []


def test_advice_that_changes_nothing_asks_for_nothing(engine):
    see(engine, nice=90)

    assert engine.handle(JobAdvised(0, "1", an_advice(90.0))) == []


def test_the_reason_for_an_order_can_be_read(engine):
    see(engine, most_nice=1000)

    assert only_action(engine.handle(JobAdvised(0, "1", an_advice(9.0)))).why == "sjf: like job 812"


def test_what_is_said_of_an_unknown_job_is_ignored(engine):
    assert engine.handle(JobAdvised(0, "nobody", an_advice())) == []
    assert engine.handle(ProgressSeen(0, "nobody", a_progress(phase="stalled"))) == []
    assert engine.handle(JobDiagnosed(0, "nobody", 0, a_diagnosis())) == []
    assert not engine.known


def test_a_failed_job_that_should_not_be_tried_again_is_left_alone(engine):
    see(engine, state=JobState.FAILED)

    action = only_action(diagnose(engine, "import_error"))

    assert (action.kind, action.reason.code) == ("leave", "not_worth_a_retry")
    assert not action.asks_the_scheduler


def test_progress_is_of_one_run(engine):
    see(engine, state=JobState.RUNNING)
    engine.handle(ProgressSeen(0, "1", a_progress()))
    see(engine, state=JobState.RUNNING, restarts=1)

    assert engine.known["1"].progress is None


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.CANCELLED, JobState.COMPLETED])
def test_a_late_diagnosis_never_revives_a_job(engine, state):
    """A hang is being diagnosed; meanwhile the job ends well, or somebody takes care of it."""
    see(engine, state=state)

    assert diagnose(engine, "hang") == []


def test_a_mind_that_was_not_there_knows_how_earlier_attempts_went(engine):
    past = {0: Attempt(diagnosis=a_diagnosis("segfault"), nodes=("n1",))}
    job = a_job(state=JobState.FAILED, restarts=1)

    engine.handle(JobSeen(0.0, job, Past(attempts=past)))

    action = only_action(diagnose(engine, "segfault", attempt=1))
    assert (action.kind, action.reason.code) == ("leave", "same_failure")


def test_a_diagnosis_of_an_earlier_run_is_kept_and_not_acted_upon(engine):
    see(engine, state=JobState.FAILED, restarts=1)

    assert diagnose(engine, attempt=0) == []
    assert engine.known["1"].attempts[0].diagnosis.reason == "node_failure"


@pytest.mark.parametrize(
    ("end_time", "kind"), [(99.0, "leave"), (100.0, "requeue"), (101.0, "requeue")]
)
def test_runs_that_ended_before_we_were_there_are_not_acted_upon(end_time, kind):
    engine = DecisionEngine(ordering("fifo"), DecisionLimits(act_since=100.0))
    see(engine, state=JobState.NODE_FAIL, end_time=end_time)

    assert only_action(diagnose(engine)).kind == kind


def test_the_action_carries_what_the_decision_says(engine):
    see(engine, state=JobState.NODE_FAIL)
    decision = Decision(retry="elsewhere", exclude_nodes=("n3",), why="n3 is sick")

    action = only_action(diagnose(engine, decision=decision))

    assert (action.exclude_nodes, action.why, action.delay_s) == (("n3",), "n3 is sick", 0.0)


@pytest.mark.parametrize(("started", "again"), [(1030.0, False), (1100.0, True)])
def test_a_job_that_waited_long_is_predicted_again_as_it_starts(engine, started, again):
    see(engine)
    running = a_job(state=JobState.RUNNING, start_time=started)

    asked = engine.handle(JobSeen(started, running))

    assert (Advise(running, again=True) in asked) is again
    assert Track(running) in asked


def test_an_engine_that_starts_again_knows_nothing(engine):
    see(engine)
    engine.handle(Started(1.0))

    assert not engine.known


@pytest.mark.parametrize(("failure", "kinds"), [("killed", []), ("node_failure", ["requeue"])])
def test_a_run_that_was_left_alone_stays_so_unless_its_failure_is_another(engine, failure, kinds):
    """Whatever the settings say now; a corrected or refined diagnosis is decided anew."""
    job = a_job(state=JobState.FAILED)
    engine.handle(JobSeen(0.0, job, Past(left_for="killed")))

    found = diagnose(engine, failure)

    assert [one.action.kind for one in found if isinstance(one, Act)] == kinds


def test_a_job_that_waits_as_before_needs_no_thought():
    bound = FairnessLimits(late_hours=0.0, hours=12.0)
    engine = DecisionEngine(ordering("sjf"), DecisionLimits(fairness=bound))
    job = a_job(most_nice=1000, nice=PLACE)
    met = a_job(most_nice=1000)
    engine.handle(JobSeen(1, met))
    assert engine.known["1"].is_quiet(met, 2)
    engine.handle(JobAdvised(2, "1", an_advice(90.0)))
    assert not engine.known["1"].is_quiet(met, 3)
    assert engine.handle(JobSeen(3, job)) == []
    assert engine.known["1"].is_quiet(job, 4)
    assert not engine.known["1"].is_quiet(a_job(most_nice=1000, nice=PLACE), 4), (
        "another record of it"
    )

    [due] = [known for known in (engine.due("1"),) if known is not None]
    assert engine.known["1"].is_quiet(job, due - 1)
    assert not engine.known["1"].is_quiet(job, due)
    assert only_action(engine.handle(JobSeen(due, job))).value == -1000

    engine.handle(JobAdvised(5, "1", an_advice(900.0)))
    assert not engine.known["1"].is_quiet(job, 6)


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.FAILED])
def test_a_job_that_does_not_wait_is_always_thought_about(engine, state):
    job = a_job(state=state)
    for at in (1, 2):
        engine.handle(JobSeen(at, job))
        assert not engine.known["1"].is_quiet(job, at)
