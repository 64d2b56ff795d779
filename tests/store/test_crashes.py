"""Two processes at once and a crash in mid-write lose nothing."""

from __future__ import annotations

import multiprocessing
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from schedmate.model import Action, LlmCall, SchedMateError
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job, a_past_run

if TYPE_CHECKING:
    from pathlib import Path

PROCESSES, WRITES = 8, 25
SPAWN = multiprocessing.get_context("fork")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "store.sqlite3"


def in_parallel(target, *args):
    """Run `target(number, start, *args)` in several processes that all begin at one moment."""
    start = SPAWN.Barrier(PROCESSES)
    workers = [
        SPAWN.Process(target=target, args=(number, start, *args)) for number in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES


def open_and_write(number, start, path):
    start.wait()
    with closing(SqliteStore(path)) as store:
        store.cache_answer(str(number), "here")


@pytest.mark.processes
@pytest.mark.parametrize("_", range(8))
def test_many_processes_open_a_fresh_file_at_once(path, _):
    in_parallel(open_and_write, path)

    with closing(SqliteStore(path)) as store:
        assert [store.cached_answer(str(number)) for number in range(PROCESSES)] == (
            ["here"] * PROCESSES
        )


def write_much(number, start, path):
    with closing(SqliteStore(path)) as store:
        start.wait()
        for count in range(WRITES):
            store.record_call(
                LlmCall(at=count, purpose="p", model="m", outcome="ok", prompt_tokens=1)
            )
            store.keep_runs([a_past_run(job=a_job(id=f"{number}-{count}-{i}")) for i in range(2)])


@pytest.mark.processes
def test_many_processes_writing_at_once_lose_nothing(path):
    in_parallel(write_much, path)

    with closing(SqliteStore(path)) as store:
        assert store.spending().tokens == PROCESSES * WRITES
        assert len(store.recent_runs(limit=10_000)) == PROCESSES * WRITES * 2


def intend_all(number, start, path, won):
    with closing(SqliteStore(path)) as store:
        start.wait()
        for attempt in range(WRITES):
            action = Action(kind="requeue", job_id="1", attempt=attempt, why=f"{number}")
            if store.intend(action, at=0.0):
                with won.get_lock():
                    won.value += 1


@pytest.mark.processes
def test_of_many_processes_that_intend_the_same_one_may(path):
    won = SPAWN.Value("i", 0)

    in_parallel(intend_all, path, won)

    assert won.value == WRITES


WRITER = """
import sys
from pathlib import Path
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job, a_past_run
store = SqliteStore(Path(sys.argv[1]))
for number in range(1_000_000):
    job_id = f"{sys.argv[2]}-{number}"
    store.keep_runs([a_past_run(job=a_job(id=job_id, restarts=r)) for r in (0, 1)])
    print(number, flush=True)
"""


@pytest.mark.processes
def test_a_writer_killed_at_any_moment_leaves_all_it_had_acknowledged(path):
    chance = random.Random(2)
    acknowledged = {}
    for turn in range(8):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(turn)], stdout=subprocess.PIPE, text=True
        )
        with writer:
            writer.stdout.readline()
            time.sleep(chance.uniform(0, 0.06))
            writer.send_signal(signal.SIGKILL)
            told = writer.stdout.read().splitlines()
        acknowledged[turn] = int(told[-1]) + 1 if told else 1

    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with closing(SqliteStore(path)) as store:
        kept = {(run.job.id, run.job.restarts) for run in store.recent_runs(limit=1_000_000)}
    ids = {job_id for job_id, _ in kept}
    assert {f"{turn}-{n}" for turn, count in acknowledged.items() for n in range(count)} <= ids
    assert all({(job_id, 0), (job_id, 1)} <= kept for job_id in ids), "half a transaction"
    assert len(ids) <= sum(acknowledged.values()) + len(acknowledged), "more than was asked for"


def test_threads_may_share_a_store(path):
    with closing(SqliteStore(path)) as store:

        def write(number):
            for count in range(WRITES):
                store.keep_runs([a_past_run(job=a_job(id=f"{number}-{count}"))])
                assert store.run(f"{number}-{count}") is not None

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(store.recent_runs(limit=10_000)) == 8 * WRITES


def test_a_closed_store_says_so_in_a_sentence(path):
    store = SqliteStore(path)
    store.close()

    with pytest.raises(SchedMateError, match=r"store\.sqlite3 failed: .*closed"):
        store.spending()


def size_limited(path: Path, limit: int) -> SqliteStore:
    store = SqliteStore(path)
    store._db.run(f"PRAGMA max_page_count = {limit}")
    return store


def test_a_full_disk_is_a_sentence_and_what_was_written_stays(path):
    def keep(job_id):
        store.keep_runs([a_past_run(job=a_job(id=job_id, name="x" * 5000))] * 2)

    with closing(size_limited(path, 100)) as store:
        keep("kept")
        with pytest.raises(SchedMateError, match="full"):
            store.keep_runs([a_past_run(job=a_job(id=str(n), name="x" * 5000)) for n in range(99)])

        store._db.run("PRAGMA max_page_count = 100000")
        keep("again")

        assert sorted(run.job.id for run in store.recent_runs()) == ["again", "kept"]
