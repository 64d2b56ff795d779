"""What several lines say together: totals announced before, caps, stops, links, counts of parts."""

from __future__ import annotations

import io

import pytest

from schedmate.model import Progress
from schedmate.tracker import track_stream


def track(*lines: str) -> Progress:
    return track_stream(io.BytesIO("\n".join(lines).encode() + b"\n"), name="log")


def minutes(line: str, count: int = 30) -> list[str]:
    """One line a second, with `{n}` for its number."""
    return [f"2025-01-01 12:00:{n:02} INFO {line.format(n=n, x=10 * n)}" for n in range(1, count)]


@pytest.mark.parametrize(
    ("before", "line", "unit", "current", "total"),
    [
        ("max_steps: 5000", "step {x} | loss 0.{n}", "step", 290, 5000),
        ("Namespace(lr=0.1, epochs=90)", "epoch {n}: loss 0.{n}", "epoch", 29, 90),
        ("Training for 400 iterations", "Iteration {x} loss 0.{n}", "step", 290, 400),
        ("warmup_steps: 20", "step {x}/1,000 loss 0.{n}", "step", 290, 1000),
        ("hello", "progress: {n}.5%", "percent", 29.5, 100),
        ("hello", "tokens {n}M/1B | loss 0.{n}", "token", 29e6, 1e9),
        ("hello", "[{x}/400] loss=0.{n}", "step", 290, 400),
        ("loaded 3/4 shards", "Episode {n}/40 | reward {n}", "step", 29, 40),
    ],
)
def test_the_run_s_total(before: str, line: str, unit: str, current: float, total: float):
    seen = track(before, *minutes(line))
    assert (seen.unit, seen.current, seen.total) == (unit, current, total)
    assert seen.eta_s is not None
    per_second = current / 29
    assert seen.eta_s.p50 == pytest.approx((total - current) / per_second, rel=0.1)


@pytest.mark.parametrize(
    "line",
    [
        "[{e}/25][{s}/100]\tLoss_D: 0.{n} Loss_G: 1.8 D(x): 0.5",
        "[Epoch {e}/25] [Batch {s}/100] [D loss: 0.{n}]",
        "({e}/25) ({s}/100) loss 0.{n}",
        "Epoch {e}/25 - {s}/100",
        "Epoch {e}/25: {s}/100 [loss 0.{n}]",
    ],
)
def test_steps_within_epochs_that_are_counted_from_nought(line: str):
    every = [line.format(n=n, e=30 * n // 100, s=30 * n % 100) for n in range(50)]
    seen = track(*(f"2025-01-01 12:00:{n:02} {text}" for n, text in enumerate(every)))
    assert (seen.unit, seen.current, seen.total) == ("step", 1470, 2500)
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(1030 / 30, rel=0.1)


@pytest.mark.parametrize(
    "line",
    [
        "Finished {x} of 5000",
        "{x} done, {r} to go",
        "completed: {x}/5000",
        "Iter: {x} -- max 5000",
        "progress=0.{n} ({x}/5000)",
        "updates: {x} (max 5000)",
        "ep. {x} von 5000",
        "Runde {x}/5000",
        "epoca {x} de 5000",
        "эпоха {x}/5000",
        "エポック {x}/5000",
        "第 {x}/5000 轮, 损失: 0.{n}",
        "sample {x} / 5k",
    ],
)
def test_one_count_in_many_words(line: str):
    every = [line.format(n=n, x=10 * n, r=5000 - 10 * n) for n in range(1, 50)]
    seen = track(*(f"2025-01-01 12:00:{n:02} {text}" for n, text in enumerate(every)))
    assert (seen.current, seen.total) == (490, 5000)
    assert seen.confidence > 0.5


@pytest.mark.parametrize(
    ("header", "row", "unit", "current", "metrics"),
    [
        (
            "epoch     train_loss  valid_loss  accuracy  time",
            "{n}         0.12    0.34    0.95  00:12",
            "epoch",
            29,
            {"train_loss": 0.12, "valid_loss": 0.34, "accuracy": 0.95},
        ),
        (
            "E    #       LOSS NER  SCORE\n---  ------  --------  ------",
            "0     {x}     30.20    0.30",
            "step",
            290,
            {"loss_ner": 30.2, "score": 0.3},
        ),
        (
            "   Step          Temp          TotEng",
            "   {x}    1.65   -2.3",
            "step",
            290,
            {"temp": 1.65, "toteng": -2.3},
        ),
        (
            "------------------------",
            "|  Epoch |  {n} |\n|  LossPi | 0.5 |",
            "epoch",
            29,
            {"losspi": 0.5},
        ),
        ("hello", "| step | {x} |\n| loss | 0.5 |", "step", 290, {"loss": 0.5}),
        ("hello", "[{x}] return 57.1 / length 500", "step", 290, {"return": 57.1, "length": 500}),
        (
            "hello",
            "tick {n}    kimg {n}.0    time {n}m 10s      sec/tick 60.3    sec/kimg 15.1",
            "sample",
            29_000,
            {},
        ),
    ],
)
def test_tables_and_lines_without_a_total(
    header: str, row: str, unit: str, current: float, metrics: dict[str, float]
):
    rows = [row.format(n=n, x=10 * n) for n in range(1, 30)]
    seen = track(header, *rows)
    assert (seen.unit, seen.current, seen.total) == (unit, current, None)
    assert seen.metrics == metrics


@pytest.mark.parametrize(
    "line",
    [
        "{n}MiB / 81559MiB",
        "step size too small {n}",
        "torch {n}/cu121",
        "Epoch 5: {n}/50 correct",
    ],
)
def test_what_is_no_progress_gets_no_total(line: str):
    seen = track(*(line.format(n=n) for n in range(1, 29)))
    assert seen.total is None or seen.confidence <= 0.5


def test_the_end_of_something_else_is_not_the_end():
    seen = track("Epoch 1/9 loss=2", "finished epoch 1", "EarlyStopping counter: 1 out of 5")
    assert (seen.phase, seen.ends_by) == ("training", "total")


@pytest.mark.parametrize(
    ("line", "ends_by"),
    [
        ("Early stopping at epoch 2", "early_stop"),
        ("Reached target accuracy 0.9", "early_stop"),
        ("stopping_early: wallclock_cap train_time:600011ms step:2/9", "cap"),
    ],
)
def test_a_run_that_says_why_it_stops(line: str, ends_by: str):
    seen = track("Epoch 1/9 loss=2", "Epoch 2/9 loss=1", line)
    assert (seen.phase, seen.ends_by) == ("finished", ends_by)


def test_a_cap_in_the_arguments_is_the_end():
    steps = [f"step:{n}00/20000 train_time:{n}000ms step_avg:10.00ms" for n in range(1, 50)]
    seen = track("iterations:20000 max_wallclock_seconds:60.000", *steps)
    assert (seen.current, seen.total, seen.ends_by) == (4900, 20_000, "cap")
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(11, abs=1)


def test_links_and_checkpoints_are_shown_without_secrets():
    seen = track(
        "wandb: 🚀 View run at https://ada:pw@wandb.ai/ada/m/runs/1a?apiKey=secret",
        "Epoch 1/9 loss=2, model saved to out/e1.pt",
    )
    assert seen.links == ("https://wandb.ai/ada/m/runs/1a",)
    assert seen.checkpoint is not None
    assert seen.checkpoint.path == "out/e1.pt"
