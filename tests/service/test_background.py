"""Work beside the loop is finished, or left without shutting the interpreter down around it."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes

BEGIN = """
import atexit, threading, time
from schedmate.service.daemon import background

begun = threading.Event()
queue = background.BackgroundQueue()
atexit.register(print, "shut down")
"""


def run(text):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + text], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.split("\n")[:-1]


def test_a_task_that_is_under_way_is_finished_before_the_end():
    assert run("""
def work():
    begun.set()
    time.sleep(0.5)
    print("worked")

queue.submit("x", work, print)
begun.wait()
queue.close()
""") == (0, ["worked", "shut down"])


def test_what_waits_behind_it_is_dropped():
    assert run("""
queue.submit("x", lambda: begun.set() or time.sleep(0.2), print)
queue.submit("y", lambda: print("too late"), print)
begun.wait()
queue.close()
""") == (0, ["shut down"])


@pytest.mark.parametrize(("words", "code"), [("--version", 0), ("no-such-verb", 2)])
def test_a_verb_ends_without_a_shutdown_while_a_task_goes_on(words, code):
    ended, printed = run(f"""
import sys
from schedmate.cli import main

background._LONGEST_JOIN_S = 0.1
queue.submit("x", lambda: begun.set() or time.sleep(600), print)
begun.wait()
queue.close()
sys.argv = ["schedmate", {words!r}]
main()
""")

    assert ended == code
    assert "shut down" not in printed
    assert bool(printed) is (words == "--version")
