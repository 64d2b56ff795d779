"""What is old goes in small steps; what is still needed stays."""

from __future__ import annotations

import hashlib
from contextlib import closing
from dataclasses import replace

import pytest

from schedmate.model import Action, Evidence, Finding, JobState
from schedmate.store import Keep, KeptAdvice, KeptEvent
from schedmate.store.postgres import PostgresStore
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job, a_past_run, a_progress, an_advice

DAY = 86_400.0
NOW = 1_000 * DAY
KEEP = Keep(days=100, bytes=1e12, step=10)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.processes)])
def store(request, tmp_path):
    if request.param == "sqlite":
        made = SqliteStore(tmp_path / "store.sqlite3")
    else:
        name = "r" + hashlib.sha256(str(tmp_path).encode()).hexdigest()[:16]
        made = PostgresStore(request.getfixturevalue("postgres").database(name))
    with closing(made) as opened:
        yield opened


def a_life(store, job_id, ended_at, *, remembered=True):
    """All that is written down about one job."""
    job = a_job(id=job_id, state=JobState.FAILED, end_time=ended_at)
    store.keep_advice(job_id, KeptAdvice(an_advice(60.0), None))
    store.keep_progress(job_id, 0, a_progress(), at=ended_at)
    action = Action(kind="requeue", job_id=job_id, attempt=0, why="x")
    store.intend(action, at=ended_at)
    store.settle(action, "done", at=ended_at)
    events = [KeptEvent(at=ended_at, kind="JobSeen", job_id=job_id, body="{}")]
    store.keep_events(events, most=10**6)
    if remembered:
        store.keep_run(a_past_run(job=job))


def drop_all(store, keep=KEEP, listed=()):
    steps = 0
    while store.drop_old(keep, head="Started", listed=listed, now=NOW):
        steps += 1
        assert steps < 1000, "it never ends"
    return steps


def known(store, job_id):
    return [
        store.advice(job_id) is not None,
        store.progress(job_id, 0) is not None,
        bool(store.actions(job_id=job_id)),
        any(one.job_id == job_id for one in store.events()),
        store.run(job_id) is not None,
    ]


def test_what_was_over_long_ago_goes_and_its_run_stays(store):
    a_life(store, "lost", NOW - 400 * DAY, remembered=False)
    a_life(store, "old", NOW - 300 * DAY)
    a_life(store, "new", NOW - 3 * DAY)

    drop_all(store)

    assert known(store, "old") == [False, False, False, False, True]
    assert known(store, "lost") == [False] * 5, "also where no end was seen"
    assert known(store, "new") == [True] * 5


def test_a_job_that_the_scheduler_lists_keeps_what_was_done_to_it(store):
    for job_id in ("listed", "gone"):
        a_life(store, job_id, NOW - 300 * DAY)

    drop_all(store, listed={"listed"})

    assert known(store, "listed") == [True, True, True, False, True]
    assert known(store, "gone")[:3] == [False] * 3


def test_an_action_under_way_and_an_event_that_waits_stay(store):
    store.intend(Action(kind="requeue", job_id="1", attempt=0, why="x"), at=NOW - 500 * DAY)
    waiting = [KeptEvent(at=NOW - 500 * DAY, kind="JobDiagnosed", job_id="1", body="{}")]
    store.keep_events(waiting, most=10**6, handled=False)

    drop_all(store)

    assert len(store.actions()) == 1
    assert len(store.unhandled_events()) == 1


def test_the_newest_start_stays_because_the_rest_depends_on_it(store):
    starts = [KeptEvent(at=at * DAY, kind="Started", job_id="", body="{}") for at in (1, 2)]
    store.keep_events(starts, most=10**6)

    drop_all(store)

    assert [one.at for one in store.events()] == [2 * DAY]


def test_a_step_is_small(store):
    for number in range(35):
        a_life(store, str(number), NOW - 300 * DAY)

    before = len(store.events())
    store.drop_old(KEEP, head="Started", listed=(), now=NOW)

    assert before - len(store.events()) == KEEP.step
    assert drop_all(store) == 2, "ten, ten and the last five"


def test_an_old_run_is_kept_in_short_and_means_the_same(store, tmp_path):
    line = Evidence(file="train.py", line=3, text="x" * 500)
    run = a_past_run(job=a_job(id="1", state=JobState.COMPLETED, end_time=NOW - 300 * DAY))
    epochs = Finding(value=3, source="code", evidence=(line,))
    run = replace(run, workload=replace(run.workload, epochs=epochs))
    store.keep_run(run)
    store.keep_run(replace(run, job=replace(run.job, id="2", end_time=NOW - DAY)))

    drop_all(store)

    short = store.run("1")
    without = replace(run.workload, epochs=replace(epochs, evidence=()))
    assert short == replace(run, workload=without)
    assert store.run("2").workload.epochs == epochs
    sizes = dict(store._db.rows("SELECT job_id, length(body) FROM runs"))
    assert sizes["1"] < sizes["2"] / 2
    assert drop_all(store) == 0


def test_a_store_that_is_too_large_loses_its_oldest_and_keeps_the_last_week(store):
    for number in range(120):
        a_life(store, f"old{number}", NOW - 90 * DAY - number)
    a_life(store, "new", NOW - DAY)
    before = store.used_bytes()

    drop_all(store, Keep(days=100, bytes=before / 2, step=10))

    assert before / 8 < store.used_bytes() <= before / 2
    assert store.sizes()["runs"] > 1, "no more was dropped than it takes"
    assert known(store, "new")[:3] == [True] * 3
    assert store.sketches([1]) is not None


def look_and_drop(store, keep, *, looks, events, now=NOW):
    """A queue that moves: each look writes events before a step of retention."""
    for look in range(looks):
        at = now - keep.days * DAY - 1 if keep is KEEP else now + look
        seen = [KeptEvent(at=at, kind="JobSeen", job_id="moving", body="{}" * 200)] * events
        store.keep_events(seen, most=10**6)
        store.drop_old(keep, head="Started", listed=(), now=now)


@pytest.mark.parametrize("events", [3, 25], ids=["few events", "more than a batch"])
def test_a_store_that_is_too_large_is_met_where_the_queue_moves(store, events):
    for number in range(120):
        a_life(store, f"old{number}", NOW - 90 * DAY - number)
    a_life(store, "new", NOW - DAY)
    store.keep_events([KeptEvent(at=NOW, kind="Started", job_id="", body="{}")], most=10**6)
    keep = Keep(days=100, bytes=store.used_bytes() / 2, step=10)

    look_and_drop(store, keep, looks=60, events=events)

    assert store.used_bytes() <= keep.bytes
    assert store.sizes()["advice"] < 121, "what is known of ended jobs goes as well"
    assert known(store, "new")[:3] == [True] * 3
    kept = store.events()
    assert kept[-1].at == NOW + 59, "the newest events stay"
    assert len(kept) > 10
    assert "Started" in {one.kind for one in kept}


def test_of_a_store_that_is_too_large_runs_go_last(store):
    for number in range(150):
        a_life(store, f"old{number}", NOW - 90 * DAY - number)
    whole = store.used_bytes()
    keep = Keep(days=100, bytes=whole * 0.85, step=10)

    look_and_drop(store, keep, looks=40, events=2)

    assert store.used_bytes() <= keep.bytes
    assert store.sizes()["runs"] == 150, "nothing but events, decisions and facts had to go"


def test_events_of_age_do_not_keep_the_rest_from_going(store):
    for number in range(30):
        a_life(store, f"old{number}", NOW - 300 * DAY)

    look_and_drop(store, KEEP, looks=8, events=1)

    assert known(store, "old0") == known(store, "old29") == [False, False, False, False, True]
