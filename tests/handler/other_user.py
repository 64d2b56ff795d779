"""Acting as another user for a while: file modes do not bind the superuser."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

NOBODY = 65534


@contextmanager
def as_other_user():
    me = os.geteuid()
    if me == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(me)


@pytest.fixture
def common_place(schedmate, monkeypatch):
    """A directory that other users may enter too."""
    with TemporaryDirectory() as name:
        place = Path(name)
        if os.geteuid() == 0:
            os.chown(place, NOBODY, -1)
        monkeypatch.chdir(place)
        monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(place / "state"))
        yield place
