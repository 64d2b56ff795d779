from __future__ import annotations

import io

import pytest

from schedmate.model import Evidence, Finding, Progress, Workload
from schedmate.tracker import track_stream
from schedmate.tracker.forecasting.step_schedule import schedule_in, schedule_of_code

THIRDS = "    train_bs_schedule: tuple = (8 * 2048 * 8, 16 * 2048 * 8, 24 * 2048 * 8)"


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        (THIRDS, (0.0, 1 / 3, 2 / 3)),
        ("seq_len_schedule = [(0, 512), (1000, 1024), (3000, 2048)]", (0.0, 1000.0, 3000.0)),
        ('{"batch_size_schedule": {"0": 32, "500": 64}}', (0.0, 500.0)),
        ("TRAIN_BS_SCHEDULE=18432,36864,55296", (0.0, 1 / 3, 2 / 3)),
        ("resolution_stages: [64, 128]", (0.0, 0.5)),
        ("image size schedule: 64px until 10k, 128px until 15k, 256 after", (0.0, 1e4, 1.5e4)),
    ],
)
def test_a_schedule_of_sizes(line: str, begins: tuple[float, ...]):
    found = schedule_in(line)
    assert found is not None
    assert found.begins == pytest.approx(begins)
    assert list(found.costs) == sorted(found.costs)
    assert found.costs[0] == 1


@pytest.mark.parametrize(
    "line",
    [
        "lr_schedule: [0.1, 0.01]",
        "batch_size: 32",
        "scheduler: cosine",
        "train_bs_schedule = get_schedule()",
        "seq_len_schedule = [512]",
        "len(train_bs_schedule) * x",
        "batch_schedule" * 5000,
    ],
)
def test_what_is_none(line: str):
    assert schedule_in(line) is None


def test_a_dearer_resolution_counts_twice():
    length, resolution = schedule_in("seq_len_stages=[1, 2]"), schedule_in("image_stages=[1, 2]")
    assert length is not None
    assert resolution is not None
    assert resolution.costs[1] > 1.5 * length.costs[1]


def test_the_cost_of_what_is_to_come():
    schedule = schedule_of_code(f"val_bs_schedule = (1, 9)\n{THIRDS}\n")
    assert schedule is not None
    first, second, third = schedule.costs
    assert schedule.mean_cost(0, 100, 300) == first
    assert schedule.mean_cost(100, 300, 300) == pytest.approx((second + third) / 2)
    assert schedule.mean_cost(300, 300, 300) == third


def grown(share: float) -> tuple[bytes, float]:
    """The first share of a run whose steps take 1, 2 and 3 seconds, and the time of its rest."""
    lines, at = [], 0.0
    total = 600.0
    for step in range(1, 301):
        at += 1 + (step - 1) // 100
        if at <= share * total:
            lines.append(f"step:{step}/300 train_time:{at * 1000:.0f}ms loss:{3 - step / 200:.3f}")
    return "\n".join([*lines, ""]).encode(), (1 - share) * total


def tracked(text: bytes, workload: Workload | None = None) -> Progress:
    return track_stream(io.BytesIO(text), name="log", workload=workload)


def test_the_end_of_a_run_whose_steps_grow():
    text, left = grown(0.1)
    alone = tracked(text).eta_s
    evidence = (Evidence("train.py", 3, THIRDS),)
    record = Workload(batch_size=Finding(value=16, source="code", evidence=evidence))
    by_record = tracked(text, record).eta_s
    by_log = tracked(THIRDS.encode() + b"\n" + text).eta_s
    assert alone is not None
    assert alone.p50 < 0.6 * left, "nothing shows that steps will grow"
    for eta in (by_record, by_log):
        assert eta is not None
        assert eta.p50 == pytest.approx(left, rel=0.25)
        assert eta.p10 <= left <= eta.p90
