"""A store that is damaged stops a daemon with one sentence, and every verb says the same."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from schedmate.cli import main
from schedmate.model import BadInput, JobState, PastRun, UnusableStore
from schedmate.service.daemon.serving import look_once, serve
from schedmate.service.daemon.signals import Signals
from schedmate.service.usecases.store_care import back_up, go_back
from schedmate.service.wiring import open_store
from schedmate.testing.builders import a_job

pytestmark = pytest.mark.processes
SENTENCE = r"is damaged \(.*`schedmate store restore FILE`"


@pytest.fixture
def filled(place):
    with closing(open_store(place.settings)) as store:
        store.keep_runs(
            [
                PastRun(job=a_job(id=str(n), name="x" * 3000, state=JobState.COMPLETED))
                for n in range(500)
            ]
        )
    return place.settings


def without_log(path):
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def overwrite(path):
    without_log(path)
    with path.open("r+b") as file:
        file.seek(4096 * 2)
        file.write(b"\xa5" * (path.stat().st_size - 4096 * 4))


def cut(path):
    without_log(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def empty(path):
    without_log(path)
    path.write_bytes(b"")


def replace_by_text(path):
    without_log(path)
    path.write_text("not a database " * 1000)


DAMAGES = [overwrite, cut, empty, replace_by_text]


@pytest.fixture
def signals():
    with closing(Signals()) as signals:
        yield signals


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_daemon_does_not_start_on_it(filled, signals, damage):
    damage(filled.database)
    for start in (look_once, lambda settings: serve(settings, signals)):
        with pytest.raises(UnusableStore, match=SENTENCE) as stopped:
            start(filled)
        assert stopped.value.exit_code == 6


@pytest.mark.parametrize("damage", DAMAGES)
def test_verbs_that_read_say_the_same(filled, damage, capsys, monkeypatch):
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(filled.state_dir))
    damage(filled.database)
    for verb in (["history", "list"], ["serve", "--once"], ["store", "show"]):
        with pytest.raises(SystemExit) as ended:
            main(verb)
        words = capsys.readouterr().err
        assert (ended.value.code, "is damaged" in words) == (6, True), verb
        assert "schedmate store restore" in words


def test_a_daemon_stops_when_it_is_damaged_under_it(filled, signals):
    def damaged(_):
        with closing(open_store(filled)) as store:
            store.compact()  # all of it is in the file
        with filled.database.open("r+b") as file:
            file.seek(100)
            file.write(b"\xa5" * (filled.database.stat().st_size - 100))

    begun = time.thread_time()
    with pytest.raises(UnusableStore, match=SENTENCE):
        serve(filled, signals, looked=damaged)
    assert time.thread_time() - begun < 60


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_way_back_that_it_names_works(filled, damage, tmp_path):
    copy = back_up(filled, tmp_path / "copy")
    damage(filled.database)
    go_back(filled, copy)
    look_once(filled)
    with closing(open_store(filled)) as store:
        assert len(store.recent_runs()) == 500


def test_a_directory_in_its_place(place):
    place.settings.database.mkdir(parents=True)
    with pytest.raises(BadInput, match=r"it is a directory.*SCHEDMATE_STATE_DIR"):
        look_once(place.settings)


def test_a_new_store_may_be_made_by_several_at_once(place):
    """A file that another process is just about to fill is empty for a moment."""
    stores = [open_store(place.settings) for _ in range(3)]
    for store in stores:
        store.close()
