"""Counts that go round: how long a round is becomes known after the first ones."""

from __future__ import annotations

from io import BytesIO

from schedmate.model import Progress
from schedmate.tracker import track_stream


def tracked(lines: list[str]) -> Progress:
    return track_stream(BytesIO("\n".join([*lines, ""]).encode()), name="run.log")


def test_epochs_from_zero_are_known_from_before_the_round_was():
    lines = [f"e={e} b={b} l={9 / (e + b):.4f}" for e in range(6) for b in range(40, 241, 40)]
    found = tracked(["12 epochs x 240 iterations", *lines])

    assert (found.current, found.total) == (6 * 240, 12 * 240)


def test_a_round_counts_within_the_part_that_holds_it():
    lines = ["4-fold CV, 20 epochs per fold"]
    for fold in range(1, 5):
        lines.append(f"=== fold {fold} ===")
        lines += [f"epoch {e}: dice {1 - 1 / (e + 1):.4f}" for e in range(1, 21)]
    found = tracked(lines[:-10])

    assert found.fraction == (3 + 10 / 20) / 4


def test_a_time_that_is_left_may_be_stated_with_a_doubt():
    lines = [
        f"still working: elapsed 00:{i:02d}:00, remaining about 00:{50 - i:02d}:00, mse {9 / i:.4f}"
        for i in range(1, 31)
    ]
    found = tracked(lines)

    assert found.fraction == 0.6
