"""One look at a hostile log ends early; the looks after it read what is left, once."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate.tracker import JobTracker
from schedmate.tracker.tailing import backlog
from schedmate.tracker.tailing.budget import _LEAST_LINES, ReadBudget

START = 1_700_000_000.0


def ticking_budget(lines: int) -> ReadBudget:
    """The time is up after so many questions for the time: one for each line beyond the least."""
    ticks = iter(range(1_000_000_000))
    return ReadBudget(lines, clock=lambda: float(next(ticks)))


def steps(first: int, last: int) -> bytes:
    return b"".join(b"step %d/100000 loss 0.5\n" % n for n in range(first, last + 1))


def tracker_of(*logs: Path, state: str | None = None) -> JobTracker:
    return JobTracker(logs, started_at=START, state=state)


def seen_in(tracker: JobTracker) -> int:
    return sum(scan.order for scan in tracker._scans)


def test_a_poll_reads_no_more_lines_than_its_budget_allows(tmp_path):
    log = tmp_path / "job.log"
    log.write_bytes(steps(1, 5000))
    tracker = tracker_of(log)
    progress = tracker.poll(START + 1, budget=ticking_budget(100))
    assert _LEAST_LINES <= seen_in(tracker) <= _LEAST_LINES + 100
    assert progress.current == seen_in(tracker)
    assert tracker.behind


@pytest.mark.slow
def test_over_several_looks_every_line_is_read_once(tmp_path):
    log = tmp_path / "job.log"
    log.write_bytes(steps(1, 5000))
    tracker, looks = tracker_of(log), 0
    while looks == 0 or tracker.behind:
        progress = tracker.poll(START + 1, budget=ticking_budget(100))
        looks += 1
    assert looks >= 5000 // (_LEAST_LINES + 100)
    assert (progress.current, seen_in(tracker)) == (5000, 5000)


@pytest.mark.slow
def test_a_restart_between_two_looks_loses_no_line(tmp_path):
    log = tmp_path / "job.log"
    log.write_bytes(steps(1, 5000))
    state = None
    for _ in range(20):
        tracker = tracker_of(log, state=state)
        progress = tracker.poll(START + 1, budget=ticking_budget(100))
        state = tracker.state()
    assert (progress.current, seen_in(tracker)) == (5000, 5000)
    assert not tracker.behind


@pytest.mark.slow
def test_below_the_bound_a_budget_changes_nothing(tmp_path):
    log = tmp_path / "job.log"
    free, bounded = tracker_of(log), tracker_of(log)
    for look in range(5):
        with log.open("ab") as file:
            file.write(steps(1000 * look + 1, 1000 * look + 1000))
        now = START + 60 * look + 60
        one, other = free.poll(now), bounded.poll(now, budget=ticking_budget(10_000_000))
        assert replace(one, cost=None) == replace(other, cost=None)


def test_a_hostile_log_does_not_starve_the_other_logs_of_its_run(tmp_path):
    hostile, other = tmp_path / "a.log", tmp_path / "b.log"
    hostile.write_bytes(b"".join(b"%x\n" % random.randrange(1 << 60) for _ in range(9000)))
    other.write_bytes(steps(1, 7))
    tracker = tracker_of(hostile, other)
    assert tracker.poll(START + 1, budget=ticking_budget(10)).current is None
    assert tracker.poll(START + 2, budget=ticking_budget(10)).current == 7


def test_of_a_log_far_behind_the_tail_alone_can_be_read(tmp_path):
    log = tmp_path / "job.log"
    log.write_bytes(steps(1, 90_000))
    tracker = tracker_of(log)
    tracker.poll(START + 1, budget=ticking_budget(10))
    left_out = tracker.skip_to_tails()
    assert 0 < left_out < log.stat().st_size
    progress = tracker.poll(START + 1)
    assert (progress.current, tracker.behind) == (90_000, False)
    with log.open("ab") as file:
        file.write(steps(90_001, 90_002))
    assert tracker.poll(START + 2).current == 90_002
    assert seen_in(tracker) < 9000


def test_of_lines_that_are_all_unique_few_are_handed_out():
    letters = [chr(97 + n).encode() for n in range(26)]
    rng = random.Random(1)
    lines = [b"error " + b"".join(rng.choices(letters, k=40)) for _ in range(40_000)]
    text = b"\n".join(lines) + b"\n"
    early = backlog.sample_lines(text, before=0)
    assert len(early) <= backlog._MOST_RARE + 3 * backlog._MOST_SHAPES + 1000
