from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from schedmate.store.sqlite import SqliteStore
from schedmate.testing.scheduler import FakeScheduler
from service.place import Place


@pytest.fixture
def scheduler():
    return FakeScheduler()


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "store")) as store:
        yield store


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A site of its own on the real local scheduler; nothing of it outlives the test."""
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    place = Place(tmp_path)
    yield place
    place.leave()


@pytest.fixture
def scratch(tmp_path):
    """In memory where that is possible: deaths between calls do not depend on a disk's syncs."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    made = Path(tempfile.mkdtemp(prefix="schedmate-test-", dir=memory))
    yield made
    shutil.rmtree(made)
