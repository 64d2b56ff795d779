"""A copy before an upgrade, and the way back."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing

import pytest
from click.testing import CliRunner

from schedmate.cli import root
from schedmate.disk.backup import backups_of, copy_to, format_of, restore
from schedmate.disk.database import Database
from schedmate.disk.lock import hold
from schedmate.model import BadInput
from schedmate.store.migrations import MIGRATIONS
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job, a_past_run

ONE = ("CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('kept')")
TWO = ("DROP TABLE notes", "CREATE TABLE other (text TEXT)")
LAST = len(MIGRATIONS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "schedmate.sqlite3"


def test_the_way_back_from_an_upgrade(path):
    Database(path, (ONE,)).close()
    Database(path, (ONE, TWO)).close()
    (copy,) = backups_of(path)
    assert (format_of(copy), format_of(path)) == (1, 2)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with pytest.raises(BadInput, match=r"newer SchedMate.*schedmate store restore"):
        Database(path, (ONE,))

    replaced = restore(path, copy, newest=1)

    with closing(Database(path, (ONE,))) as opened:
        assert opened.rows("SELECT text FROM notes") == [("kept",)]
    assert format_of(replaced) == 2


def test_no_copy_of_a_new_store_or_of_one_that_is_up_to_date(path):
    for _ in range(2):
        Database(path, (ONE, TWO)).close()
    assert backups_of(path) == []


def test_only_the_copies_of_the_last_formats_are_kept(path):
    steps = [ONE, *[(f"CREATE TABLE t{number} (x)",) for number in range(12)]]
    for count in range(1, len(steps) + 1):
        Database(path, steps[:count]).close()
    assert [one.suffix for one in backups_of(path)] == [".format-12", ".format-11"]


def test_an_upgrade_without_space_for_a_copy_does_not_begin(path, monkeypatch):
    Database(path, (ONE,)).close()

    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("schedmate.disk.database.keep_backup", full)
    with pytest.raises(BadInput, match="is there space"):
        Database(path, (ONE, TWO))
    assert format_of(path) == 1


def test_a_copy_is_of_one_moment_while_others_write(path):
    with closing(SqliteStore(path)) as store:
        store.keep_run(a_past_run(job=a_job(id="1")))
        copy = copy_to(path, path.with_name("copy"))
        store.keep_run(a_past_run(job=a_job(id="2")))
    with closing(SqliteStore(copy)) as found:
        assert [run.job.id for run in found.recent_runs()] == ["1"]


@pytest.mark.parametrize("content", [b"no database" * 99, b""])
def test_what_is_no_copy_is_refused_and_the_store_left_alone(path, content):
    Database(path, (ONE,)).close()
    wrong = path.with_name("wrong")
    wrong.write_bytes(content)
    with pytest.raises(BadInput):
        restore(path, wrong, newest=1)
    assert format_of(path) == 1


@pytest.fixture
def verb(path, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(path.parent))
    monkeypatch.setenv("SCHEDMATE_CONFIG", os.devnull)

    def run(*words):
        return CliRunner().invoke(root, ["store", *words])

    return run


def test_the_verbs_copy_and_go_back(path, verb, tmp_path):
    with closing(SqliteStore(path)) as store:
        store.keep_run(a_past_run(job=a_job(id="1")))
    copy = tmp_path / "copy.sqlite3"
    assert verb("backup", str(copy)).exit_code == 0
    assert isinstance(verb("backup", str(copy)).exception, BadInput), "it is there already"
    with closing(SqliteStore(path)) as store:
        store.keep_run(a_past_run(job=a_job(id="2")))

    with hold(path.parent / "serve.lock"):
        refused = verb("restore", str(copy))
        assert "stop it first" in str(refused.exception)
    assert verb("restore", str(copy)).exit_code == 0

    with closing(SqliteStore(path)) as store:
        assert [run.job.id for run in store.recent_runs()] == ["1"]
    shown = verb("show").output
    assert f"format {LAST}" in shown
    assert "runs         1" in shown
    assert verb("compact").exit_code == 0
    assert "name a file" in str(verb("restore").exception)
