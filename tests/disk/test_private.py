"""The state directory is for its owner only."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import contextmanager

import pytest

from schedmate.disk.database import Database
from schedmate.disk.lock import hold, sign
from schedmate.disk.private import create_private
from schedmate.model import BadInput

TABLE = (("CREATE TABLE t (x INTEGER)",),)


def mode(path):
    return oct(stat.S_IMODE(path.stat().st_mode))


@contextmanager
def umask(number):
    before = os.umask(number)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_a_new_database_and_all_beside_it_are_for_the_owner(tmp_path, mask):
    path = tmp_path / "a" / "state" / "schedmate.sqlite3"
    with umask(mask):
        db = Database(path, TABLE)
        db.run("INSERT INTO t VALUES (1)")

    assert {mode(one) for one in path.parent.iterdir()} == {"0o600"}
    assert len(list(path.parent.iterdir())) == 3  # with its -wal and -shm
    assert mode(path.parent) == mode(path.parent.parent) == "0o700"
    db.close()


def test_what_an_earlier_version_made_is_tightened(tmp_path):
    state = tmp_path / "state"
    path = state / "schedmate.sqlite3"
    before = Database(path, TABLE)
    before.run("INSERT INTO t VALUES (1)")
    state.chmod(0o755)
    for one in state.iterdir():
        one.chmod(0o644)

    db = Database(path, TABLE)

    assert mode(state) == "0o700"
    assert {mode(one) for one in state.iterdir()} == {"0o600"}
    assert db.one("SELECT x FROM t") == (1,)
    db.close()
    before.close()


def test_a_directory_with_other_things_in_it_keeps_its_mode(tmp_path):
    """As when somebody chose a home or a project directory for it."""
    (tmp_path / "thesis.tex").touch()
    tmp_path.chmod(0o755)

    Database(tmp_path / "schedmate.sqlite3", TABLE).close()

    assert mode(tmp_path) == "0o755"
    assert mode(tmp_path / "schedmate.sqlite3") == "0o600"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user")
def test_another_users_database_keeps_its_mode(tmp_path):
    path = tmp_path / "state" / "schedmate.sqlite3"
    Database(path, TABLE).close()
    for one, allowed in ((path, 0o660), (path.parent, 0o770)):
        one.chmod(allowed)
        os.chown(one, 65534, 65534)

    with pytest.raises(BadInput, match="belongs to another user"):
        Database(path, TABLE)

    assert (mode(path), mode(path.parent)) == ("0o660", "0o770")


@pytest.mark.processes
def test_opening_again_does_not_end_the_locks_of_this_process(tmp_path):
    """Closing any descriptor of a file ends all POSIX locks of the process on it."""
    path = tmp_path / "schedmate.sqlite3"
    db = Database(path, TABLE)
    with db.transaction():
        db.run("INSERT INTO t VALUES (1)")
        create_private(path)

        refused = []
        if (child := os.fork()) == 0:  # only another process can see what is locked
            try:
                sqlite3.connect(path, timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
                os._exit(1)
            except sqlite3.OperationalError:
                os._exit(0)
        refused.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    assert refused == [0]
    db.close()


def test_many_threads_make_one_file(tmp_path):
    path = tmp_path / "schedmate.sqlite3"
    threads = [threading.Thread(target=create_private, args=(path,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert mode(path) == "0o600"


def test_a_lock_is_for_the_owner(tmp_path):
    path = tmp_path / "state" / "serve.lock"
    path.parent.mkdir()
    path.touch(mode=0o644)

    with hold(path) as lock:
        sign(lock)

    assert mode(path) == "0o600"
