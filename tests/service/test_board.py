"""What those who look on see of the daemon's looks."""

from __future__ import annotations

import gc
from contextlib import closing
from dataclasses import replace
from weakref import ref

import pytest

from schedmate.model import Action, JobState
from schedmate.service.records.listed_jobs import ListedJobs
from schedmate.service.views.board import Board
from schedmate.service.views.queue_order import queue_place
from schedmate.store import KeptAdvice
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_diagnosis, a_job, a_progress, an_advice


def test_only_what_changed_is_read_again(store):
    listed, board = ListedJobs(store), Board(store)
    jobs = [a_job(id="1"), a_job(id="2")]
    listed.keep(jobs)
    assert sorted(board.refresh()) == ["1", "2"]
    listed.keep(jobs)
    assert board.refresh() == []
    listed.keep([replace(jobs[0], nice=7), jobs[1]])
    assert board.refresh() == ["1"]
    assert board.view("1").job.nice == 7


def test_a_job_that_is_no_longer_listed_leaves_the_board(store):
    listed, board = ListedJobs(store), Board(store)
    listed.keep([a_job(id="1"), a_job(id="2")])
    board.refresh()
    listed.keep([a_job(id="2")])
    assert board.refresh() == ["1"]
    assert [view.job.id for view in board.views()] == ["2"]


@pytest.mark.parametrize("what", ["advice", "progress", "diagnosis", "intent", "outcome"])
def test_whatever_becomes_known_is_a_change(store, what):
    board, action = Board(store), Action(kind="hold", job_id="1", attempt=0, why="")
    ListedJobs(store).keep([a_job(id="1")])
    if what == "outcome":
        store.intend(action, at=1.0)
    board.refresh()
    match what:
        case "advice":
            store.keep_advice("1", KeptAdvice(an_advice(), None))
        case "progress":
            store.keep_progress("1", 0, a_progress(), at=1.0)
        case "diagnosis":
            store.keep_diagnosis("1", 0, a_diagnosis())
        case "intent":
            store.intend(action, at=1.0)
        case "outcome":
            store.settle(action, "done", at=2.0)
    assert board.refresh() == ["1"]


def test_an_action_that_is_known_already_is_no_change(store):
    board, action = Board(store), Action(kind="hold", job_id="1", attempt=0, why="")
    store.intend(action, at=1.0)
    board.refresh()
    assert not store.intend(action, at=2.0)
    assert board.refresh() == []


def test_after_a_restart_only_the_difference_is_written(store):
    ListedJobs(store).keep([a_job(id="1"), a_job(id="2")])
    board = Board(store)
    board.refresh()
    ListedJobs(store).keep([a_job(id="2"), a_job(id="3")])
    assert sorted(board.refresh()) == ["1", "3"]


def test_the_queue_is_sorted_once_between_two_changes(store, monkeypatch):
    sorted_by = []

    def counted(job):
        sorted_by.append(job.id)
        return queue_place(job)

    monkeypatch.setattr("schedmate.service.views.board.queue_place", counted)
    listed, board = ListedJobs(store), Board(store)
    jobs = [a_job(id="10"), a_job(id="9"), a_job(id="11", state=JobState.RUNNING)]
    listed.keep(jobs)
    board.refresh()
    assert [[view.job.id for view in board.views()] for _ in range(3)] == [["11", "9", "10"]] * 3
    assert len(sorted_by) == 3
    listed.keep([replace(jobs[0], nice=-7), *jobs[1:]])
    board.refresh()
    assert [view.job.id for view in board.views()] == ["11", "10", "9"]


def test_all_who_know_an_advice_hold_it_once(store, tmp_path):
    store.keep_advice("1", KeptAdvice(an_advice(), None))
    with closing(SqliteStore(tmp_path / "store")) as another:
        held = store.advice("1").advice
        assert another.job_facts(["1"])["1"].advice is held
        forgotten = ref(held)
        del held
        gc.collect()
        assert forgotten() is None


def test_what_was_learnt_is_read_once_until_it_is_learnt_again(store, tmp_path):
    store.keep_learnt("model", "a", at=1.0)
    with closing(SqliteStore(tmp_path / "store")) as another:
        seen = []
        another._db._connection.set_trace_callback(seen.append)
        assert {another.learnt("model") for _ in range(5)} == {"a"}
        assert sum("body" in statement for statement in seen) == 1
        store.keep_learnt("model", "b", at=2.0)
        assert another.learnt("model") == "b"
        assert another.learnt("another") is None
