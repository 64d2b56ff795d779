"""What an older SchedMate wrote is still there after an update."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from schedmate.disk.database import Database
from schedmate.model import Action, JobState
from schedmate.model.access import NOTICE_KINDS, Subscription
from schedmate.model.wire import to_json
from schedmate.store.bodies import dumps
from schedmate.store.migrations import MIGRATIONS
from schedmate.store.postgres import PostgresDatabase, PostgresStore
from schedmate.store.postgres_tables import POSTGRES_MIGRATIONS
from schedmate.store.run_facts import MADE_OF_RUNS
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import (
    a_diagnosis,
    a_job,
    a_learned_rule,
    a_past_failure,
    a_past_run,
    an_advice,
    an_origin,
)


def test_runs_kept_before_there_were_profiles_are_read(tmp_path):
    path = tmp_path / "store.sqlite3"
    body = to_json(a_past_run())
    del body["profile"], body["workload"]["max_time_s"], body["workload"]["early_stopping"]
    with closing(Database(path, MIGRATIONS[:2])) as old:
        old.run(
            "INSERT INTO runs VALUES ('local', '1', 0, 'ada', 'c0de', 'a4g5', 1070, ?)",
            (json.dumps(body),),
        )

    with closing(SqliteStore(path)) as store:
        assert store.run("1") == a_past_run()
        assert store.tracking("1", 0) is None
        store.keep_tracking("1", 0, "state")
        assert store.tracking("1", 0) == "state"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)


def test_who_wanted_every_message_gets_the_kinds_that_came_later(tmp_path):
    path = tmp_path / "store.sqlite3"
    with closing(Database(path, before(MIGRATIONS, "UPDATE subscriptions"))) as old:
        for user, kinds in (("ada", ("failed", "hung", "limit")), ("bob", ("failed", "limit"))):
            body = dumps(Subscription(user=user, kinds=kinds))
            old.run("INSERT INTO subscriptions VALUES (?, ?)", (user, body))
    with closing(SqliteStore(path)) as store:
        found = {one.user: one.kinds for one in store.subscriptions()}
    assert found == {"ada": NOTICE_KINDS, "bob": ("failed", "limit")}


_OF_SUBMISSIONS = "CREATE TABLE submissions"


def before(migrations, statement):
    """The steps before the one with this statement."""
    steps = enumerate(migrations)
    return migrations[: next(n for n, step in steps if any(statement in one for one in step))]


class TestNumbersThatBecomeIdentities:
    """From the format before: each number had one job, whatever it had stood for."""

    ALONE = a_past_run(job=a_job(id="1", state=JobState.FAILED, submit_time=100.0))
    QUEUED_AGAIN = tuple(
        a_past_run(job=a_job(id="2", state=state, submit_time=at, restarts=n, end_time=at + 50))
        for n, (state, at) in enumerate(((JobState.FAILED, 200.0), (JobState.COMPLETED, 260.0)))
    )
    MIXED = (
        a_past_run(job=a_job(id="3", user="ada", state=JobState.FAILED, submit_time=300.0)),
        a_past_run(
            job=a_job(id="3", user="bob", state=JobState.FAILED, submit_time=900.0, restarts=1)
        ),
    )
    WAITS = a_job(id="4", submit_time=400.0)
    TASK = a_job(id="5_1", submit_time=500.0)

    def fill(self, db):
        """As the format before kept it."""
        for run in (self.ALONE, *self.QUEUED_AGAIN, *self.MIXED):
            job = run.job
            row = "slurm", job.id, job.restarts, job.user, None, None, job.end_time, dumps(run)
            db.put("runs", [row])
            db.put("diagnoses", [("slurm", job.id, job.restarts, dumps(a_diagnosis()))])
            action = Action(kind="leave", job_id=job.id, attempt=job.restarts, why=job.user)
            db.run(
                "INSERT INTO actions (scheduler, key, job_id, state, at, note, body)"
                " VALUES ('slurm', ?, ?, 'noted', 1.0, '', ?)",
                (action.key, job.id, dumps(action)),
            )
        db.run(MADE_OF_RUNS)
        for job in (self.WAITS, self.TASK):
            db.put("listed_jobs", [("slurm", job.id, dumps(job))])
        db.put("advice", [("slurm", "5", dumps(an_advice(60)), None)])

    def check(self, store):
        assert store.meet([self.WAITS, self.TASK]) == [self.WAITS, self.TASK]
        assert store.run("1") == self.ALONE
        assert [store.run("2", n) for n in (0, 1)] == list(self.QUEUED_AGAIN)
        # of two users under one number, each has what is theirs
        assert store.run("3").job.user == "bob"
        assert list(store.diagnoses("3")) == [1]
        assert [one.action.why for one in store.actions(job_id="3")] == ["bob"]
        assert store.run("3@300").job.user == "ada"
        assert list(store.diagnoses("3@300")) == [0]
        assert [one.action.why for one in store.actions(job_id="3@300")] == ["ada"]
        assert len(store.recent_runs()) == 5
        # what comes next is told apart from what was there
        new = [replace(job, submit_time=9000.0) for job in (self.ALONE.job, self.WAITS, self.TASK)]
        store.keep_listed(new)
        assert not any(store.diagnoses(job.id) for job in new)
        assert store.run("1@100").job.user == self.ALONE.job.user
        assert store.advice("5") is None
        assert store.advice("5@500") is not None
        again = replace(self.QUEUED_AGAIN[1].job, restarts=2, submit_time=9000.0)
        store.keep_listed([again])
        assert len(store.diagnoses("2")) == 2

    def test_in_a_file(self, tmp_path):
        path = tmp_path / "store.sqlite3"
        with closing(Database(path, before(MIGRATIONS, _OF_SUBMISSIONS))) as old:
            self.fill(old)
        with closing(SqliteStore(path, scheduler="slurm")) as store:
            self.check(store)
        with closing(SqliteStore(path, scheduler="slurm")) as again:
            assert again.run("3@300").job.user == "ada"

    @pytest.mark.processes
    def test_in_postgres(self, postgres):
        url = postgres.database("identities")
        with closing(PostgresDatabase(url, before(POSTGRES_MIGRATIONS, _OF_SUBMISSIONS))) as old:
            self.fill(old)
        with closing(PostgresStore(url, scheduler="slurm")) as store:
            self.check(store)


def test_failures_remembered_by_older_signatures_make_room(tmp_path):
    path = tmp_path / "store.sqlite3"
    with closing(Database(path, MIGRATIONS[:3])) as old:
        old.run("INSERT INTO failures VALUES ('signature', '{}')")

    with closing(SqliteStore(path)) as store:
        assert store.recall_failures(["signature"]) == {}
        store.remember_failure(a_past_failure("one", "signature"))
        assert set(store.recall_failures(["signature"])) == {"signature"}


def test_rules_that_a_model_had_enabled_become_proposals(tmp_path):
    path = tmp_path / "store.sqlite3"
    by_model = a_learned_rule("r1", healthy_logs=0)
    by_person = a_learned_rule("r2", origin=an_origin("operator"))
    with closing(Database(path, MIGRATIONS[:5])) as old:
        for rule in (by_model, by_person):
            body = to_json(rule)
            del body["accepted_by"]
            old.run(
                "INSERT INTO learned_rules VALUES (?, 1.0, 3, 2.0, ?)", (rule.id, json.dumps(body))
            )

    with closing(SqliteStore(path)) as store:
        first, second = store.learned_rules()
    assert (first.enabled, first.proposed, first.asked) == (False, True, False)
    assert second == replace(by_person, hits=3, last_hit=2.0)
    assert second.asked
