"""Logs without times: the average since the start, and how far off it may be."""

from __future__ import annotations

from io import BytesIO

import pytest

from schedmate.logs.file_times import WrittenSpan
from schedmate.model import Progress
from schedmate.tracker import track_with_curves
from schedmate.tracker.line_signs import states_early_stop

TOTAL = 1000


def _tracked(done: int, seconds: float, *before: str) -> Progress:
    steps = [f"step {step}/{TOTAL} loss {1 / step:.4f}" for step in range(1, done + 1)]
    answer, _ = track_with_curves(
        [("run.log", BytesIO("".join(f"{line}\n" for line in (*before, *steps)).encode()))],
        written=WrittenSpan(0.0, seconds),
        quiet_s=0.0,
        writing=lambda: True,
        curves=False,
    )
    return answer


def _seconds_of(steps: int) -> float:
    """Of the first steps of a run that grow evenly, the last one to 3.5 times the first."""
    return sum(10 * (1 + 2.5 * step / TOTAL) for step in range(steps))


@pytest.mark.parametrize("done", [100, 350, 700, 900])
def test_steps_that_grow_evenly_stay_within_the_spread(done: int):
    so_far = _seconds_of(done)
    eta = _tracked(done, so_far).eta_s
    assert eta is not None
    assert eta.p10 < _seconds_of(TOTAL) - so_far < eta.p90


def test_the_spread_narrows_as_the_run_goes_on():
    early, late = (_tracked(done, 10.0 * done).eta_s for done in (100, 900))
    assert early is not None
    assert late is not None
    assert late.p90 / late.p50 < 0.85 * early.p90 / early.p50


def test_a_schedule_in_the_log_makes_the_rest_dearer():
    stated = "sequence length schedule: 512 until 500, 1024 until 800, 2048 after"
    alone, known = (_tracked(400, 4000.0, *before) for before in ((), (stated,)))
    assert alone.eta_s is not None
    assert known.eta_s is not None
    assert known.eta_s.p50 == pytest.approx(alone.eta_s.p50 * (1 + 3 * 1.85 + 2 * 3.55) / 6)
    assert known.rate_per_s == alone.rate_per_s


def test_early_stopping_that_the_log_states():
    alone, known = (_tracked(400, 4000.0, *before) for before in ((), ("early_stopping=20",)))
    assert alone.ends_by == "total"
    assert known.ends_by == "early_stop"
    assert alone.eta_s is not None
    assert known.eta_s is not None
    assert known.eta_s.p10 < 0.5 * alone.eta_s.p10
    assert known.eta_s.p90 == alone.eta_s.p90


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("num_boost_round=5000 early_stopping_rounds=100", True),
        ("Training until validation scores don't improve for 100 rounds", True),
        ("Early stopping patience: 5", True),
        ("early_stopping_rounds=0", False),
        ("'early_stop': None, 'lr': 0.1", False),
        ("Early stopping at epoch 2", False),
        ("waiting until the queue is empty", False),
    ],
)
def test_what_states_early_stopping(line: str, stated: bool):
    assert states_early_stop(line) is stated
