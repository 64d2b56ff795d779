"""The event log is bounded, and what is left of it can still be replayed."""

from __future__ import annotations

from contextlib import closing

import pytest

from schedmate.core import ProgressSeen, Started
from schedmate.service.records.event_log import Recorder, all_events, opened
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_progress


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "store.sqlite3")) as opened_store:
        yield opened_store


def test_a_log_that_has_lost_its_beginning_keeps_the_settings(store):
    recorder = Recorder(store, most=3)
    for event in (Started(0, {"retries": "9"}), Started(1, {"retries": "5"})):
        recorder.note(event, [])
    for at in range(2, 12):
        recorder.note(ProgressSeen(at, "1", a_progress()), [])
        recorder.flush()

    events = [opened(row) for row in all_events(store)]

    assert events[0] == Started(1, {"retries": "5"})
    assert [event.at for event in events] == [1, 9, 10, 11]
