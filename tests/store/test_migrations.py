"""What an older SchedMate wrote is still there after an update."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

from schedmate.disk.database import Database
from schedmate.model.wire import to_json
from schedmate.store.migrations import MIGRATIONS
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_learned_rule, a_past_failure, a_past_run, an_origin


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
