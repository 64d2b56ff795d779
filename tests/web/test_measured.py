"""Figures are made once for all who ask at the same time, and not again for a while."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from schedmate.web.measured import Measured, Shared

PATIENCE_S = 60.0


class Counted:
    """Makes a value when it may, and counts how often it was asked to."""

    def __init__(self):
        self.may, self.keys = threading.Event(), []

    def __call__(self, key, now):
        self.keys.append(key)
        assert self.may.wait(PATIENCE_S)
        return f"{key} at {now:g}"


def test_readers_at_the_same_time_share_one_computation():
    made = Counted()
    shared = Shared(made, fresh_s=lambda _: 10.0)
    with ThreadPoolExecutor(8) as readers:
        waiting = [readers.submit(shared.value, "use", 0.0) for _ in range(8)]
        made.may.set()
        assert {one.result(PATIENCE_S) for one in waiting} == {"use at 0"}
    assert made.keys == ["use"]


def test_a_value_is_made_again_when_it_is_old_and_by_key():
    made = Counted()
    made.may.set()
    shared = Shared(made, fresh_s=lambda key: 10.0 if key == "a" else 1.0)
    assert [shared.value("a", at) for at in (0, 9, 10)] == ["a at 0", "a at 0", "a at 10"]
    assert [shared.value("b", at) for at in (0, 9)] == ["b at 0", "b at 9"]


def test_so_many_values_are_kept_and_no_more():
    made = Counted()
    made.may.set()
    shared = Shared(made, fresh_s=lambda _: 10.0)
    for key in range(1000):
        shared.value(key, 0.0)
    assert len(shared._made) < 100
    shared.value(999, 1.0)
    assert len(made.keys) == 1000
    shared.value(0, 1.0)
    assert len(made.keys) == 1001


def test_a_value_that_is_too_old_to_be_shown_is_not_kept():
    """A key may be all corrections that were ever made."""
    made = Counted()
    made.may.set()
    shared = Shared(made, fresh_s=lambda _: 10.0)
    for at in range(0, 100, 5):
        shared.value(f"corrections up to {at}", at)
    assert len(shared._made) <= 3
    assert not shared._making


def test_an_error_is_the_readers_own_and_the_next_tries_again():
    answers = iter([ZeroDivisionError(), "fine"])

    def make(_key, _now):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    shared = Shared(make, fresh_s=lambda _: 10.0)
    with pytest.raises(ZeroDivisionError):
        shared.value("a", 0.0)
    assert not shared._making
    assert shared.value("a", 0.0) == "fine"


def test_a_reader_without_patience_gets_nothing_yet():
    may = threading.Event()
    measured = Measured(lambda _: may.wait(PATIENCE_S) and "made", "nothing", fresh_s=60.0)
    assert measured.value(0.0, patience_s=0.0) == "nothing"
    may.set()
    assert measured.value(1.0, patience_s=PATIENCE_S) == "made"


def test_what_cannot_be_made_is_logged_and_tried_again_when_it_is_old(caplog):
    answers = iter(["made", ZeroDivisionError(), "made again"])

    def make(_):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    measured = Measured(make, "nothing", fresh_s=10.0)
    seen = []
    for at in (0.0, 20.0, 40.0):
        measured.value(at)
        wait_for_thread("figures")
        seen.append(measured.value(at))
    assert seen == ["made", "made", "made again"]
    assert [record.message for record in caplog.records] == ["figures are as they were before"]


def wait_for_thread(name):
    """One that was just made may not have begun: it cannot be joined yet."""
    until = time.monotonic() + PATIENCE_S
    while any(thread.name == name for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.001)
