"""Root writes through no link that another user has planted in a state directory."""

from __future__ import annotations

import os

import pytest

from schedmate.disk.database import Database
from schedmate.disk.lock import hold
from schedmate.model import BadInput

NAMES = ("schedmate.sqlite3", "schedmate.sqlite3-wal", "serve.lock")
OTHER = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root owns what others do not")


@pytest.fixture
def planted(tmp_path):
    victim, state = tmp_path / "victim", tmp_path / "state"
    victim.write_text("keep")
    victim.chmod(0o644)
    state.mkdir()
    for name in NAMES:
        (state / name).symlink_to(victim)
    return victim, state


def untouched(victim):
    return (victim.read_text(), victim.stat().st_mode & 0o777) == ("keep", 0o644)


def refused(state):
    with pytest.raises(BadInput):
        Database(state / NAMES[0], ())
    with pytest.raises((BadInput, OSError)):
        hold(state / "serve.lock")


def test_links_in_a_directory_of_ones_own_are_not_followed(planted):
    victim, state = planted
    refused(state)
    assert untouched(victim)


@needs_root
def test_root_keeps_nothing_in_a_directory_of_another_user(planted):
    victim, state = planted
    os.chown(state, OTHER, OTHER)
    refused(state)
    for name in NAMES:
        (state / name).unlink()
    refused(state)
    assert untouched(victim)
    assert list(state.iterdir()) == []
