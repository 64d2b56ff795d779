"""The database file: from nothing to today's tables, whatever happens on the way."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from schedmate.disk import database
from schedmate.disk.database import Database
from schedmate.model import BadInput, SchedMateError, UnusableStore

ONE = ("CREATE TABLE notes (text TEXT PRIMARY KEY)", "INSERT INTO notes VALUES ('first')")
TWO = ("ALTER TABLE notes ADD COLUMN at REAL", "INSERT INTO notes VALUES ('second', 2.0)")
NOBODY = 65534


def notes(path, migrations):
    with closing(Database(path, migrations)) as opened:
        return [row[0] for row in opened.rows("SELECT text FROM notes ORDER BY text")]


def version(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "below" / "data.sqlite3"


def test_a_new_file_gets_all_steps_and_an_old_one_the_missing(path):
    assert notes(path, (ONE,)) == ["first"]
    assert notes(path, (ONE,)) == ["first"]
    assert notes(path, (ONE, TWO)) == ["first", "second"]
    assert notes(path, (ONE, TWO)) == ["first", "second"]
    assert version(path) == 2


def test_a_file_of_a_newer_version_is_refused_and_left_alone(path):
    notes(path, (ONE, TWO))

    with pytest.raises(BadInput, match=r"made by a newer SchedMate.*upgrade"):
        Database(path, (ONE,))

    assert notes(path, (ONE, TWO)) == ["first", "second"]


def test_a_step_that_fails_leaves_the_old_version(path):
    notes(path, (ONE,))

    with pytest.raises(BadInput, match="cannot be opened"):
        Database(path, (ONE, (*TWO, "SELECT nonsense FROM nowhere")))

    assert version(path) == 1
    assert notes(path, (ONE,)) == ["first"]
    assert notes(path, (ONE, TWO)) == ["first", "second"]


KILLED_IN_MID_STEP = """
import os, signal, sqlite3, sys
from pathlib import Path
from schedmate.disk import database
real = sqlite3.connect
class Dying(sqlite3.Connection):
    def execute(self, statement, *values):
        if "die here" in statement:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(statement, *values)
sqlite3.connect = lambda *args, **words: real(*args, **words, factory=Dying)
database.Database(Path(sys.argv[1]), eval(sys.argv[2]))
"""


@pytest.mark.processes
def test_a_process_killed_in_mid_step_leaves_the_old_version(path):
    notes(path, (ONE,))
    steps = (ONE, (*TWO, "-- die here"))

    died = subprocess.run(
        [sys.executable, "-c", KILLED_IN_MID_STEP, str(path), repr(steps)], check=False
    )

    assert died.returncode == -signal.SIGKILL
    assert version(path) == 1
    assert notes(path, (ONE, TWO)) == ["first", "second"]


@pytest.mark.parametrize(
    "content", [b"just some text, longer than a header" * 50, b"SQLite format 3\0junk" * 90]
)
def test_what_is_no_database_is_refused_and_left_alone(path, content):
    path.parent.mkdir(parents=True)
    path.write_bytes(content)

    with pytest.raises(UnusableStore, match=r"is damaged \(.*move it away"):
        Database(path, (ONE,))

    assert path.read_bytes() == content


def test_a_directory_in_its_place_is_refused_without_telling_to_move_it(path):
    path.mkdir(parents=True)

    with pytest.raises(BadInput, match="cannot be opened"):
        Database(path, (ONE,))


def test_a_file_as_its_directory_is_an_error_of_the_system(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(OSError):
        Database(tmp_path / "file" / "data.sqlite3", (ONE,))


@pytest.fixture
def read_only_directory():
    """Another user's: of root's own one root is somebody else for a while."""
    if os.geteuid() != 0:
        yield Path("/usr")
        return
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    os.seteuid(NOBODY)
    yield folder
    os.seteuid(0)
    shutil.rmtree(folder)


def test_a_read_only_directory_is_a_sentence(read_only_directory):
    with pytest.raises(BadInput, match=r"cannot be opened.*may you write there\?"):
        Database(read_only_directory / "data.sqlite3", (ONE,))


def test_a_transaction_is_all_or_nothing(path):
    def write(*texts, opened):
        with opened.transaction():
            for text in texts:
                opened.run("INSERT INTO notes VALUES (?)", (text.strip(),))

    with closing(Database(path, (ONE,))) as opened:
        with pytest.raises(AttributeError):
            write("lost", None, opened=opened)
        with pytest.raises(SchedMateError, match="UNIQUE"):
            write("lost", "first", opened=opened)
        write("kept", opened=opened)

    assert notes(path, (ONE,)) == ["first", "kept"]


def test_another_process_in_mid_transaction_is_waited_for_but_not_for_ever(path, monkeypatch):
    monkeypatch.setattr(database, "_BUSY_S", 0.1)
    with closing(Database(path, (ONE,))) as one, closing(Database(path, (ONE,))) as other:
        with one.transaction():
            one.run("INSERT INTO notes VALUES ('mine')")
            with pytest.raises(SchedMateError, match="locked"):
                other.run("INSERT INTO notes VALUES ('theirs')")
            assert len(other.rows("SELECT * FROM notes")) == 1, "readers are not held up"
        other.run("INSERT INTO notes VALUES ('theirs')")


def test_a_network_file_system_gets_no_write_ahead_log(path, monkeypatch):
    monkeypatch.setattr(database, "_on_network", lambda _: True)
    with closing(Database(path, (ONE,))) as opened:
        assert opened.one("PRAGMA journal_mode")[0] == "delete"


@pytest.mark.parametrize(
    ("mounts", "network"),
    [
        ("/dev/sda / ext4 rw\nserver:/x {0} nfs4 rw\n", True),
        ("/dev/sda / ext4 rw\nserver:/x {0}/deep nfs4 rw\n", False),
        ("server:/x / nfs rw\n/dev/sda {0} ext4 rw\n", False),
        ("", False),
    ],
)
def test_the_innermost_mount_point_tells_the_file_system(tmp_path, monkeypatch, mounts, network):
    real = Path.read_text

    def read(path, *args, **words):
        told = str(path) == "/proc/self/mounts"
        return mounts.format(tmp_path) if told else real(path, *args, **words)

    monkeypatch.setattr(Path, "read_text", read)

    assert database._on_network(tmp_path / "data.sqlite3") is network
