"""Whose number a job has, and which one it gets."""

from __future__ import annotations

import pytest

from schedmate.core import (
    Act,
    DecisionEngine,
    DecisionLimits,
    JobAdvised,
    JobSeen,
    NiceHistory,
    Past,
    Scope,
)
from schedmate.model import Action, ActionRecord, DecisionReason, JobState
from schedmate.policies import ordering
from schedmate.testing.builders import a_job, an_advice

MOST = 1000


def record(value, state="done", **parts):
    parts = {"kind": "set_nice", "job_id": "1", "attempt": 0, "why": "", **parts}
    return ActionRecord(action=Action(value=value, **parts), state=state, at=0.0)


def wanted(engine, event):
    return [one.action.value for one in engine.handle(event) if isinstance(one, Act)]


def met(job, *records):
    """What a fresh engine wants for a job it meets, before and after it was read."""
    engine = DecisionEngine(ordering("sjf"))
    seen = JobSeen(0.0, job, Past(nice=NiceHistory.of(records, job.restarts)))
    return wanted(engine, seen), wanted(engine, JobAdvised(1.0, job.id, an_advice(86400.0)))


def waiting(**parts):
    return a_job(**{"most_nice": MOST, **parts})


def test_a_job_gets_the_middle_at_once_and_its_place_when_it_was_read():
    assert met(waiting()) == ([500], [745])


@pytest.mark.parametrize("nice", [1, 500])
def test_ours_is_added_to_the_owners_own_number(nice):
    assert met(waiting(nice=nice)) == ([nice + 500], [nice + 745])
    assert met(waiting(nice=nice), record(44, "observed")) == ([nice + 500], [nice + 745])


def test_a_number_below_zero_that_is_not_ours_is_left_alone():
    """An operator's, or what `scontrol top` made of it."""
    assert met(waiting(nice=-3)) == ([], [])
    assert met(waiting(nice=-3), record(500)) == ([], [])


def test_the_owners_own_number_leaves_less_room():
    """However large it is, the priority does not sink to the floor because of us."""
    job = waiting(nice=400, priority=1000, most_nice=1000)
    assert met(job) == ([400 + 499], [400 + 744])


def test_a_number_that_its_owner_sets_after_ours_is_kept_and_ours_added_again():
    ours = record(500, provisional=True)
    assert met(waiting(nice=500), ours) == ([], [745])
    assert met(waiting(nice=0), ours) == ([500], [745])
    assert met(waiting(nice=300), ours) == ([800], [1045])


def seen(engine, nice, at=2.0):
    return acts(engine, waiting(nice=nice), at)


def acts(engine, job, at):
    return [one.action for one in engine.handle(JobSeen(at, job)) if is_act(one)]


def is_act(one):
    return isinstance(one, Act)


def an_ordered_job():
    engine = DecisionEngine(ordering("sjf"))
    engine.handle(JobSeen(0.0, waiting()))
    assert wanted(engine, JobAdvised(1.0, "1", an_advice(86400.0))) == [745]
    assert seen(engine, 745) == []
    return engine


def test_each_change_of_its_owner_is_answered_once():
    engine = an_ordered_job()
    keys = []
    for change in (0, 7, 0):
        [answer] = seen(engine, change)
        assert (answer.value, answer.reason.code) == (change + 745, "owner_changed")
        assert answer.reason.own_nice == change
        keys.append(answer.key)
        assert seen(engine, change) == [], "what was asked for is not asked for again"
        assert seen(engine, change + 745) == []
    assert len(set(keys)) == 3, "the same number again is another action"


def test_what_scontrol_top_makes_of_it_is_left_until_its_owner_sets_another():
    engine = an_ordered_job()
    assert seen(engine, -40) == []
    assert seen(engine, -40, at=90.0) == []
    assert [one.value for one in seen(engine, 0)] == [745]


def test_a_number_that_its_owner_raised_is_answered_a_look_later():
    engine = an_ordered_job()
    assert seen(engine, 1000) == []
    known = engine.known["1"]
    assert not known.is_quiet(known.job, 90.0)
    [answer] = seen(engine, 1000, at=90.0)
    assert (answer.value, answer.reason.own_nice) == (1745, 1000)
    assert seen(engine, 1745, at=120.0) == []


def test_a_daemon_that_lives_for_one_look_answers_a_raised_number_too():
    """All jobs were seen before one is read: whether `scontrol top` raised it is known by then."""
    assert met(waiting(nice=1000), record(745)) == ([], [1745])


def test_numbers_that_scontrol_top_raised_stay():
    """It moves a job before all others of its owner, by raising those."""
    engine = DecisionEngine(ordering("sjf"))
    for job_id in "12":
        engine.handle(JobSeen(0.0, waiting(id=job_id)))
        engine.handle(JobAdvised(1.0, job_id, an_advice(86400.0)))
    for at, nice in ((2.0, 745), (32.0, 746), (62.0, 746), (92.0, 746)):
        for job_id in "12":
            assert wanted(engine, JobSeen(at, waiting(id=job_id, nice=nice))) == []
    assert [one.value for one in seen(engine, 5, at=122.0)] == [750]


def test_a_restarted_daemon_knows_both_numbers():
    reason = DecisionReason(code="owner_changed", own_nice=7, own_changes=2)
    history = NiceHistory.of([record(300), record(752, reason=reason)], 0)
    assert (history.theirs, history.setback, history.changes) == (7, 745, 2)
    engine = DecisionEngine(ordering("sjf"))
    past = Past(nice=history)
    assert wanted(engine, JobSeen(0.0, waiting(nice=752), past)) == []
    [answer] = seen(engine, 0)
    assert (answer.value, answer.reason.own_changes) == (745, 3)


def test_a_number_that_the_submit_hook_gave_is_not_its_owners():
    limits = DecisionLimits(nice_at_submission=500)
    for shown, place in ((500, 745), (507, 752), (0, 745), (3, 748)):
        engine = DecisionEngine(ordering("sjf"), limits)
        engine.handle(JobSeen(0.0, waiting(nice=shown)))
        assert wanted(engine, JobAdvised(1.0, "1", an_advice(86400.0))) == [place]


def test_a_number_of_the_submit_hook_is_taken_back_where_the_site_orders_nothing():
    limits = DecisionLimits(
        nice_at_submission=500, scope=Scope(exclude_users=frozenset({waiting().user}))
    )
    engine = DecisionEngine(ordering("sjf"), limits)
    assert wanted(engine, JobSeen(0.0, waiting(nice=507))) == [7]


def test_what_may_or_may_not_have_been_written_is_ours_either_way():
    for nice in (0, 500):
        assert met(waiting(nice=nice), record(500, "intended", provisional=True)) == ([], [745])


def test_a_job_that_has_its_place_keeps_it():
    """Its priority has grown since, which must not set it back further."""
    assert met(waiting(nice=700, most_nice=2000), record(700)) == ([], [])


def test_a_job_that_was_refused_is_not_asked_for_again_in_this_attempt():
    assert met(waiting(), record(500, "failed")) == ([], [])
    assert met(waiting(restarts=1), record(500, "failed")) == ([500], [745])


def test_a_number_that_was_only_asked_for_is_not_taken_for_one_that_was_set():
    """A pause, or a scheduler that does not answer: its own number is not its owner's act."""
    engine = DecisionEngine(ordering("sjf"))
    assert [one.value for one in seen(engine, 0, at=0.0)] == [500]
    assert wanted(engine, JobAdvised(1.0, "1", an_advice(86400.0))) == [745]
    for at in (2.0, 3.0):
        assert seen(engine, 0, at=at) == []
    assert seen(engine, 745, at=4.0) == []
    [answer] = seen(engine, 0, at=5.0)
    assert (answer.reason.code, answer.reason.own_changes) == ("owner_changed", 1)


def test_a_number_that_could_not_be_set_is_asked_for_again_in_the_next_attempt():
    engine = DecisionEngine(ordering("sjf"))
    seen(engine, 0, at=0.0)
    engine.handle(JobAdvised(1.0, "1", an_advice(86400.0)))
    failed = waiting(state=JobState.FAILED, start_time=1.0, end_time=2.0)
    engine.handle(JobSeen(3.0, failed))
    [again] = acts(engine, waiting(restarts=1), at=4.0)
    assert (again.value, again.reason.code) == (745, "shorter_first")
    assert (again.reason.own_nice, again.reason.own_changes) == (0, 0)
    assert acts(engine, waiting(restarts=1), at=5.0) == [], "once"


def test_a_held_job_gets_its_place_when_it_is_released():
    engine = DecisionEngine(ordering("sjf"))
    assert wanted(engine, JobSeen(0.0, waiting(most_nice=None))) == []
    assert wanted(engine, JobAdvised(1.0, "1", an_advice(86400.0))) == []
    assert wanted(engine, JobSeen(2.0, waiting())) == [745]
    assert wanted(engine, JobSeen(3.0, waiting(nice=745))) == []
