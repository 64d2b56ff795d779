"""Which count is the run, and where its total comes from when the count does not say it."""

from __future__ import annotations

import io

import pytest

from schedmate.model import Finding, Mark, Progress, RunProfile, Workload
from schedmate.tracker import profile_stream, track_stream


def track(
    text: str, *, epochs: float | None = None, similar: tuple[RunProfile, ...] = ()
) -> Progress:
    known = None if epochs is None else Workload(epochs=Finding(value=epochs, source="cli"))
    return track_stream(io.BytesIO(text.encode()), name="log", workload=known, similar=similar)


def steps(first: int, last: int, pattern: str) -> str:
    return "".join(pattern.format(n=n) + "\n" for n in range(first, last))


def test_a_total_that_the_log_announces_counts_for_lines_without_one():
    seen = track("total steps: 400\n" + steps(1, 101, "step {n} loss 0.5"))
    assert (seen.current, seen.total, seen.fraction) == (100, 400, 0.25)
    assert 0.5 < seen.confidence < 0.95


def test_a_total_that_is_already_passed_is_none():
    seen = track("total steps: 50\n" + steps(1, 101, "step {n} loss 0.5"))
    assert (seen.current, seen.total) == (100, None)


def test_the_first_of_half_an_epoch_is_not_beyond_its_total():
    seen = track("Epoch 1\n", epochs=0.5)
    assert (seen.current, seen.total, seen.fraction) == (0, 0.5, 0)


def test_steps_that_name_their_part_of_an_epoch_tell_the_total():
    text = steps(1, 51, '{{"global_step": {n}, "epoch": 0.505, "loss": 1.0}}')
    seen = track(text, epochs=4)
    assert seen.total == pytest.approx(396)
    assert seen.confidence <= 0.5


def test_similar_runs_tell_the_total():
    past = RunProfile(unit="step", curve=(Mark(0, 0), Mark(100, 500)), total=None)
    seen = track(steps(1, 101, "step {n} loss 0.5"), similar=(past,))
    assert seen.total == 500
    assert seen.confidence <= 0.5


def test_similar_runs_that_do_not_agree_tell_no_total():
    similar = tuple(
        RunProfile(unit="step", curve=(Mark(0, 0), Mark(100, end))) for end in (500.0, 900.0)
    )
    assert track(steps(1, 101, "step {n} loss 0.5"), similar=similar).total is None


def test_folds_have_no_total_that_anybody_knows():
    fold = steps(1, 11, "Epoch {n}/10 loss=1.5")
    seen = track(fold * 2, epochs=10)
    assert (seen.unit, seen.total) == ("epoch", None)
    assert seen.confidence < 0.5


def test_rounds_of_which_only_the_end_is_printed_are_rounds():
    text = "".join(f"Epoch {n}/3\n16/16 - 2s - 127ms/step - loss: 1.4\n" for n in (1, 2, 3))
    assert track(text[: text.index("Epoch 3")]).fraction == pytest.approx(2 / 3)
    seen = track(text)
    assert (seen.phase, seen.fraction) == ("finished", 1)


def test_numbered_folds_have_one():
    folds = [f"fold {k}/5 epoch {n}/10 loss 1.5\n" for k in (1, 2) for n in range(1, 11)]
    seen = track("".join(folds[:13]))
    assert (seen.unit, seen.current, seen.total) == ("epoch", 13, 50)


def test_only_one_of_the_ranks_that_share_a_log_counts():
    text = "".join(
        f"[rank{rank}]: step {n - rank * 30}/1000 loss 1\n"
        for n in range(100, 200)
        for rank in (0, 1)
    )
    seen = track(text)
    assert (seen.current, seen.total) == (199, 1000)


def test_times_before_the_lines_tell_the_speed():
    text = "".join(
        f"2024-05-10 {12 + n // 60:02}:{n % 60:02}:00,000 INFO step {n}/1000 loss 1\n"
        for n in range(1, 101)
    )
    seen = track(text)
    assert seen.rate_per_s == pytest.approx(1 / 60, rel=0.02)
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(900 * 60, rel=0.05)


def test_a_time_that_goes_back_is_not_the_run_s():
    text = "".join(
        f"12:00:{n:02} step {n}/50 loss 1 train time: {n * 37 % 11}s\n" for n in range(1, 40)
    )
    seen = track(text)
    assert seen.rate_per_s == pytest.approx(1, rel=0.05)
    assert seen.elapsed_s == pytest.approx(38)


def test_times_of_day_pass_midnight():
    text = "".join(
        f"{(23 + n // 60) % 24:02}:{n % 60:02}:00 step {n}/1000 loss 1\n" for n in range(1, 101)
    )
    assert track(text).rate_per_s == pytest.approx(1 / 60, rel=0.02)


def test_a_count_from_zero_ends_one_below_its_total():
    assert track(steps(0, 50, "step {n}/50 loss 1")).phase == "finished"
    assert track(steps(0, 49, "step {n}/50 loss 1")).phase == "training"
    assert track(steps(1, 50, "step {n}/50 loss 1")).phase == "training"


def test_a_profile_is_what_the_next_run_learns_from():
    text = steps(1, 101, "step {n}/100 elapsed {n}s")
    profile = profile_stream(io.BytesIO(text.encode()))
    assert profile is not None
    assert (profile.unit, profile.total, profile.done, profile.ends_by) == (
        "step",
        100,
        100,
        "total",
    )
    assert profile.duration_s == pytest.approx(100)


def test_an_empty_log_has_no_profile():
    assert profile_stream(io.BytesIO(b"")) is None


def test_rows_of_a_table_are_read_by_its_header():
    rows = "".join(f"{n // 10},{n},{1 / (n + 1):.3f},1e-3\n" for n in range(1, 50))
    seen = track("epoch,step,train_loss,lr\n" + rows)
    assert (seen.format, seen.unit, seen.current) == ("csv", "step", 49)
    assert seen.metrics == {"train_loss": 0.02, "lr": 0.001}
