"""Two daemons on one PostgreSQL store: one decides, and the other one when that is gone."""

from __future__ import annotations

import signal
import time
from contextlib import closing

import pytest

from schedmate.config import Settings
from schedmate.service.daemon.turns import ASK_S
from schedmate.service.wiring import open_store
from schedmate.store.lease import LEASE_S
from schedmate.store.postgres import PostgresDatabase
from schedmate.testing.postgres import private_postgres, programs
from schedulers.local_site import wait_for
from schedulers.test_slurm_faults import PATIENCE_S, Serve, killed_once

pytestmark = pytest.mark.slurm


def test_the_other_one_takes_over_and_nothing_is_done_twice(bench, tmp_path):
    if programs() is None:
        pytest.skip("needs PostgreSQL: scripts/install-test-packages")
    bench.patience_s = PATIENCE_S
    with private_postgres() as server:
        url = server.database("site")
        settings = Settings(scheduler="slurm", state_dir=tmp_path / "reader", store_url=url)
        open_store(settings).close()
        serves = [Serve(tmp_path / name, SCHEDMATE_STORE_URL=url) for name in ("one", "two")]
        first = serves[0].start()
        wait_for(lambda: decides(settings), "the lease", 120)
        second = serves[1].start()
        try:
            wait_for(lambda: "stands by" in serves[1].log.read_text(), "the second", 120)
            (retried,) = killed_once(bench, 1)
            bench.ended(retried, restarts=1)
            first.send_signal(signal.SIGSTOP)  # it cannot know that its time runs out
            (later,) = killed_once(bench, 1)
            wait_for(lambda: "takes over" in serves[1].log.read_text(), "the second", 120)
            first.send_signal(signal.SIGCONT)
            bench.ended(later, restarts=1)
            wait_for(lambda: "stands by" in serves[0].log.read_text(), "the first", 120)
            time.sleep(1.0)
        finally:
            for daemon in (first, second):
                daemon.send_signal(signal.SIGCONT)
                daemon.terminate()
                daemon.wait(60)
        assert requeues(settings) == {retried: 1, later: 1}
        for job_id in (retried, later):
            assert bench.lines("ran").count(f"{job_id} 1") == 1


def test_it_does_so_within_half_a_minute():
    assert LEASE_S + ASK_S < 30


def decides(settings):
    with closing(PostgresDatabase(settings.store_url)) as db:
        return db.rows("SELECT 1 FROM leases WHERE until > clock_timestamp()")


def requeues(settings):
    with closing(open_store(settings)) as store:
        done = [one.action.job_id for one in store.actions() if one.action.kind == "requeue"]
    return {job_id: done.count(job_id) for job_id in done}
