"""The view of a job, and the short answers about it."""

from __future__ import annotations

import math
import time
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.cli._common import duration
from schedmate.core import Scope
from schedmate.model import (
    Action,
    ActionRecord,
    DecisionReason,
    JobState,
    NotFound,
    Remark,
    Request,
    Slowdown,
    Spread,
)
from schedmate.service.views.job_view import JobView, job_view, job_views, retry_outcome
from schedmate.service.views.queue_row import queue_row
from schedmate.service.views.sentences import (
    advice_lines,
    eta_sentence,
    expected_in_words,
    overdue_in_words,
    why_sentence,
)
from schedmate.service.visibility import Viewer
from schedmate.store import KeptAdvice
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_diagnosis, a_job, a_past_run, a_progress, an_advice
from schedmate.testing.scheduler import FakeScheduler

OPERATOR = Viewer(user="root", operator=True)
NOW = 1030.0  # a running job of the builders started at 1010


def written(seconds):
    return "?" if seconds is None else f"{seconds:.0f}s"


def view(state, *, p50=None, progress=None, diagnoses=None, **parts):
    return JobView(
        job=a_job(state=state, **parts),
        advice=None if p50 is None else an_advice(p50),
        progress=progress,
        diagnoses=diagnoses or {},
    )


RUNS = "job 1 runs; its log does not show how far it is"


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (view(JobState.COMPLETED), "job 1 has ended: COMPLETED after 60s"),
        (
            view(JobState.CANCELLED, start_time=None),
            "job 1 has ended: CANCELLED before it started",
        ),
        (view(JobState.PENDING), "job 1 waits; how long it will run is not known"),
        (view(JobState.PENDING, p50=90), "job 1 waits; it will run about 90s"),
        (
            view(JobState.RUNNING),
            "job 1 runs; neither its log nor its history shows how long",
        ),
        (view(JobState.RUNNING, p50=60), "job 1 ends in 41s (13s to 101s)"),
        (view(JobState.RUNNING, p50=15), "job 1 ends in 6s (1s to 25s)"),
        (
            view(JobState.RUNNING, p50=9),
            "job 1 runs for longer than predicted (18s); its end is not known",
        ),
        (
            view(JobState.RUNNING, p50=60, progress=a_progress()),
            "job 1 ends in 5s (2s to 10s)",
        ),
        (
            view(JobState.RUNNING, progress=a_progress(ends_by="cap")),
            "job 1 ends by its time cap in 5s (2s to 10s)",
        ),
        (
            view(JobState.RUNNING, progress=a_progress(ends_by="limit")),
            "job 1 ends by the scheduler's limit in 5s (2s to 10s)",
        ),
        (
            view(JobState.RUNNING, progress=a_progress(ends_by="early_stop")),
            "job 1 ends in 5s (2s to 10s), if it does not stop early",
        ),
        (
            view(JobState.RUNNING, p50=60, progress=a_progress(eta_s=None, ends_by="cap")),
            "job 1 ends in 41s (13s to 101s)",
        ),
    ],
)
def test_when_it_ends(told, sentence):
    assert eta_sentence(told, NOW, written) == sentence


SLOWED = Slowdown(since_s=720.0, factor=0.55)
KILLED = {0: a_diagnosis("killed", summary="killed by signal 9")}


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (view(JobState.COMPLETED), "job 1 has ended: COMPLETED"),
        (view(JobState.NODE_FAIL, reason="n1 died"), "job 1 has ended: NODE_FAIL, n1 died"),
        (view(JobState.FAILED, diagnoses=KILLED), "killed: killed by signal 9"),
        (
            view(JobState.COMPLETED, restarts=1, diagnoses=KILLED),
            "job 1 has ended: COMPLETED; the attempt before: killed: killed by signal 9",
        ),
        (view(JobState.RUNNING), RUNS),
        (
            view(JobState.FAILED, comment="schedmate=off", reason="NonZeroExitCode"),
            (
                "job 1 has ended: FAILED, NonZeroExitCode; SchedMate leaves it alone: "
                "its comment has schedmate=off"
            ),
        ),
        (
            replace(
                view(JobState.RUNNING, restarts=2, diagnoses=KILLED),
                before=a_job(state=JobState.NODE_FAIL, restarts=1, nodes=("node1",)),
            ),
            (
                f"{RUNS}; the attempt before ended in NODE_FAIL after 60s on node1 and was "
                "queued again"
            ),
        ),
        (
            view(JobState.RUNNING, restarts=2, diagnoses=KILLED),
            f"{RUNS}; attempt 1: killed: killed by signal 9",
        ),
        (view(JobState.RUNNING, progress=a_progress()), "job 1 runs: training"),
        (
            view(JobState.RUNNING, progress=a_progress(slowdown=SLOWED)),
            "job 1 runs: training, slowed to 55% of its speed after 720s",
        ),
        (
            view(JobState.RUNNING, restarts=1, diagnoses=KILLED),
            f"{RUNS}; the attempt before: killed: killed by signal 9",
        ),
        (
            view(JobState.PENDING, nice=5, reason="Resources"),
            "job 1 waits behind 1 running and 1 waiting jobs (Resources)",
        ),
        (
            view(JobState.PENDING, reason="DependencyNeverSatisfied"),
            (
                "job 1 never starts: a job that it depends on did not end as it asks "
                "(DependencyNeverSatisfied)"
            ),
        ),
        (
            view(JobState.PENDING, reason="Dependency"),
            "job 1 waits for another job that it depends on (Dependency)",
        ),
        (
            view(JobState.PENDING, dependency="afterok:7(unfulfilled)"),
            "job 1 waits for afterok:7(unfulfilled)",
        ),
        (
            view(JobState.PENDING, held=True, reason="JobHeldUser"),
            "job 1 is held by its user (JobHeldUser); release it with: scontrol release 1",
        ),
        (view(JobState.PENDING, held=True), "job 1 is held; release it with: schedmate release 1"),
        (
            view(JobState.PENDING, restarts=1, eligible_time=NOW + 49, diagnoses=KILLED),
            (
                "job 1 waits for its start time, in 49s; "
                "the attempt before: killed: killed by signal 9"
            ),
        ),
        (
            view(JobState.PENDING, reason="BeginTime", eligible_time=NOW + 7),
            "job 1 waits for its start time, in 7s (BeginTime)",
        ),
        (
            view(JobState.PENDING, restarts=1, diagnoses=KILLED),
            (
                "job 1 waits behind 1 running and 0 waiting jobs; "
                "the attempt before: killed: killed by signal 9"
            ),
        ),
    ],
)
def test_why_it_is_as_it_is(told, sentence):
    queue = [
        told.job,
        a_job(id="2", state=JobState.RUNNING),
        a_job(id="3", nice=1, submit_time=2000.0),
        a_job(id="4", nice=9),
        a_job(id="5", state=JobState.COMPLETED),
    ]

    assert why_sentence(told, queue, NOW, written) == sentence


def waiting(job_id, priority=None, partition=None, **parts):
    return a_job(id=job_id, priority=priority, request=Request(partition=partition), **parts)


@pytest.mark.parametrize(
    ("job", "running", "ahead"),
    [
        (waiting("1", 50, "a"), 1, 2),
        (waiting("1", 50, "b"), 1, 0),
        (waiting("1", 50, "b,a"), 2, 2),
        (waiting("1", 500, "a"), 1, 0),
        (waiting("1", 50, "c"), 0, 0),
    ],
)
def test_only_jobs_of_its_partition_with_a_higher_priority_are_before_it(job, running, ahead):
    queue = [
        job,
        waiting("2", 60, "a", nice=9),
        waiting("3", 50, "a", submit_time=1.0),
        waiting("4", 40, "a", nice=-9),
        waiting("5", 40, "b", submit_time=1.0),
        waiting("6", 90, "a", held=True),
        waiting("7", 90, "a", reason="Dependency"),
        waiting("8", 90, "a", eligible_time=NOW + 5),
        waiting("9", 90, "a", state=JobState.RUNNING),
        waiting("10", 90, "b", state=JobState.RUNNING),
    ]

    sentence = why_sentence(JobView(job=job, diagnoses={}), queue, NOW, written)

    waits = f"waits behind {running} running and {ahead} waiting jobs"
    nothing = "is next: no job runs or waits before it"
    assert sentence == f"job 1 {waits if running or ahead else nothing}"


def test_a_queue_without_priorities_has_no_partitions_either():
    job = waiting("1", partition="a", nice=5)
    queue = [job, waiting("2", partition="b", nice=4), waiting("3", partition="a", nice=6)]

    sentence = why_sentence(JobView(job=job, diagnoses={}), queue, NOW, written)

    assert sentence == "job 1 waits behind 0 running and 1 waiting jobs"


def test_a_delayed_retry_counts_down():
    action = Action(
        kind="requeue",
        job_id="1",
        attempt=0,
        why="x",
        reason=DecisionReason(code="worth_a_retry", failure="killed", allowed=2),
        delay_s=60.0,
    )
    job = a_job(restarts=1, eligible_time=NOW + 60)
    record = ActionRecord(action=action, state="done", at=NOW)
    told = JobView(job=job, diagnoses=KILLED, retry=retry_outcome(job, KILLED, [record]))

    soon, late = (why_sentence(told, [], NOW + passed, written) for passed in (49, 61))

    assert "waits for its start time, in 11s; " in soon
    assert "it was queued again, to start in 11s, retry 1 of 2" in soon
    assert "it was queued again, retry 1 of 2" in late


@pytest.mark.parametrize("reason", ["killed", "python_exception"])
def test_why_names_the_comment_that_kept_a_failed_job_from_a_retry(reason):
    diagnoses = {0: a_diagnosis(reason)}
    job = a_job(state=JobState.FAILED, start_time=NOW - 9, end_time=NOW, comment="schedmate=off")
    told = JobView(job=job, diagnoses=diagnoses, retry=retry_outcome(job, diagnoses, []))
    sentence = why_sentence(told, [], NOW, written, objection=Scope().objection(job))
    named = sentence.endswith("; SchedMate leaves it alone: its comment has schedmate=off")
    assert named == ("a retry is recommended" in sentence), sentence
    assert "its comment" not in why_sentence(told, [], NOW, written)


def test_why_of_a_failure_that_is_not_read_says_how_to_have_it_read():
    parts = {"state": JobState.FAILED, "start_time": NOW - 9, "end_time": NOW}
    job = a_job(**parts, comment="schedmate=off", logs=("/home/ada/my run.out",))
    assert why_sentence(JobView(job=job, diagnoses={}), [], NOW, written) == (
        "job 1 has ended: FAILED; SchedMate leaves it alone: its comment has schedmate=off; "
        "to have it read: schedmate diagnose '/home/ada/my run.out'"
    )


def test_a_story_is_told_from_scheduler_and_store(store):
    scheduler = FakeScheduler()
    scheduler.put(a_job(state=JobState.FAILED))
    scheduler.put(a_job(id="2"))
    store.keep_advice("1", KeptAdvice(an_advice(7.0), None))
    store.keep_progress("1", 0, a_progress(), at=NOW)
    store.keep_diagnosis("1", 0, a_diagnosis())

    first, second = job_views(scheduler, store, OPERATOR)

    assert first.job == scheduler.known["1"]
    assert first.predicted == an_advice(7.0).prediction.duration_s
    assert (first.progress, first.diagnosis) == (a_progress(), a_diagnosis())
    assert (second.advice, second.progress, second.diagnosis) == (None, None, None)
    assert [one.job.id for one in job_views(scheduler, store, OPERATOR, ["2", "9"])] == ["2"]


@pytest.mark.parametrize(("shown", "whole"), [("8_2", "8"), ("9+1", "9"), ("9", "9")])
def test_a_task_and_a_part_have_the_advice_of_the_whole(tmp_path, shown, whole):
    scheduler = FakeScheduler()
    scheduler.put(a_job(id=shown, state=JobState.PENDING))
    with closing(SqliteStore(tmp_path / "store.sqlite3", scheduler="slurm")) as store:
        store.keep_advice(whole, KeptAdvice(an_advice(7.0), None))
        held = Action(kind="hold", job_id=whole, attempt=0, why="it cannot succeed")
        store.intend(held, at=1.0)
        view = job_view(scheduler, store, OPERATOR, shown)
    assert (view.job.id, view.advice) == (shown, an_advice(7.0))
    done_to_all = "_" not in shown
    assert [one.action for one in view.actions] == [held] * done_to_all


def test_the_newest_diagnosis_counts():
    told = view(JobState.FAILED, diagnoses={0: a_diagnosis("killed"), 2: a_diagnosis("hang")})

    assert told.diagnosis.reason == "hang"


def test_a_job_that_the_scheduler_forgot_is_told_from_history(store):
    store.keep_run(a_past_run())

    assert job_view(FakeScheduler(), store, OPERATOR, "1").job == a_past_run().job
    with pytest.raises(NotFound, match="neither fake nor the history knows a job 2"):
        job_view(FakeScheduler(), store, OPERATOR, "2")


def test_without_a_daemon_the_log_of_a_running_job_is_read_at_once(store, tmp_path):
    log = tmp_path / "log"
    log.write_text("".join(f"step {n}/10 loss 0.5\n" for n in range(1, 5)))
    scheduler = FakeScheduler()
    job = a_job(state=JobState.RUNNING, logs=(str(log),), start_time=log.stat().st_mtime - 8)
    scheduler.put(job)

    progress = job_view(scheduler, store, OPERATOR, "1").progress

    assert (progress.current, progress.total) == (4, 10)


def test_what_was_said_of_the_time_left_grows_old():
    progress = a_progress(eta_s=Spread(10, 20, 30))
    told = replace(view(JobState.RUNNING, progress=progress), progress_at=NOW)
    assert told.remaining_s(NOW) == Spread(10, 20, 30)
    assert told.remaining_s(NOW + 5) == Spread(5, 15, 25)
    assert 0 < told.remaining_s(NOW + 15).p50 < told.remaining_s(NOW + 5).p50


def test_progress_left_behind_by_a_daemon_that_is_gone_is_read_anew(store, tmp_path):
    log = tmp_path / "log"
    log.write_text("step 7/10\n")
    running = a_job(state=JobState.RUNNING, start_time=time.time() - 500, logs=(str(log),))
    scheduler = FakeScheduler()
    scheduler.put(running)
    store.keep_progress("1", 0, a_progress(current=3.0), at=time.time() - 5)
    assert job_view(scheduler, store, OPERATOR, "1").progress.current == 3
    store.keep_progress("1", 0, a_progress(current=3.0), at=time.time() - 400)
    assert job_view(scheduler, store, OPERATOR, "1").progress.current == 7


def test_a_range_that_says_nothing_is_shown_as_unknown():
    assert expected_in_words(Spread(480, 600, 1200), duration) == "00:10:00 (00:08:00 to 00:20:00)"
    assert expected_in_words(Spread(8, 600, 6.6e7), duration).startswith("unknown")


@given(
    quantiles=st.lists(st.integers(0, 1_000_000), min_size=3, max_size=3).map(sorted),
    elapsed=st.integers(0, 2_000_000),
)
def test_what_is_left_of_a_prediction_is_never_nothing_and_never_nan(quantiles, elapsed):
    predicted = Spread(*quantiles)
    now = 1010.0 + elapsed
    advice = an_advice(60)
    advice = replace(advice, prediction=replace(advice.prediction, duration_s=predicted))
    job = a_job(state=JobState.RUNNING, start_time=1010.0)

    left = JobView(job=job, advice=advice, diagnoses={}).remaining_s(now)

    if elapsed >= predicted.p90 or predicted.too_wide:
        assert left is None
    elif left is not None:
        assert left.p50 >= predicted.p50 - elapsed - 1e-3 * predicted.p50
        assert math.isfinite(left.p90)


def test_what_a_waiting_job_will_fail_of_is_what_matters_most():
    remark = Remark(level="error", text="train.py is not there, so the job will fail at once")
    doomed = replace(view(JobState.PENDING), advice=an_advice(60.0, advice=(remark,)))
    assert queue_row(doomed, NOW, written).note == remark.text
    assert why_sentence(doomed, [], NOW, written).endswith(f"; {remark.text}")
    started = replace(doomed, job=a_job(state=JobState.RUNNING))
    assert queue_row(started, NOW, written).note != remark.text


@pytest.mark.parametrize(
    ("told", "note"),
    [
        (view(JobState.PENDING, dependency="afterok:7(unfulfilled)"), "waits for afterok:7(unf"),
        (view(JobState.PENDING, dependency="afterok:7(failed)"), "never starts: it waits for aft"),
        (view(JobState.PENDING, eligible_time=NOW + 7), "waits for its start time, in 7s"),
        (view(JobState.PENDING, held=True), "held"),
        (view(JobState.FAILED, exit_code=3), "exit code 3"),
        (view(JobState.FAILED, exit_code=0, signal=9), "SIGKILL"),
        (view(JobState.FAILED, exit_code=126, reason="no shell"), "exit code 126, no shell"),
        (view(JobState.FAILED, exit_code=3, diagnoses=KILLED), "killed: killed by signal 9"),
        (view(JobState.COMPLETED, exit_code=0), "by its looks"),
    ],
)
def test_a_row_names_what_a_job_waits_for_or_how_it_ended(told, note):
    """Rather than by what its duration was predicted."""
    advised = an_advice(60.0)
    prediction = replace(advised.prediction, explanation="by its looks")
    row = queue_row(replace(told, advice=replace(advised, prediction=prediction)), NOW, written)
    assert row.note.startswith(note)


def test_nobody_plans_by_less_than_a_second():
    advice = an_advice(60.0)
    short = replace(advice, prediction=replace(advice.prediction, duration_s=Spread(0.0, 0.0, 0.9)))
    waiting, running = (
        replace(view(state), advice=short) for state in (JobState.PENDING, JobState.RUNNING)
    )

    assert queue_row(waiting, NOW, written).predicted_s is None
    assert eta_sentence(waiting, NOW, written) == "job 1 waits; it will run less than a second"
    assert next(advice_lines(short, written)).startswith("expected to run less than a second: ")
    assert overdue_in_words(running, written).endswith("longer than predicted (less than a second)")


def set_back(nice, **parts):
    reason = DecisionReason(code="shorter_first", ordering="ssf", **parts)
    action = Action(
        kind="set_nice",
        job_id="1",
        attempt=0,
        why="ssf: same code",
        reason=reason,
        value=float(nice),
    )
    return (ActionRecord(action=action, state="done", at=1.0),)


@pytest.mark.parametrize(
    ("job", "actions", "objection", "words"),
    [
        (
            {"nice": 500},
            set_back(500),
            None,
            "; set back by 500 points of priority (ssf: same code)",
        ),
        (
            {"nice": 507, "nice_an_hour": 10.0},
            set_back(507, own_nice=7),
            "its comment has schedmate=off",
            (
                "; set back by 500 points of priority beyond its owner's own nice 7, which "
                "180000s of waiting make up for (ssf: same code); SchedMate changes nothing else "
                "about it: its comment has schedmate=off"
            ),
        ),
        ({"nice": 3}, set_back(500), None, ""),
        ({"nice": 0}, set_back(0), None, ""),
    ],
)
def test_why_tells_by_how_much_a_job_was_set_back(job, actions, objection, words):
    told = JobView(job=a_job(**job), diagnoses={}, actions=actions)
    sentence = why_sentence(told, [], NOW, written, objection=objection)
    assert sentence == f"job 1 is next: no job runs or waits before it{words}"


@pytest.mark.parametrize(
    ("late_s", "words"),
    [
        (None, ""),
        (59.0, "; so far it is not later because of SchedMate"),
        (5400.0, "; so far about 5400s later because of SchedMate"),
    ],
)
@pytest.mark.parametrize("nice", [0, 500])
def test_why_always_tells_by_how_much_a_job_is_later(late_s, words, nice):
    told = JobView(job=a_job(nice=nice), diagnoses={}, actions=set_back(nice), late_s=late_s)
    assert why_sentence(told, [], NOW, written).partition("; so far")[2] == words[8:]


@pytest.mark.parametrize("silent_s", [5.0, 20.0, 40.0])
def test_past_its_prediction_the_end_of_a_job_is_unknown(silent_s):
    """Also where the last look at its log, then still in time, is some seconds ago."""
    job = a_job(state=JobState.RUNNING, start_time=1000.0)
    advice = an_advice()
    prediction = replace(advice.prediction, duration_s=Spread(7.0, 8.0, 9.0))
    progress = a_progress(
        fraction=0.99, fraction_of="time", eta_s=Spread(0.1, 0.4, 1.0), total=None
    )
    view = JobView(
        job=job,
        advice=replace(advice, prediction=prediction),
        progress=progress,
        progress_at=1008.5,
        diagnoses={},
    )
    now = 1008.5 + silent_s
    row = queue_row(view, now, str)

    assert view.remaining_s(1008.52).p50 > 0.0
    assert (row.left_s, row.fraction) == (None, None)
    assert row.note == "runs for longer than predicted (9.0)"
    assert eta_sentence(view, now, str) == (
        "job 1 runs for longer than predicted (9.0); its end is not known"
    )
    assert why_sentence(view, [], now, str).endswith("; it runs for longer than predicted (9.0)")


def test_an_end_that_a_log_announced_and_that_is_past_is_unknown():
    job = a_job(state=JobState.RUNNING, start_time=1000.0)
    progress = a_progress(eta_s=Spread(10.0, 12.0, 15.0))
    view = JobView(job=job, progress=progress, progress_at=1100.0, diagnoses={})

    assert view.remaining_s(1105.0) == Spread(5.0, 7.0, 10.0)
    assert 0.0 < view.remaining_s(1113.0).p50 < 3.0
    assert view.remaining_s(1120.0) is None
    assert "past the end that its log announced" in eta_sentence(view, 1120.0, str)


def test_a_run_that_fell_silent_does_not_end_when_others_did():
    """`step 240/400`, and then it waits for a child: by its pace it would be over."""
    job = a_job(state=JobState.RUNNING, start_time=1000.0)
    silent = a_progress(fraction=0.6, rate_per_s=4.0, eta_s=None, ends_by="total")
    view = JobView(
        job=job, advice=an_advice(200.0), progress=silent, progress_at=1150.0, diagnoses={}
    )
    assert view.remaining_s(1150.0) is None
    assert eta_sentence(view, 1150.0, str).endswith("it would be over, so its end is not known")
    for counting in ({"rate_per_s": None}, {"fraction": None}, {"ends_by": "cap"}):
        other = replace(view, progress=replace(silent, **counting))
        assert other.remaining_s(1150.0) is not None, counting


def test_no_file_of_an_opted_out_job_is_read_to_say_why_it_failed(tmp_path):
    (tmp_path / "log").write_text("RuntimeError: CUDA error: uncorrectable ECC error\n")
    scheduler = FakeScheduler()
    parts = {"state": JobState.FAILED, "logs": (str(tmp_path / "log"),), "exit_code": 1}
    scheduler.put(a_job(id="1", comment="schedmate=off", **parts))
    scheduler.put(a_job(id="2", **parts))
    with closing(SqliteStore(tmp_path / "store")) as store:
        hidden, read = (job_view(scheduler, store, OPERATOR, one) for one in "12")
    assert (hidden.diagnoses, read.diagnoses[0].reason) == ({}, "gpu_ecc")


def test_the_run_that_a_scheduler_has_queued_again_by_itself_is_named(tmp_path):
    scheduler = FakeScheduler()
    scheduler.put(a_job(state=JobState.RUNNING, restarts=1))
    with closing(SqliteStore(tmp_path / "store")) as store:
        job = a_job(state=JobState.NODE_FAIL, nodes=("node7",))
        store.keep_run(replace(a_past_run(), job=job))
        told = why_sentence(job_view(scheduler, store, OPERATOR, "1"), [], NOW, written)
    assert "the attempt before ended in NODE_FAIL after 60s on node7" in told
