from __future__ import annotations

import random
from collections.abc import Iterable

from schedmate.tracker.formats import Sighting
from schedmate.tracker.unknown.learner import PatternCheck


def after(values: Iterable[float], total: float | None = None) -> PatternCheck:
    check = PatternCheck()
    for order, value in enumerate(values):
        shown = total if total is not None and value <= total else None
        seen = Sighting(current=value, total=shown)
        check.see(seen, order, with_total=total is not None)
    return check


def test_a_steady_count_is_right():
    assert not after(range(0, 5000, 50), total=5000).wrong


def test_a_restart_and_a_resume_are_no_proof():
    assert not after([*range(100), *range(100)]).wrong
    assert not after([*range(20), *range(4000, 4100)]).wrong


def test_writers_a_little_out_of_order_are_no_proof():
    assert not after([10, 20, 10, 30, 20, 40, 30, 50, 40, 60]).wrong


def test_going_back_and_forth_is_wrong():
    chance = random.Random(1)
    assert after(chance.uniform(0, 1000) for _ in range(40)).wrong


def test_jumping_about_is_wrong():
    assert after([1, 2, 3, 4, 5, 6, 900, 901, 5000, 5001, 99999]).wrong


def test_passing_the_total_is_wrong():
    assert after(range(28, 40), total=32).wrong
    assert not after(range(33), total=32).wrong


def test_lines_that_are_no_longer_read_are_noticed():
    check = after(range(5))
    for _ in range(100):
        check.miss()
    assert check.wrong


def test_where_it_goes_round_is_what_a_round_has():
    assert after([*range(1, 41), *range(1, 41), *range(1, 5)]).lap == 40
    assert after([*range(40), *range(40), *range(5)]).lap == 40
    assert after([*range(1, 41), *range(1, 39), 1, 2]).lap is None
