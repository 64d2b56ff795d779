"""Numbers that a log declares, and the counts that run up to them."""

from io import BytesIO

import pytest

from schedmate.model import Progress
from schedmate.tracker import track_stream
from schedmate.tracker.unknown.declared import AMBIGUOUS, NAMED, QUANTIFIED, DeclaredNumbers


def track(*lines: str) -> Progress:
    return track_stream(BytesIO("\n".join([*lines, ""]).encode()), name="log")


@pytest.mark.parametrize(
    ("line", "count", "total", "trust"),
    [
        ("pop=300 ngen=200 cxpb=0.5", "gen", 200, QUANTIFIED),
        ("ocean model, 365 days, dt=1800s", "day", 365, NAMED),
        ("&RUN tmax = 0.5E+01 cfl = 0.6 /", "time", 5, QUANTIFIED),
        ("target updates 10000, bs 256", "upd", 10_000, QUANTIFIED),
        ("schedule: 9 epochs, cosine", "epoch", 9, NAMED),
        ("Duration: 00:10:00.00, start: 0.0", "time", 600, NAMED),
        ("found 418 segments, resuming at 0", "segments", 418, NAMED),
        ("400 steps, then 900 steps", "step", 900, AMBIGUOUS),
    ],
)
def test_the_number_of_what_is_counted(line: str, count: str, total: float, trust: float):
    declared = DeclaredNumbers()
    declared.see(line)
    assert declared.total_of((count,), 1) == (total, trust)


@pytest.mark.parametrize(
    "line", ["saving every 1000 steps", "312 steps per epoch", "warmup steps 2000", "eval_steps=50"]
)
def test_a_number_of_something_else(line: str):
    declared = DeclaredNumbers()
    declared.see(line)
    assert declared.total_of(("step",), 1) is None


def test_a_line_that_comes_again_with_other_numbers_declares_nothing():
    declared = DeclaredNumbers()
    for step in (10, 20, 30):
        declared.see(f"total steps {step}, seed 3")
    assert declared.total_of(("step",), 1) is None


def test_a_count_in_leaps_runs_up_to_what_the_header_states():
    steps = (3100, 5616, 11298, 14001, 20480, 22000, 31007, 40404)
    rows = (f"ep {n} | ret 3.1 | total env steps {at}" for n, at in enumerate(steps, 1))
    seen = track("env: Humanoid-v4  max_env_steps: 100000  seed: 3", *rows)
    assert (seen.current, seen.total) == (40404, 100_000)


def test_simulated_time_runs_up_to_its_end():
    rows = (f"it={n * 20:8d}  time= {n * 0.02:.5E}  dt= 0.1E-02" for n in range(1, 126))
    seen = track("&RUN  tmax = 0.50000E+01  cfl = 0.60 /", *rows)
    assert seen.fraction == pytest.approx(0.5)


def test_a_pair_in_front_holds_the_count_that_goes_round():
    rows = (
        f"level {level}/8 (len {level * 32}) step {step}/1000 loss 0.4"
        for level in (1, 2, 3)
        for step in range(100, 1001, 100)
    )
    assert track(*rows).fraction == pytest.approx(3 / 8, abs=0.01)


def test_processes_that_count_side_by_side_count_together():
    rows = (
        f"Chain {chain}, Iteration: {step * chain:4d} / 2000"
        for step in range(50, 501, 50)
        for chain in (1, 2, 3, 4)
    )
    assert track(*rows).fraction == pytest.approx((500 + 1000 + 1500 + 2000) / 8000, abs=0.01)
