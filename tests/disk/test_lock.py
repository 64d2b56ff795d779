"""A lock goes with its holder, and names nobody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from schedmate.disk import lock as locks
from schedmate.disk.lock import hold, lock_holder, sign

HOLDER = """
import sys, time
from pathlib import Path
from schedmate.disk.lock import hold, sign
lock = hold(Path(sys.argv[1]))
sign(lock)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "daemon.lock"


@pytest.fixture
def holder(path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()
        yield process
        process.kill()


def test_one_holds_it(path):
    with hold(path) as mine:
        sign(mine)
        assert hold(path) is None
        assert lock_holder(path) == os.getpid()
    assert lock_holder(path) is None


@pytest.mark.processes
def test_it_goes_with_a_holder_that_is_killed(path, holder):
    assert lock_holder(path) == holder.pid

    holder.send_signal(signal.SIGKILL)
    holder.wait()

    assert lock_holder(path) is None


@pytest.mark.processes
def test_a_holder_that_has_not_signed_yet_is_not_mistaken_for_the_one_before(path, holder):
    holder.kill()
    holder.wait()

    with hold(path) as mine:
        threading.Timer(0.2, sign, [mine]).start()
        assert lock_holder(path) == os.getpid()


def test_a_holder_that_never_signs_stays_unknown(path, monkeypatch):
    monkeypatch.setattr(locks, "_SIGNED_WITHIN_S", 0.2)
    with hold(path):
        assert lock_holder(path) is None
