"""One job's way through the mind."""

from __future__ import annotations

import pytest

from schedmate.core import (
    Act,
    Advise,
    Attempt,
    Diagnose,
    JobAdvised,
    JobDiagnosed,
    JobSeen,
    Limits,
    Mind,
    ProgressSeen,
    Remember,
    Track,
)
from schedmate.model import Blame, Decision, JobState
from schedmate.policies import ordering
from schedmate.testing.builders import a_diagnosis, a_job, a_progress, an_advice

FAILURES = [state for state in JobState if state.failed]


@pytest.fixture
def mind() -> Mind:
    return Mind(ordering("sjf"), Limits(retries=2))


def see(mind: Mind, **overrides):
    return mind.handle(JobSeen(0.0, a_job(**overrides)))


def diagnose(mind: Mind, reason: str = "node_failure", *, attempt: int = 0, **overrides):
    return mind.handle(JobDiagnosed(0.0, "1", attempt, a_diagnosis(reason, **overrides)))


def only_action(instructions):
    [act] = instructions
    assert isinstance(act, Act)
    return act.action


def test_a_job_walks_from_submission_over_a_requeue_to_memory(mind):
    pending, running = a_job(most_nice=1000), a_job(state=JobState.RUNNING)
    lost = a_job(state=JobState.NODE_FAIL)

    middle, advise = mind.handle(JobSeen(1, pending))
    assert (advise, middle.action.value, middle.action.provisional) == (Advise(pending), 500, True)
    nice = only_action(mind.handle(JobAdvised(2, "1", an_advice(90.0))))
    assert (nice.kind, nice.value, nice.attempt) == ("set_nice", 185, 0)
    assert mind.handle(JobSeen(3, running)) == [Track(running)]
    assert mind.handle(ProgressSeen(4, "1", a_progress())) == []
    assert mind.handle(JobSeen(5, lost)) == [Remember(lost), Diagnose(lost)]
    requeue = only_action(mind.handle(JobDiagnosed(6, "1", 0, a_diagnosis("node_failure"))))
    assert (requeue.kind, requeue.attempt) == ("requeue", 0)

    again = a_job(restarts=1)
    done = a_job(state=JobState.COMPLETED, restarts=1)
    assert mind.handle(JobSeen(7, again)) == []
    assert mind.handle(JobSeen(8, a_job(state=JobState.RUNNING, restarts=1)))
    assert mind.handle(JobSeen(9, done)) == [Remember(done)]


def test_everything_learnt_is_kept(mind):
    see(mind, state=JobState.RUNNING)
    mind.handle(JobAdvised(0, "1", an_advice(90.0)))
    mind.handle(ProgressSeen(0, "1", a_progress(fraction=0.25)))
    diagnose(mind, "hang")

    known = mind.known["1"]
    assert known.job.state is JobState.RUNNING
    assert known.prediction is not None
    assert known.prediction.duration_s.p50 == 90
    assert known.progress.fraction == 0.25
    assert known.attempts[0].diagnosis.reason == "hang"


@pytest.mark.parametrize("state", list(JobState))
def test_telling_it_twice_asks_for_nothing_new(mind, state):
    assert see(mind, state=state)[0] == Advise(a_job(state=state))
    assert see(mind, state=state) == []
    assert see(mind, state=state, nice=5) == []


@pytest.mark.parametrize("state", FAILURES)
def test_a_failure_that_nobody_saw_begin_is_diagnosed_all_the_same(mind, state):
    job = a_job(state=state)

    assert mind.handle(JobSeen(0, job)) == [Advise(job), Remember(job), Diagnose(job)]


def test_a_run_that_failed_again_between_two_looks_is_another_failure(mind):
    see(mind, state=JobState.FAILED)
    job = a_job(state=JobState.FAILED, restarts=1)

    assert mind.handle(JobSeen(0, job)) == [Remember(job), Diagnose(job)]


def test_a_cancelled_job_is_remembered_but_not_diagnosed(mind):
    see(mind, state=JobState.RUNNING)
    job = a_job(state=JobState.CANCELLED)

    assert mind.handle(JobSeen(0, job)) == [Remember(job)]


def test_advice_orders_only_a_job_that_still_waits(mind):
    see(mind, state=JobState.RUNNING)

    assert mind.handle(JobAdvised(0, "1", an_advice(90.0))) == []


def test_advice_that_changes_nothing_asks_for_nothing(mind):
    see(mind, nice=90)

    assert mind.handle(JobAdvised(0, "1", an_advice(90.0))) == []


def test_the_reason_for_an_order_can_be_read(mind):
    see(mind, most_nice=1000)

    assert only_action(mind.handle(JobAdvised(0, "1", an_advice(9.0)))).why == "sjf: like job 812"


def test_what_is_said_of_an_unknown_job_is_ignored(mind):
    assert mind.handle(JobAdvised(0, "nobody", an_advice())) == []
    assert mind.handle(ProgressSeen(0, "nobody", a_progress(phase="stalled"))) == []
    assert mind.handle(JobDiagnosed(0, "nobody", 0, a_diagnosis())) == []
    assert not mind.known


def test_a_job_that_stopped_moving_is_diagnosed_once_a_run(mind):
    see(mind, state=JobState.RUNNING)
    stalled = ProgressSeen(0, "1", a_progress(phase="stalled"))

    assert mind.handle(stalled) == [Diagnose(a_job(state=JobState.RUNNING), hung=True)]
    assert mind.handle(stalled) == []

    see(mind, state=JobState.PENDING, restarts=1)
    assert mind.handle(stalled) == [], "it does not run"
    see(mind, state=JobState.RUNNING, restarts=1)
    assert [type(asked) for asked in mind.handle(stalled)] == [Diagnose]


def test_a_hung_job_is_requeued_while_the_budget_lasts_and_then_stopped(mind):
    for attempt, kind in enumerate(["requeue", "requeue", "cancel"]):
        see(mind, state=JobState.RUNNING, restarts=attempt)
        elsewhere = Blame(nodes=(f"n{attempt}",))
        action = only_action(diagnose(mind, "hang", attempt=attempt, blame=elsewhere))
        assert action.kind == kind, attempt


def test_a_hung_job_that_should_not_be_tried_again_is_stopped(mind):
    see(mind, state=JobState.RUNNING)

    action = only_action(diagnose(mind, "gpu_oom"))

    assert (action.kind, action.why) == ("cancel", "gpu_oom: no")


def test_what_runs_is_left_alone_on_a_guess(mind):
    see(mind, state=JobState.RUNNING)

    assert diagnose(mind, "gpu_oom", confidence=0.4) == []
    assert diagnose(mind, "hang", confidence=0.4) == []
    assert diagnose(mind, "not_failed") == []


def test_a_failed_job_that_should_not_be_tried_again_is_left_alone(mind):
    see(mind, state=JobState.FAILED)

    assert diagnose(mind, "import_error") == []


def test_progress_is_of_one_run(mind):
    see(mind, state=JobState.RUNNING)
    mind.handle(ProgressSeen(0, "1", a_progress()))
    see(mind, state=JobState.RUNNING, restarts=1)

    assert mind.known["1"].progress is None


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.CANCELLED, JobState.COMPLETED])
def test_a_late_diagnosis_never_revives_a_job(mind, state):
    """A hang is being diagnosed; meanwhile the job ends well, or somebody takes care of it."""
    see(mind, state=state)

    assert diagnose(mind, "hang") == []


def test_a_mind_that_was_not_there_knows_how_earlier_attempts_went(mind):
    past = {0: Attempt(diagnosis=a_diagnosis("segfault"), nodes=("n1",))}
    job = a_job(state=JobState.FAILED, restarts=1)

    mind.handle(JobSeen(0.0, job, past))

    assert diagnose(mind, "segfault", attempt=1) == [], "the same failure again"


def test_a_diagnosis_of_an_earlier_run_is_kept_and_not_acted_upon(mind):
    see(mind, state=JobState.FAILED, restarts=1)

    assert diagnose(mind, attempt=0) == []
    assert mind.known["1"].attempts[0].diagnosis.reason == "node_failure"


@pytest.mark.parametrize(("end_time", "acts"), [(99.0, 0), (100.0, 1), (101.0, 1)])
def test_runs_that_ended_before_we_were_there_are_not_acted_upon(end_time, acts):
    mind = Mind(ordering("fifo"), Limits(act_since=100.0))
    see(mind, state=JobState.NODE_FAIL, end_time=end_time)

    assert len(diagnose(mind)) == acts


def test_the_action_carries_what_the_decision_says(mind):
    see(mind, state=JobState.NODE_FAIL)
    decision = Decision(retry="elsewhere", exclude_nodes=("n3",), why="n3 is sick")

    action = only_action(diagnose(mind, decision=decision))

    assert (action.exclude_nodes, action.why, action.delay_s) == (("n3",), "n3 is sick", 0.0)
