"""Advice beside sbatch: waited for while it gets on, left where a file system hangs."""

from __future__ import annotations

import threading
import time

import pytest

from schedmate import config
from schedmate.advisor import Advised, Advisor
from schedmate.schedulers.base import CommandResult
from schedmate.service.usecases import submit_command
from schedmate.testing.builders import an_advice

pytestmark = pytest.mark.processes


class Sbatch:
    """Answers at once."""

    def run_submit_command(self, words, *, stdin, on_output, on_job):
        on_job("7")
        return CommandResult(exit_code=0, job_id="7")


@pytest.fixture
def submit(monkeypatch, tmp_path):
    """What was advised and what was said, where `advise` takes the place of reading the code."""
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_STATE_DIR", str(tmp_path))
    monkeypatch.setattr(submit_command, "_LOOK_AGAIN_S", 0.05)

    def submitted(advise, **bounds):
        for name, value in bounds.items():
            monkeypatch.setattr(submit_command, name, value)
        monkeypatch.setattr(Advisor, "advise", lambda *_: advise() or Advised(an_advice(), None))
        advised, problems = [], []
        listeners = submit_command.Listeners(
            output=lambda _: None, advised=advised.append, problem=problems.append
        )
        submit_command.run(config.load(), Sbatch(), ["--wrap", "true"], listeners)
        return advised, problems

    return submitted


def get_on(seconds):
    """As on a busy machine: much time, and some of the processor all along."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.05)
        sum(range(20_000))


def test_a_busy_machine_is_waited_for(submit):
    advised, problems = submit(lambda: get_on(3.0), LONGEST_S=2.0, _STUCK_S=2.0)

    assert (len(advised), problems) == (1, [])


def test_a_file_system_that_hangs_is_left(submit):
    hang = threading.Event()
    try:
        advised, problems = submit(lambda: hang.wait(300) and None, _STUCK_S=0.5)
    finally:
        hang.set()

    assert (advised, problems) == ([], ["the job's files do not answer"])


def test_code_that_takes_too_much_of_the_processor_is_left(submit):
    over = threading.Event()

    def compute():
        while not over.is_set():
            sum(range(10_000))

    try:
        advised, problems = submit(compute, LONGEST_S=0.2)
    finally:
        over.set()

    assert advised == []
    assert problems == ["reading the code took more than 0.2 s of the processor"]
