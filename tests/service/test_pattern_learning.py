"""What a job's own lines taught about its log is remembered for the code that writes them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from schedmate.model import LearnedPattern, ModelUnavailable
from schedmate.service.daemon.background import BackgroundQueue
from schedmate.service.daemon.pattern_learning import PatternLearning
from schedmate.testing.builders import a_job
from schedmate.testing.llm import ScriptedAsker
from schedmate.tracker.unknown import Learner
from schedulers.local_site import wait_for

PATTERN = LearnedPattern(expression=r"did (?P<current>\d+)", unit="step")
OPEN_LINES = [f"did {n} foo 512 bar 900 err {9 / (n + 1):.3f}" for n in range(1, 40)]
"""Nobody but a reader can tell which of the constants is the total."""


@dataclass
class Tracker:
    """As much of a tracker as learns."""

    learner: Learner = field(default_factory=Learner)

    @property
    def pattern(self):
        return self.learner.pattern

    def question(self):
        return self.learner.question()

    def settle(self, question, answer):
        self.learner.settle(question, answer)


@dataclass
class Run:
    code: str | None = "c0de"
    tracker: Any = field(default_factory=Tracker)
    pattern: LearnedPattern | None = None
    job: Any = field(default_factory=a_job)


def one_with(*lines, **parts):
    one = Run(**parts)
    for order, line in enumerate(lines, 1):
        one.tracker.learner.feed(line, order, float(order))
    return one


@pytest.fixture
def background():
    background = BackgroundQueue()
    yield background
    background.close()


def test_a_pattern_is_remembered_for_the_code(store, background):
    one = one_with()
    one.tracker.learner.adopt(PATTERN)
    PatternLearning(store, background).note(one)
    assert store.learned_pattern("c0de") == one.pattern == PATTERN


def test_a_pattern_that_proved_wrong_is_forgotten_and_a_better_one_kept(store, background):
    learning = PatternLearning(store, background)
    store.learn_pattern("c0de", PATTERN)
    one = one_with(pattern=PATTERN)
    learning.note(one)
    assert store.learned_pattern("c0de") is None
    better = replace(PATTERN, unit="epoch")
    one.tracker.learner.adopt(better)
    learning.note(one)
    assert store.learned_pattern("c0de") == better


def test_a_job_whose_code_nobody_read_teaches_nothing(store, background):
    one = one_with(code=None)
    one.tracker.learner.adopt(PATTERN)
    PatternLearning(store, background).note(one)
    assert one.pattern is None


def test_the_model_is_asked_once_for_all_runs_of_the_code(store, background):
    asker = ScriptedAsker([{"done": "39", "total": "512"}] * 3)
    learning = PatternLearning(store, background, asker)
    first, second = one_with(*OPEN_LINES), one_with(*OPEN_LINES)
    assert first.tracker.question() is not None
    for one in (first, second, first):
        learning.ask(one)
    wait_for(lambda: background.deliver(1.0) or first.tracker.learner.asked)
    learning.ask(first)
    assert len(asker.asked) == 1
    assert first.tracker.pattern.learnt_from == "llm"
    learning.note(first)
    assert store.learned_pattern("c0de").learnt_from == "llm"


def test_what_was_asked_about_is_not_remembered_without_bound(store, background, monkeypatch):
    monkeypatch.setattr("schedmate.service.daemon.pattern_learning._MOST_ASKED", 3)
    learning = PatternLearning(
        store, background, ScriptedAsker([{"done": "39", "total": "512"}] * 9)
    )
    for number in range(9):
        learning.ask(one_with(*OPEN_LINES, code=f"c0de{number}"))
    assert len(learning._asked) <= 3


def test_without_a_model_or_a_question_nothing_is_asked(store, background):
    asker = ScriptedAsker([])
    PatternLearning(store, background, asker).ask(one_with("hello", "world"))
    PatternLearning(store, background).ask(one_with(*OPEN_LINES))
    assert asker.asked == []
    assert background._tasks.empty()


def test_a_question_waits_for_a_model_that_is_installed_later(store, background, monkeypatch):
    monkeypatch.setattr("schedmate.service.daemon.background._TRY_AGAIN_S", 0.01)
    answer = {"done": "39", "total": "none"}
    asker = ScriptedAsker([ModelUnavailable("none yet"), ModelUnavailable("none yet"), answer])
    one = one_with(*OPEN_LINES)
    PatternLearning(store, background, asker).ask(one)
    wait_for(lambda: background.deliver(1.0) or one.tracker.learner.asked)
    assert len(asker.asked) == 3


def test_answers_are_heard_in_the_thread_of_the_loop(background):
    heard = []
    background.submit(
        "x", threading.get_ident, lambda worked_in, now: heard.append((worked_in, now))
    )
    wait_for(lambda: background.deliver(7.0) or heard)
    ((worked_in, now),) = heard
    assert (worked_in != threading.get_ident(), now) == (True, 7.0)
