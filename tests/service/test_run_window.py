"""The runs of the last months that pages count, in memory."""

from __future__ import annotations

import pytest

from schedmate.service.views import run_window
from schedmate.service.views.run_window import RunWindow
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.history import past_run

NOW = 1_700_000_000.0


@pytest.fixture
def window(tmp_path):
    return RunWindow(lambda: SqliteStore(tmp_path / "store"))


def remember(tmp_path, *numbers):
    store = SqliteStore(tmp_path / "store")
    store.keep_runs([past_run(f"r{one}", 60.0, ended_at=NOW + one) for one in numbers])
    store.close()


def test_runs_that_end_later_are_added(window, tmp_path):
    remember(tmp_path, 0, 10)
    assert [run.job_id for run in window.runs(NOW + 20)] == ["r0", "r10"]
    remember(tmp_path, 30)
    assert [run.job_id for run in window.runs(NOW + 40)] == ["r0", "r10", "r30"]


def test_no_more_are_kept_than_a_daemon_that_starts_would_read(window, tmp_path, monkeypatch):
    monkeypatch.setattr(run_window, "_MOST_RUNS", 5)
    for hour in range(4):
        remember(tmp_path, *(hour * 7200 + one for one in range(3)))
        found = window.runs(NOW + hour * 7200 + 20)
    restarted = RunWindow(lambda: SqliteStore(tmp_path / "store"))

    assert len(found) == 5
    assert found == restarted.runs(NOW + 4 * 7200)
