"""Hours of work are extrapolated from the first seconds of a run."""

from __future__ import annotations

import pickle
import time

import pytest

from schedmate.cli._simulated import warn_of_hours
from schedmate.policies import POLICIES, FirstFit
from schedmate.simulator.sweeps import SimulationTask, run_tasks
from schedmate.simulator.sweeps import pace as paces
from schedmate.simulator.sweeps.pace import Pace


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_the_pace_of_the_first_seconds_is_extrapolated(clock):
    asked = []
    pace = Pace(lambda seconds: bool(asked.append(seconds)), settings=3, clock=clock)
    for at, name, done in [
        (0.0, "fifo", 0),
        (5.0, "fifo", 100),
        (5.0, "sia", 0),
        (12.0, "sia", 1),
        (25.0, "sia", 4),
    ]:
        clock.now = at
        pace(name, done, 100)

    assert asked == [pytest.approx(20 * 100 / 4 * 3)], (
        "the first is too soon, and each run begins anew"
    )


def test_the_same_run_of_the_next_setting_begins_anew(clock):
    asked = []
    pace = Pace(lambda seconds: bool(asked.append(seconds)), clock=clock)
    for at, done in [(0.0, 0), (9.0, 99), (9.5, 0), (15.0, 50)]:
        clock.now = at
        pace("sia", done, 100)

    assert not asked


def test_a_warning_is_given_once(clock):
    asked = []
    pace = Pace(lambda seconds: not asked.append(seconds), clock=clock)
    for at in (0.0, 100.0, 200.0):
        clock.now = at
        pace("sia", int(at / 100), 100)

    assert len(asked) == 1


def test_it_can_be_sent_to_a_worker():
    pickle.loads(pickle.dumps(Pace(warn_of_hours)))("fifo", 0, 10)


SECONDS = 0.001


class Ponders(FirstFit):
    """Takes its time at each decision, as one that solves a program does."""

    name = "ponders"

    def decide(self):
        time.sleep(SECONDS)
        super().decide()


@pytest.mark.parametrize("policies", [("easy", "ponders"), ("ponders",)])
def test_a_policy_that_takes_long_to_decide_is_warned_of(monkeypatch, policies):
    monkeypatch.setitem(POLICIES, "ponders", Ponders)
    monkeypatch.setattr(paces, "_ENOUGH_S", 10 * SECONDS)
    task = SimulationTask(source="synthetic", policies=policies, jobs=100, gpus=8)
    found = []

    run_tasks([task, task], workers=1, on_hours=lambda seconds: not found.append(seconds))

    assert len(found) == 1
    assert found[0] > 2 * 100 * SECONDS, "of both settings, at least a decision a job"
