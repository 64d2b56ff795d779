"""Counts of one phase, part or unit are not taken for those of the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import pytest

from schedmate.model import Progress
from schedmate.tracker import track_stream


def tracked(lines: list[str]) -> Progress:
    return track_stream(BytesIO("\n".join([*lines, ""]).encode()), name="run.log")


def announced_phases(until: int) -> Iterator[str]:
    yield "burn-in: 3000 sweeps, production: 9000 sweeps"
    for i in range(100, 3001, 100):
        yield f"burn {i}/3000 E={-1.5 + i / 1e5:.5f}"
    for i in range(100, until + 1, 100):
        yield f"prod {i}/9000 E={-1.3 + i / 1e5:.5f} acc=0.41"


def phases_that_sum_up(until: int) -> Iterator[str]:
    yield "curriculum easy:400, medium:800, hard:800 -> 2000 updates"
    for name, length in (("easy", 400), ("medium", 800), ("hard", until)):
        for i in range(20, length + 1, 20):
            yield f"level={name} update={i} loss={3 - i / 1000:.3f}"


def by_the_clock(until: int) -> Iterator[str]:
    yield "Config(lr=0.001, max_steps=500000)"
    for i in range(1, until + 1):
        yield f"({i * 1.5:.1f}/60.0 min) step {i * 100} loss {2 - i / 100:.3f}"


def resumed(until: int) -> Iterator[str]:
    yield "continuing at step 4000, 6000 more steps (up to 10000)"
    for i in range(4100, until + 1, 100):
        yield f"step {i} train {3 - i / 10000:.4f} held-out {3.1 - i / 10000:.4f}"


def countdown(until: int) -> Iterator[str]:
    yield "fitting, 900 rounds to go"
    for i in range(10, until + 1, 10):
        yield f"kl {2 - i / 1000:.3f}, match {40 + i / 20:.1f}%, {900 - i} rounds to go"


def simulated_time(until: int) -> Iterator[str]:
    yield " dt = 1.0E-05  t_max = 2.000E-02"
    for i in range(1, until + 1):
        yield f" it= {i * 20:6d}  t = {i * 2e-4:.4E}  umax = {1 + i / 300:.3E}"


def stops_after(until: int) -> Iterator[str]:
    yield "dataset: 9,000,000 images found"
    yield "will stop after 600,000 samples"
    for i in range(5_000, until + 1, 5_000):
        yield f"samples {i:9,d} | top1 {i / 10000:5.2f} | loss {5 - i / 2e5:.3f}"


def product(until: int) -> Iterator[str]:
    yield "8 passes x 1,250 updates (batch 32)"
    for i in range(50, until + 1, 50):
        yield f"u {i:6d}  xent {7 - i / 2000:.3f}  bits {9 - i / 2000:.2f}"


def generations(until: int) -> Iterator[str]:
    yield "es.yaml -> generations: 20, rollouts_per_gen: 60"
    for gen in range(until):
        for i in range(10, 61, 10):
            yield f"gen {gen} | rollout {i}/60 | fit {gen + i / 60:.2f}"


def pieces_of_items(until: int) -> Iterator[str]:
    yield "restore: 5 volumes, 100.0 GiB"
    for volume in range(1, until + 1):
        yield f"==> volume {volume}/5 vol-{volume}.img (20.0 GiB)"
        for i in range(1, 11):
            yield f"   {i * 10:3d}%  {i * 2.0:4.1f} of 20.0 GiB  90.1 MiB/s"


CASES = [
    (announced_phases, 6000, 0.75),
    (phases_that_sum_up, 400, 0.8),
    (by_the_clock, 20, 0.5),
    (resumed, 7000, 0.7),
    (countdown, 450, 0.5),
    (simulated_time, 60, 0.6),
    (stops_after, 300_000, 0.5),
    (product, 4000, 0.4),
    (generations, 5, 0.25),
    (pieces_of_items, 2, 0.4),
]


@pytest.mark.parametrize(("lines", "until", "share"), CASES, ids=[one[0].__name__ for one in CASES])
def test_share_of_the_whole_run(lines, until, share):
    assert tracked(list(lines(until))).fraction == pytest.approx(share, abs=0.02)


def test_what_is_made_ready_is_not_the_run():
    lines = ["$ fit.py --epochs 80 --bs 64"]
    lines += [f"featurising molecule {i}/9000" for i in range(100, 8000, 100)]
    progress = tracked(lines)
    assert (progress.fraction, progress.total, progress.unit) == (0.0, 80, "epoch")
    assert progress.confidence <= 0.5


def test_a_ratio_is_never_the_count_of_episodes():
    lines = ["cfg = {'n_episodes': 2000, 'eps_start': 1.0}"]
    lines += [
        f"Ep {i:5d} | t={90 + i % 7} | R={i % 11 - 5:.2f} | eps={1 - i / 4000:.3f}"
        for i in range(10, 810, 10)
    ]
    assert tracked(lines).fraction == pytest.approx(0.4, abs=0.01)


def test_shards_of_the_data_are_not_believed_to_be_the_run():
    lines = ["corpus: 300B tokens in 1,000 shards"]
    lines += [
        f"step {i * 50} loss {9 - i / 100:.3f} shard {1 + i // 5}/1000" for i in range(1, 200)
    ]
    progress = tracked(lines)
    assert progress.fraction is None or progress.confidence <= 0.5
