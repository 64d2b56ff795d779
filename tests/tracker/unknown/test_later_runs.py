"""What is learnt about the log of one run serves the next run of the same code."""

from __future__ import annotations

from schedmate.tracker import JobTracker


def header_and_lines(total: int) -> str:
    lines = [f"did widget {i} err {9 / (i + 1):.3f}" for i in range(1, 60)]
    return "\n".join([f"max_widgets = {total}", *lines, ""])


def test_a_later_run_of_the_code_takes_its_total_from_its_own_header(tmp_path):
    first, second, third = (tmp_path / name for name in ("first.log", "second.log", "third.log"))
    first.write_text(header_and_lines(300))
    second.write_text(header_and_lines(1200))
    third.write_text("\n".join(header_and_lines(300).split("\n")[1:4]))
    earlier = JobTracker([first])
    assert earlier.poll(1000.0).total == 300
    assert earlier.pattern is not None

    assert JobTracker([second], pattern=earlier.pattern).poll(1000.0).total == 1200
    assert JobTracker([third], pattern=earlier.pattern).poll(1000.0).total is None


def test_the_length_of_a_countdown_is_not_kept_for_later_runs(tmp_path):
    log = tmp_path / "down.log"
    log.write_text("".join(f"remaining {100 - i} err {9 / (i + 1):.3f}\n" for i in range(60)))
    tracker = JobTracker([log])
    assert tracker.poll(1000.0).total == 100
    assert tracker.pattern is None


def test_percentages_are_of_a_hundred_in_every_run(tmp_path):
    log = tmp_path / "percent.log"
    log.write_text("".join(f"so far {i * 0.5:.1f}% q={9 / (i + 1):.3f}\n" for i in range(60)))
    tracker = JobTracker([log])
    assert tracker.poll(1000.0).total == 100
    pattern = tracker.pattern
    assert pattern is None or pattern.total == 100
