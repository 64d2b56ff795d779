"""The demo as a user runs it, with somebody who kills its processes."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from html.parser import HTMLParser

import pytest

from schedmate.demo.plan import TODAY, YESTERDAY
from schedmate.disk.lock import lock_holder
from schedulers.local_site import wait_for

pytestmark = pytest.mark.processes

KILLS = 10
STAYS = r"the page stays at (\S+) until Ctrl-C"


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("interruptible")
def test_every_job_ends_as_it_should_whoever_is_killed(tmp_path):
    """kill -9 of the daemon and the local scheduler, again and again."""
    env = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "SCHEDMATE_CONFIG": os.devnull,
        "SCHEDMATE_CACHE_DIR": str(tmp_path / "cache"),
    }
    chance = random.Random(5)
    screen, terminal = pty.openpty()
    with (tmp_path / "talk").open("wb") as talk, _read_by_a_person(screen):
        demo = subprocess.Popen(
            [sys.executable, "-m", "schedmate", "demo", "--no-llm"],
            stdin=terminal,
            stdout=terminal,
            stderr=talk,
            env=env,
        )
        killed, stays = 0, None
        while demo.poll() is None and stays is None:
            time.sleep(chance.uniform(2, 6))
            stays = re.search(STAYS, (tmp_path / "talk").read_text())
            if killed < KILLS and stays is None:
                # a hang is only seen by a daemon that lives for a while
                killed += _kill_one(tmp_path, chance)
        talk_so_far = (tmp_path / "talk").read_text()
        assert stays is not None, talk_so_far
        _check_service(stays[1])
        demo.send_signal(signal.SIGINT)
        assert demo.wait(120) == 0, (tmp_path / "talk").read_text()
    os.close(terminal)
    talk = (tmp_path / "talk").read_text()

    assert "the queue, live, is at http://127.0.0.1:" in talk
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(stays[1], timeout=60)
    [data] = tmp_path.glob("schedmate-demo-*/demo.json")
    summary = json.loads(data.read_text())
    assert (summary["as_planned"], summary["jobs"]) == (16, 16), talk
    assert killed >= 5
    assert summary["daemon_starts"] > 1
    right = {verdict["job"]: verdict["right"] for verdict in summary["verdicts"]}
    # without a model the odd one's message stays unknown
    assert right == {
        "odd-failure": False,
        "autoencoder": True,
        "killed-once": True,
        "wrong-shape": True,
    }
    assert summary["simulated_schedmate_s"] < summary["simulated_fifo_s"]
    _check_page(next(tmp_path.glob("schedmate-demo-*/demo.html")).read_text())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_closed_terminal_leaves_nothing_running(tmp_path, number):
    env = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "SCHEDMATE_CONFIG": os.devnull,
        "SCHEDMATE_CACHE_DIR": str(tmp_path / "cache"),
    }
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with (tmp_path / "talk").open("wb") as talk:
        demo = subprocess.Popen(
            [sys.executable, "-m", "schedmate", "demo", "--no-llm"],
            stdout=talk,
            stderr=talk,
            env=env,
        )
    signal.signal(signal.SIGHUP, before)
    locks = ("schedmate-demo-*/serve.lock", "schedmate-demo-*/local/daemon.lock")

    def holders():
        paths = [path for lock in locks for path in tmp_path.glob(lock)]
        return [pid for path in paths if (pid := lock_holder(path)) is not None]

    wait_for(lambda: len(holders()) == len(locks), "the daemon and the scheduler", 300)
    demo.send_signal(number)
    demo.wait(300)
    wait_for(lambda: not holders(), "their end", 300)
    assert "Traceback" not in (tmp_path / "talk").read_text()


def _check_service(url):
    """The page that stays open shows the jobs of the demo."""
    wait_for(lambda: _answer(f"{url}readyz"), "the page", 120)
    queue, jobs = _answer(url), json.loads(_answer(f"{url}api/v1/jobs"))["jobs"]
    assert len(jobs) == len(YESTERDAY + TODAY)
    for part in YESTERDAY + TODAY:
        assert part.name in queue
    assert "shape_mismatch" in queue


def _answer(url):
    """None where it does not answer yet: its daemon was killed and is started again."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.read().decode()
    except OSError:
        return None


@contextmanager
def _read_by_a_person(screen):
    """What is printed on a terminal is taken off it, or its printer would wait for room."""

    def read():
        with suppress(OSError):
            while os.read(screen, 4096):
                pass

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    yield
    os.close(screen)


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
