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
from schedmate.policies import Candidate, nice_of, ordering
from schedmate.testing.builders import a_job, a_prediction, an_advice

MOST = 1000
MIDDLE, PLACE = -500, -164
"""Of a job that was not read yet, and of one that may take two days."""


def record(value, state="done", **parts):
    parts = {"kind": "set_nice", "job_id": "1", "attempt": 0, "why": "", **parts}
    return ActionRecord(action=Action(value=value, **parts), state=state, at=0.0)


def ours(value, state="done", **parts):
    """A number that was given where all jobs are ordered."""
    reason = DecisionReason(code="shorter_first", lift=MOST, **parts.pop("reason", {}))
    return record(value, state, reason=reason, **parts)


def wanted(engine, event):
    return [one.action.value for one in engine.handle(event) if isinstance(one, Act)]


LEAVES_SOME = DecisionLimits(scope=Scope(exclude_users=frozenset({"somebody else"})))


def met(job, *records):
    """What a fresh engine wants for a job it meets, before and after it was read."""
    engine = DecisionEngine(ordering("sjf"))
    seen = JobSeen(0.0, job, Past(nice=NiceHistory.of(records, job.restarts)))
    return wanted(engine, seen), wanted(engine, JobAdvised(1.0, job.id, an_advice(86400.0)))


def waiting(**parts):
    return a_job(**{"most_nice": MOST, **parts})


def test_a_job_gets_the_middle_at_once_and_its_place_when_it_was_read():
    assert met(waiting()) == ([MIDDLE], [PLACE])


@pytest.mark.parametrize("nice", [1, 500])
def test_ours_is_added_to_the_owners_own_number(nice):
    both = [nice + MIDDLE], [nice + PLACE]
    assert met(waiting(nice=nice)) == both
    assert met(waiting(nice=nice), record(44, "observed")) == both


def test_a_job_that_was_not_seen_yet_stands_behind_all_that_were():
    assert nice_of(ordering("sjf"), Candidate(waiting(), a_prediction(1e9)), MOST) - MOST == 0
    assert all(number < 0 for number in (MIDDLE, PLACE))


def test_where_some_jobs_are_left_alone_the_others_do_not_stand_before_them():
    engine = DecisionEngine(ordering("sjf"), LEAVES_SOME)
    assert wanted(engine, JobSeen(0.0, waiting(nice=7))) == [7 + MOST + MIDDLE]
    assert wanted(engine, JobAdvised(1.0, "1", an_advice(86400.0))) == [7 + MOST + PLACE]


def test_another_setting_of_that_places_all_of_them_again():
    for limits, others, lift in ((LEAVES_SOME, None, 0), (None, LEAVES_SOME, MOST)):
        reason = DecisionReason(code="shorter_first", lift=MOST - lift)
        done = record(PLACE + lift, reason=reason)
        past = Past(nice=NiceHistory.of([done], 0), advice=an_advice(86400.0))
        job = waiting(nice=PLACE + lift)
        assert wanted(DecisionEngine(ordering("sjf"), others), JobSeen(0.0, job, past)) == []
        [number] = wanted(DecisionEngine(ordering("sjf"), limits), JobSeen(0.0, job, past))
        assert number == PLACE + MOST - lift


def test_a_number_below_zero_that_is_not_ours_is_left_alone():
    """An operator's, or what `scontrol top` made of it."""
    assert met(waiting(nice=-3)) == ([], [])
    assert met(waiting(nice=-3), ours(-500)) == ([], [])


def test_the_owners_own_number_leaves_less_room():
    """However large it is, the priority does not sink to the floor because of us."""
    engine = DecisionEngine(ordering("sjf"), LEAVES_SOME)
    job = waiting(nice=400, priority=2000, most_nice=1000)
    assert wanted(engine, JobSeen(0.0, job)) == [400 + 500]
    job = waiting(nice=400, priority=600, most_nice=1000)
    assert wanted(DecisionEngine(ordering("sjf"), LEAVES_SOME), JobSeen(0.0, job)) == [400 + 298]


def test_below_zero_there_is_room_at_every_priority():
    assert met(waiting(priority=1)) == ([MIDDLE], [PLACE])


def test_a_number_that_its_owner_sets_after_ours_is_kept_and_ours_added_again():
    middle = ours(MIDDLE, provisional=True)
    assert met(waiting(nice=MIDDLE), middle) == ([], [PLACE])
    assert met(waiting(nice=0), middle) == ([], [PLACE])
    assert met(waiting(nice=300), middle) == ([], [300 + PLACE])


def seen(engine, nice, at=2.0):
    return acts(engine, waiting(nice=nice), at)


def acts(engine, job, at):
    return [one.action for one in engine.handle(JobSeen(at, job)) if is_act(one)]


def is_act(one):
    return isinstance(one, Act)


def an_ordered_job():
    engine = DecisionEngine(ordering("sjf"))
    engine.handle(JobSeen(0.0, waiting()))
    assert wanted(engine, JobAdvised(1.0, "1", an_advice(86400.0))) == [PLACE]
    assert seen(engine, PLACE) == []
    return engine


def test_each_change_of_its_owner_is_answered_once():
    engine = an_ordered_job()
    keys, at = [], 2.0
    for change in (0, 7, 0):
        assert seen(engine, change, at) == [], "`scontrol top` may have raised it"
        known = engine.known["1"]
        assert not known.is_quiet(known.job, at + 1)
        [answer] = seen(engine, change, at + 1)
        assert (answer.value, answer.reason.code) == (change + PLACE, "owner_changed")
        assert answer.reason.own_nice == change
        keys.append(answer.key)
        assert seen(engine, change, at + 2) == [], "what was asked for is not asked for again"
        assert seen(engine, change + PLACE, at + 3) == []
        at += 10
    assert len(set(keys)) == 3, "the same number again is another action"


def test_a_number_that_an_operator_sets_below_zero_stays():
    for number in (PLACE - 40, PLACE + 40):
        engine = an_ordered_job()
        for at in (2.0, 32.0, 62.0):
            assert seen(engine, number, at) == []
        assert seen(engine, 0, at=90.0) == []
        assert [one.value for one in seen(engine, 0, at=120.0)] == [PLACE]


def test_a_daemon_that_lives_for_one_look_answers_a_raised_number_too():
    """All jobs were seen before one is read: whether `scontrol top` raised it is known by then."""
    assert met(waiting(nice=1000), ours(PLACE)) == ([], [1000 + PLACE])


@pytest.mark.parametrize("by", [1, 400])
def test_numbers_that_scontrol_top_raised_stay(by):
    """It moves a job before all others of its owner, by raising those."""
    engine = DecisionEngine(ordering("sjf"))
    for job_id in "12":
        engine.handle(JobSeen(0.0, waiting(id=job_id, user=job_id)))
        engine.handle(JobAdvised(1.0, job_id, an_advice(86400.0)))
    for at, nice in ((2.0, PLACE), (32.0, PLACE + by), (62.0, PLACE + by), (92.0, PLACE + by)):
        for job_id in "12":
            job = waiting(id=job_id, nice=nice)
            assert wanted(engine, JobSeen(at, job)) == []


def test_a_restarted_daemon_knows_both_numbers():
    changed = {"own_nice": 7, "own_changes": 2}
    history = NiceHistory.of([ours(-300), ours(7 + PLACE, reason=changed)], 0)
    assert (history.theirs, history.ours, history.lift, history.changes) == (7, PLACE, MOST, 2)
    engine = DecisionEngine(ordering("sjf"))
    past = Past(nice=history)
    assert wanted(engine, JobSeen(0.0, waiting(nice=7 + PLACE), past)) == []
    assert seen(engine, 0) == []
    [answer] = seen(engine, 0, at=3.0)
    assert (answer.value, answer.reason.own_changes) == (PLACE, 3)


def test_a_number_that_the_submit_hook_gave_is_not_its_owners():
    limits = DecisionLimits(nice_at_submission=500)
    for shown, place in ((500, PLACE), (507, PLACE + 7), (0, PLACE), (3, PLACE + 3)):
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
    for nice in (0, MIDDLE):
        asked = ours(MIDDLE, "intended", provisional=True)
        assert met(waiting(nice=nice), asked) == ([], [PLACE])


def test_a_job_that_has_its_place_keeps_it():
    """Whatever is predicted of it now."""
    assert met(waiting(nice=-300), ours(-300)) == ([], [])


def test_a_job_that_was_refused_is_not_asked_for_again_in_this_attempt():
    assert met(waiting(), ours(MIDDLE, "failed")) == ([], [])
    assert met(waiting(restarts=1), ours(MIDDLE, "failed")) == ([MIDDLE], [PLACE])


def test_a_number_that_was_only_asked_for_is_not_taken_for_one_that_was_set():
    """A pause, or a scheduler that does not answer: its own number is not its owner's act."""
    engine = DecisionEngine(ordering("sjf"))
    assert [one.value for one in seen(engine, 0, at=0.0)] == [MIDDLE]
    assert wanted(engine, JobAdvised(1.0, "1", an_advice(86400.0))) == [PLACE]
    for at in (2.0, 3.0):
        assert seen(engine, 0, at=at) == []
    assert seen(engine, PLACE, at=4.0) == []
    assert seen(engine, 0, at=5.0) == []
    [answer] = seen(engine, 0, at=6.0)
    assert (answer.reason.code, answer.reason.own_changes) == ("owner_changed", 1)


def test_a_number_that_could_not_be_set_is_asked_for_again_in_the_next_attempt():
    engine = DecisionEngine(ordering("sjf"))
    seen(engine, 0, at=0.0)
    engine.handle(JobAdvised(1.0, "1", an_advice(86400.0)))
    failed = waiting(state=JobState.FAILED, start_time=1.0, end_time=2.0)
    engine.handle(JobSeen(3.0, failed))
    [again] = acts(engine, waiting(restarts=1), at=4.0)
    assert (again.value, again.reason.code) == (PLACE, "shorter_first")
    assert (again.reason.own_nice, again.reason.own_changes) == (0, 0)
    assert acts(engine, waiting(restarts=1), at=5.0) == [], "once"


def test_a_held_job_gets_its_place_when_it_is_released():
    engine = DecisionEngine(ordering("sjf"))
    assert wanted(engine, JobSeen(0.0, waiting(most_nice=None))) == []
    assert wanted(engine, JobAdvised(1.0, "1", an_advice(86400.0))) == []
    assert wanted(engine, JobSeen(2.0, waiting())) == [PLACE]
    assert wanted(engine, JobSeen(3.0, waiting(nice=PLACE))) == []


def test_the_last_place_is_asked_for_although_the_job_showed_it_before():
    engine = DecisionEngine(ordering("sjf"))
    assert wanted(engine, JobSeen(0.0, waiting())) == [MIDDLE]
    assert wanted(engine, JobAdvised(1.0, "1", an_advice(1e9))) == [0]
