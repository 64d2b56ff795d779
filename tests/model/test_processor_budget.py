"""A bound that a busy machine does not reach sooner."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from schedmate.advisor.interpret.python.budget import Budget, Exhausted, Limits
from schedmate.handler import Case, Handler
from schedmate.handler.learning.trials import HealthyLog, scan
from schedmate.model import processor_budget
from schedmate.model.account import account_name
from schedmate.model.processor_budget import ProcessorBudget
from schedmate.testing.builders import a_learned_rule

RIVALS = 15


@pytest.fixture
def busy(monkeypatch):
    """The processor is shared with so many others: the clock runs as many times as fast."""
    clock = SimpleNamespace(
        thread_time=time.thread_time, monotonic=lambda: RIVALS * time.thread_time()
    )
    monkeypatch.setattr(processor_budget, "time", clock)


@pytest.mark.parametrize(
    ("processor", "clock", "is_spent"), [(2.9, 59.0, False), (3.1, 3.1, True), (0.1, 61.0, True)]
)
def test_it_is_spent_by_the_processor_or_by_a_long_wait(monkeypatch, processor, clock, is_spent):
    now = SimpleNamespace(thread_time=lambda: 0.0, monotonic=lambda: 0.0)
    monkeypatch.setattr(processor_budget, "time", now)
    budget = ProcessorBudget(3.0, 60.0)
    now.thread_time, now.monotonic = lambda: processor, lambda: clock

    assert budget.is_spent is is_spent


def test_code_is_read_to_its_end_on_a_busy_machine(monkeypatch):
    now = SimpleNamespace(thread_time=lambda: 0.0, monotonic=lambda: 0.0)
    monkeypatch.setattr(processor_budget, "time", now)
    budget = Budget(Limits())
    now.thread_time, now.monotonic = lambda: 2.5, lambda: 2.5 * RIVALS

    budget.look_at_the_clock()

    now.thread_time = lambda: 3.5
    with pytest.raises(Exhausted):
        budget.look_at_the_clock()


def test_a_log_is_read_to_its_end_on_a_busy_machine(busy, tmp_path):
    log = tmp_path / "job.log"
    log.write_text("step 1 of 2, all is well\n" * 20_000 + "KeyError: 3\n")
    begun = time.thread_time()
    Handler().diagnose(Case(logs=(log,), exit_code=1))
    enough = 2 * (time.thread_time() - begun)

    found = Handler().diagnose(Case(logs=(log,), exit_code=1), within_s=enough)

    assert found.reason == "key_error"


def test_a_rule_is_tried_on_all_logs_on_a_busy_machine(busy, tmp_path):
    logs = []
    for number in range(20):
        logs.append(HealthyLog(tmp_path / f"{number}.log", account_name()))
        logs[-1].path.write_text("all is well\n" * 200)
    begun = time.thread_time()
    scan([a_learned_rule()], logs)

    found = scan([a_learned_rule()], logs, seconds=2 * (time.thread_time() - begun))

    assert (found.logs, found.of) == (20, 20)
