"""Advice after jobs were queued: one process reads the code of all that come together."""

from __future__ import annotations

import os
from contextlib import closing

import pytest
from click.testing import CliRunner

from schedmate import config
from schedmate.cli import _advising, root
from schedmate.disk import detached
from schedmate.disk.lock import hold
from schedmate.schedulers.local import LocalScheduler
from schedmate.service.wiring import open_store
from schedulers.local_site import wait_for

pytestmark = pytest.mark.processes


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCHEDMATE_CONFIG", os.devnull)
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SCHEDMATE_LOCAL__SHARED", "false")
    monkeypatch.setenv("SCHEDMATE_LLM__ENABLED", "false")
    found = config.load()
    yield found
    local = LocalScheduler(found.state_dir / "local", found.local)
    for job in local.jobs() if (found.state_dir / "local").is_dir() else ():
        local.cancel(job.id)
    local.stop()


def test_jobs_that_come_together_are_read_by_one_process(settings, tmp_path, monkeypatch):
    begun, start = [], detached.start_detached

    def noted(module, *words, **how):
        begun.append(module)
        return start(module, *words, **how)

    monkeypatch.setattr(detached, "start_detached", noted)
    (tmp_path / "train.py").write_text("print('epoch 1/1')\n")
    local = settings.state_dir / "local"
    local.mkdir(parents=True)
    about_to_look = hold(local / "advising.next")
    words = ["submit", "--parsable", "--hold", "train.py"]
    jobs = [CliRunner().invoke(root, words).stdout.strip() for _ in range(3)]
    assert _advising._MODULE not in begun, "one that is about to look sees them"
    about_to_look.close()
    jobs.append(CliRunner().invoke(root, words).stdout.strip())

    assert begun.count(_advising._MODULE) == 1
    with closing(open_store(settings)) as store:
        wait_for(lambda: all(store.advice(job) for job in jobs), f"advice on {jobs}")


def test_where_the_queue_is_another_accounts_nothing_is_begun(settings):
    assert _advising.start_advising(settings, "1", 0.0) == []
    assert not (settings.state_dir / "local").exists()
