"""No more actions in an hour than the site allows, across restarts."""

from __future__ import annotations

from contextlib import closing

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedmate.model import Action, JobState
from schedmate.service.actions import Actions
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler

HOUR = 3600.0


def failed_jobs(number):
    scheduler = FakeScheduler()
    for job_id in range(number):
        scheduler.put(a_job(id=str(job_id), state=JobState.FAILED))
    return scheduler


def requeue(job_id):
    return Action(kind="requeue", job_id=job_id, attempt=0, why="")


def test_requeues_beyond_the_bound_wait_for_the_next_hour(store):
    scheduler = failed_jobs(5)
    actions = Actions(scheduler, store, "act", an_hour=2)
    for job_id in scheduler.known:
        actions.carry_out(requeue(job_id), 1000.0)
    actions.finish_interrupted(1001.0)
    assert len(scheduler.calls) == 2

    again = Actions(scheduler, store, "act", an_hour=2)  # a daemon that has just started
    again.finish_interrupted(1002.0)
    assert len(scheduler.calls) == 2
    again.finish_interrupted(1000.0 + HOUR + 2)
    assert len(scheduler.calls) == 4


def test_a_hold_beyond_the_bound_is_not_made_up_for_later(store):
    scheduler = FakeScheduler()
    for job_id in ("1", "2"):
        scheduler.put(a_job(id=job_id))
    actions = Actions(scheduler, store, "act", an_hour=1)
    for job_id in ("1", "2"):
        hold = Action(kind="hold", job_id=job_id, attempt=0, why="")
        actions.carry_out(hold, 1000.0)
    actions.finish_interrupted(1000.0 + 2 * HOUR)
    assert scheduler.calls == [("hold", "1")]
    assert store.actions(job_id="2")[0].note == "the bound of 1 actions an hour is reached"


def test_nice_numbers_are_no_such_actions(store):
    scheduler = FakeScheduler()
    actions = Actions(scheduler, store, "act", an_hour=1)
    for job_id in ("1", "2", "3"):
        scheduler.put(a_job(id=job_id))
        nice = Action(kind="set_nice", job_id=job_id, attempt=0, why="", value=3.0)
        actions.carry_out(nice, 1000.0)
    assert len(scheduler.calls) == 3


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.floats(1.0, 2000.0), st.booleans()), min_size=1, max_size=12),
)
def test_no_hour_has_more_actions_than_allowed(tmp_path_factory, most, looks):
    path = tmp_path_factory.mktemp("bound") / "store"
    with closing(SqliteStore(path)) as store:
        scheduler = failed_jobs(len(looks))
        actions = Actions(scheduler, store, "act", an_hour=most)
        now, times = 10_000.0, []
        for number, (pause, restarts) in enumerate(looks):
            now += pause
            if restarts:
                actions = Actions(scheduler, store, "act", an_hour=most)
            before = len(scheduler.calls)
            actions.carry_out(requeue(str(number)), now)
            actions.finish_interrupted(now)
            times += [now] * (len(scheduler.calls) - before)
        for at in times:
            assert sum(at <= other < at + HOUR for other in times) <= most
