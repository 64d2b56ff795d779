"""A huge log of one failed job holds up no other one."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import pytest

from schedmate.advisor import Advisor
from schedmate.core import DecisionEngine, DecisionLimits
from schedmate.handler import Case, Handler, TakesLong
from schedmate.handler.reading import gather, reader
from schedmate.handler.reading.reader import LogReader
from schedmate.model import JobState
from schedmate.policies import ordering
from schedmate.service.actions import Actions
from schedmate.service.daemon import serving
from schedmate.service.daemon.daemon import Daemon
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler
from schedulers.local_site import wait_for

TRACEBACK = (
    'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    x()\nKeyError: 3\n'
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Every line is another error: a megabyte takes longer than a usual log as a whole."""
    log = tmp_path_factory.mktemp("logs") / "hostile.log"
    rng = random.Random(3)
    word = lambda: "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=8))  # noqa: E731
    lines = (f"ValueError: {word()} {word()} failed {word()} timeout\n" for _ in range(500_000))
    log.write_text("".join(lines) + TRACEBACK)
    return log


@pytest.fixture
def daemon(tmp_path):
    scheduler, store = FakeScheduler(), SqliteStore(tmp_path / "store")
    daemon = Daemon(
        engine=DecisionEngine(ordering("sjf"), DecisionLimits()),
        scheduler=scheduler,
        store=store,
        advisor=Advisor(store, store),
        handler=Handler(store),
        actions=Actions(scheduler, store, "observe"),
    )
    yield daemon, scheduler, store
    daemon.close()
    store.close()


def failed(job_id, log):
    job = a_job(id=job_id, state=JobState.FAILED, workdir=str(log.parent), exit_code=1)
    return replace(job, logs=(str(log),))


@pytest.mark.slow
def test_others_are_diagnosed_while_a_huge_log_is_read(daemon, hostile, tmp_path):
    daemon, scheduler, store = daemon
    usual = tmp_path / "usual.log"
    usual.write_text(TRACEBACK)
    scheduler.put(failed("1", hostile))
    scheduler.put(failed("2", usual))

    daemon.cycle(1.0)

    assert store.diagnoses("2")[0].reason == "key_error"
    assert store.diagnoses("1") == {}
    wait_for(lambda: daemon.cycle(2.0) or store.diagnoses("1"), "the diagnosis", 300)
    assert store.diagnoses("1")[0].reason == "value_error"
    daemon.cycle(3.0)
    assert [kept.action.kind for kept in store.actions(job_id="1")] == ["leave"]


@pytest.mark.slow
def test_a_daemon_that_looks_once_waits_for_it(daemon, hostile):
    daemon, scheduler, store = daemon
    scheduler.put(failed("1", hostile))
    daemon.cycle(1.0)
    assert store.diagnoses("1") == {}

    daemon.finish_diagnoses(2.0)

    assert store.diagnoses("1")[0].reason == "value_error"
    assert [kept.action.kind for kept in store.actions(job_id="1")] == ["leave"]


@pytest.mark.slow
def test_reading_stops_when_its_time_is_over(hostile):
    handler, case = Handler(), Case(logs=(hostile,), exit_code=1)
    begun = time.process_time()
    with pytest.raises(TakesLong):
        handler.diagnose(case, within_s=0.05)
    assert time.process_time() - begun < 1.0
    assert handler.diagnose(case).reason == "value_error"


def test_the_middle_of_a_log_beyond_any_measure_is_only_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "_CLOSELY_BLOCKS", 1)
    monkeypatch.setattr(reader, "_LAST_BLOCKS_OF_HUGE", 2)
    calm = "step loss 2.1 and nothing else to tell of\n" * 50_000
    log = tmp_path / "huge.log"
    log.write_text(calm + "MemoryError\n" + calm + TRACEBACK)

    found = Handler().diagnose(Case(logs=(log,), exit_code=1))

    assert (found.reason, found.evidence[0].line) == ("key_error", 100_005)


def test_the_first_alarm_in_the_middle_of_such_a_log_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "_CLOSELY_BLOCKS", 1)
    monkeypatch.setattr(reader, "_LAST_BLOCKS_OF_HUGE", 2)
    calm = "step loss 2.1 and nothing else to tell of\n" * 50_000
    log = tmp_path / "huge.log"
    log.write_text(calm + TRACEBACK + calm)

    gathered = gather(Case(logs=(log,), exit_code=1))

    assert [clue.line.number for clue in gathered.clues if clue.line] == [50_004]


@pytest.mark.slow
def test_a_log_full_of_alarms_is_read_in_part(tmp_path, monkeypatch):
    """What costs is how many lines are looked at one by one, not how large the log is."""
    monkeypatch.setattr(reader, "_CLOSELY_BLOCKS", 20)
    monkeypatch.setattr(reader, "_LAST_BLOCKS_OF_HUGE", 2)
    monkeypatch.setattr(reader, "_ALARMED_BLOCKS", 2)
    log = tmp_path / "huge.log"
    log.write_text(TRACEBACK * 140_000)
    read = []
    plainly = LogReader._read_block
    monkeypatch.setattr(
        LogReader, "_read_block", lambda self, raw: read.append(raw) or plainly(self, raw)
    )

    found = Handler().diagnose(Case(logs=(log,), exit_code=1))

    assert found.reason == "key_error"
    assert len(read) <= 14
    assert log.stat().st_size > 20 * len(read[0])


def test_looking_once_finishes_what_takes_long(place, monkeypatch):
    finished = []
    monkeypatch.setattr(Daemon, "finish_diagnoses", lambda _, now: finished.append(now))
    serving.look_once(place.settings)
    assert len(finished) == 1
