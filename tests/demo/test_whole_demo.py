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
from pathlib import Path

import pytest

from schedmate.demo.plan import TODAY, YESTERDAY
from schedmate.disk.lock import lock_holder
from schedulers.local_site import processes_of, wait_for

pytestmark = pytest.mark.processes

KILLS = 8
PROCESSOR_S = 120.0
STAYS = r"the page stays at (\S+) until Ctrl-C"
DEMO = (sys.executable, "-m", "schedmate", "demo")
MEASURED = (sys.executable, Path(__file__).with_name("measured.py"))


@pytest.fixture
def env(tmp_path):
    folders = {"TMPDIR": tmp_path / "tmp", "HOME": tmp_path / "home"}
    for folder in folders.values():
        folder.mkdir()
    theirs = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return theirs | {name: str(folder) for name, folder in folders.items()}


@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("interruptible")
def test_every_job_ends_as_it_should_whoever_is_killed(tmp_path, env):
    """kill -9 of the daemon and the local scheduler, again and again."""
    chance = random.Random(5)
    screen, terminal = pty.openpty()
    used, talk = tmp_path / "used", tmp_path / "talk"
    with talk.open("wb") as written, _read_by_a_person(screen):
        demo = subprocess.Popen(
            [*MEASURED, used, *DEMO, "--keep"],
            stdin=terminal,
            stdout=terminal,
            stderr=written,
            env=env,
        )
        killed, stays = 0, None
        while demo.poll() is None and stays is None:
            time.sleep(chance.uniform(1, 5))
            stays = re.search(STAYS, talk.read_text())
            # a hang is only seen by a daemon that lives for a while
            if killed < KILLS and "autoencoder: RUNNING" not in talk.read_text():
                killed += _kill(tmp_path, ("serve.lock", "local/daemon.lock")[killed % 2])
        assert stays is not None, talk.read_text()
        _check_service(stays[1])
        os.kill(int(used.read_text().split()[0]), signal.SIGINT)
        assert demo.wait(300) == 0, talk.read_text()
    os.close(terminal)

    assert "the queue, live, is at http://127.0.0.1:" in talk.read_text()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(stays[1], timeout=60)
    [root] = tmp_path.glob("tmp/schedmate-demo-*")
    assert str(root) in talk.read_text()
    summary = json.loads((root / "demo.json").read_text())
    assert summary["as_planned"] == summary["jobs"] == len(YESTERDAY + TODAY), talk.read_text()
    assert summary["unfinished"] == {}
    assert killed >= 3
    assert summary["daemon_starts"] > 1
    right = {verdict["job"]: verdict["right"] for verdict in summary["verdicts"]}
    assert right == {"autoencoder": True, "killed-once": True, "wrong-shape": True}
    assert summary["simulated_schedmate_s"] < summary["simulated_fifo_s"]
    _check_page((root / "demo.html").read_text())
    assert not processes_of(tmp_path)
    assert not list((tmp_path / "home").rglob("*")), "nothing is fetched or kept for the user"
    assert float(used.read_text().split()[1]) < PROCESSOR_S


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_whoever_ends_it_nothing_is_left_behind(tmp_path, env, number):
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    talk = tmp_path / "talk"
    with talk.open("wb") as written:
        demo = subprocess.Popen(DEMO, stdout=written, stderr=written, env=env)
    signal.signal(signal.SIGHUP, before)
    wait_for(lambda: "RUNNING" in talk.read_text(), "a job's start", 300)
    demo.send_signal(number)
    demo.wait(300)
    wait_for(lambda: not processes_of(tmp_path), "the end of all that it started", 300)
    wait_for(lambda: not list((tmp_path / "tmp").iterdir()), "an empty directory", 300)
    assert "Traceback" not in talk.read_text()
    if number != signal.SIGKILL:
        assert "ended before its end: it was interrupted" in talk.read_text()
        assert re.search(r"did not finish +\S+: still (RUNNING|PENDING)", talk.read_text())
        assert demo.returncode == 130


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


def _kill(folder, lock):
    held = list(folder.glob(f"tmp/schedmate-demo-*/{lock}"))
    pid = lock_holder(held[0]) if held else None
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
