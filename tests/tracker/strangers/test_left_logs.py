"""Logs that are looked at once: what is known of their writers decides whether they are over."""

from __future__ import annotations

from io import BytesIO

import pytest

from schedmate.logs.file_times import WrittenSpan
from schedmate.model import Progress
from schedmate.tracker import track_with_curves

OPEN_ENDED = [*(f"iter {i * 10} err {1 / i:.5f}" for i in range(1, 90)), "wrote solution.vtk"]
CUT_OFF = [f"epoch {i}/90 loss {1 / i:.5f}" for i in range(1, 60)] + ["saved epoch.pt"]


def _look(lines: list[str], *, writing: bool | None) -> Progress:
    text = "".join(f"{line}\n" for line in lines)
    answer, _ = track_with_curves(
        [("run.log", BytesIO(text.encode()))],
        written=WrittenSpan(0.0, 900.0),
        quiet_s=60.0,
        writing=lambda: writing,
        curves=False,
    )
    return answer


def test_a_last_word_is_the_end_of_a_log_that_has_no_writer():
    assert _look(OPEN_ENDED, writing=False).phase == "finished"


@pytest.mark.parametrize("writing", [True, None])
def test_it_is_not_where_one_may_still_write(writing: bool | None):
    assert _look(OPEN_ENDED, writing=writing).phase != "finished"


def test_a_log_that_was_left_far_from_its_total_has_not_finished():
    assert _look(CUT_OFF, writing=False).phase != "finished"


def test_parts_hold_a_count_whose_format_is_learnt():
    lines = ["num_seeds: 5", "max_epochs: 40"]
    lines += [
        f"seed {i // 40 + 1} | epoch {i % 40 + 1} | val {0.5 + i / 1000:.4f}" for i in range(70)
    ]

    answer = _look(lines, writing=True)

    assert answer.fraction == pytest.approx(70 / 200, abs=0.03)
