"""Work beside the loop is finished, or left without shutting the interpreter down around it."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest

from schedmate.model import ModelUnavailable
from schedmate.service.daemon import background
from schedulers.local_site import wait_for

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


def test_only_as_many_wait_for_a_model_as_will_be_tried_again(monkeypatch):
    """Failures by the thousand, and no model that could be asked about them."""
    monkeypatch.setattr(background, "_TRY_AGAIN_S", 0.0)
    monkeypatch.setattr(background, "_MOST_KEPT", 3)
    queue, asked = background.BackgroundQueue(), []

    def no_model(number):
        asked.append(number)
        raise ModelUnavailable("none is installed")

    for number in range(50):
        queue.submit("x", partial(no_model, number), print)
    try:
        wait_for(lambda: len(asked) > 200, "all were tried, and some again")
        assert len(set(asked[-20:])) <= 4
    finally:
        queue.close()
