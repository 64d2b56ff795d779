"""One run, one line, whatever the width of the screen."""

from __future__ import annotations

import pytest

from schedmate.cli._progress import progress_line
from schedmate.model import Checkpoint, Slowdown, Spread
from schedmate.testing.builders import a_progress

FULL = a_progress(
    log="/scratch/ada/runs/2026-01-05/slurm-1234567.out",
    current=123_456.0,
    total=1_000_000.0,
    fraction=0.123,
    eta_s=Spread(80_000, 90_000, 100_000),
    metrics={"loss": 2.3456, "accuracy": 0.5, "grad_norm": 3.0},
    slowdown=Slowdown(since_s=7200, factor=0.55),
    checkpoint=Checkpoint(path="out/ckpt", step=120_000),
    links=("https://wandb.ai/ada/run/1",),
)


@pytest.mark.parametrize("width", [1, 40, 60, 80, 100, 120, 250])
@pytest.mark.parametrize("bar", [True, False])
def test_it_fits(width, bar):
    line = progress_line(FULL, width, bar=bar).plain
    assert len(line) <= max(width, 28)
    assert "\n" not in line


def test_what_matters_most_stays_longest():
    assert progress_line(FULL, 80).plain == (
        "…/slurm-1234567.out  training  12%  123,456/1,000,000 steps  ends in 1-01:00:00"
    )
    wide = progress_line(FULL, 400).plain
    for part in (
        "/scratch/ada/runs/2026-01-05/slurm-1234567.out  training  12%  123,456/1,000,000 steps",
        "10/s  ends in 1-01:00:00 (22:13:20 to 1-03:46:40)",
        "slowed to 55% of its speed after 02:00:00",
        "loss 2.346  accuracy 0.5  saved at 120,000  https://wandb.ai/ada/run/1",
    ):
        assert part in wide
    assert "grad_norm" not in wide


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"ends_by": "cap"}, "ends by its time cap in 5.0s (2.5s to 10s)"),
        ({"ends_by": "limit"}, "ends by the scheduler's limit in 5.0s"),
        ({"ends_by": "early_stop"}, "ends in 5.0s (2.5s to 10s), if it does not stop early"),
        ({"phase": "stalled"}, "stalled  for 00:05:00  50%"),
        ({"rate_per_s": 0.25}, "4 s each"),
        ({"rate_per_s": 0.001}, "17 min each"),
        ({"rate_per_s": 1 / 10_800}, "3 h each"),
        ({"unit": "percent", "rate_per_s": 0.001}, "50%  17 min per %"),
        ({"counted": "trial"}, "50/100 trials"),
        ({"total": None}, "50 steps"),
        (
            {"slowdown": Slowdown(since_s=60, factor=0.7, against="similar")},
            "slowed to 70% of similar runs' speed after 60s",
        ),
    ],
)
def test_in_words(parts, says):
    assert says in progress_line(a_progress(**parts), 250, silent_s=300.0).plain


def test_a_run_that_is_over_has_neither_speed_nor_end():
    line = progress_line(a_progress(phase="finished", current=100.0, fraction=1.0), 250).plain
    assert line == "train.log  finished  100%  100/100 steps"


def test_a_stalled_run_has_neither_speed_nor_end():
    line = progress_line(a_progress(phase="stalled", rate_per_s=2.0), 250, silent_s=300.0).plain
    assert "/s" not in line
    assert "ends" not in line
