"""The demo as a user runs it, with somebody who kills its processes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser

import pytest

from schedmate.disk.lock import lock_holder

pytestmark = pytest.mark.processes

KILLS = 10


@pytest.mark.timeout(900)
def test_every_job_ends_as_it_should_whoever_is_killed(tmp_path):
    """kill -9 of the daemon and the local scheduler, again and again."""
    env = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "SCHEDMATE_CONFIG": os.devnull,
        "SCHEDMATE_CACHE_DIR": str(tmp_path / "cache"),
    }
    chance = random.Random(5)
    with (tmp_path / "said").open("wb") as said:
        demo = subprocess.Popen(
            [sys.executable, "-m", "schedmate", "demo", "--no-llm", "--json"],
            stdout=subprocess.PIPE,
            stderr=said,
            env=env,
        )
        killed = 0
        while demo.poll() is None:
            time.sleep(chance.uniform(2, 6))
            if killed < KILLS:  # a hang is only seen by a daemon that lives for a while
                killed += _kill_one(tmp_path, chance)
    out, _ = demo.communicate()
    talk = (tmp_path / "said").read_text()

    assert demo.returncode == 0, talk
    assert "the queue, live, is at http://127.0.0.1:" in talk
    summary = json.loads(out)
    assert (summary["as_planned"], summary["jobs"]) == (16, 16), talk
    assert killed >= 5
    assert summary["daemon_starts"] > 1
    right = {verdict["job"]: verdict["right"] for verdict in summary["verdicts"]}
    # without a model nobody can read what the odd one says
    assert right == {
        "odd-failure": False,
        "autoencoder": True,
        "killed-once": True,
        "wrong-shape": True,
    }
    assert summary["simulated_schedmate_s"] < summary["simulated_fifo_s"]
    _check_page(next(tmp_path.glob("schedmate-demo-*/demo.html")).read_text())


def _kill_one(folder, chance):
    locks = list(folder.glob("schedmate-demo-*/serve.lock"))
    locks += folder.glob("schedmate-demo-*/local/daemon.lock")
    pid = lock_holder(chance.choice(locks)) if locks else None
    if pid is None:
        return 0
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def _check_page(text):
    class Names(HTMLParser):
        seen = ""

        def handle_data(self, data):
            self.seen += data

    page = Names()
    page.feed(text)
    assert "jobs that ended as they should" in page.seen
    assert "killed-once" in page.seen
    assert text.count("<rect") > 30
