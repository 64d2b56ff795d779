# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Formats that were looked at while the learner was built."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.unknown_formats.labels import Line

START = (
    "INFO start of run 17 on host gpu-04 (pid 23411)",
    "config: hidden=4096 layers=32 heads=32 seed=1234",
    "CUDA 12.4, driver 550.54.14, 8 devices",
    "parameters: 6,738,415,616",
)


def loss(r: Random, i: int) -> float:
    return 8 / (1 + 0.1 * i) + r.gauss(0, 0.08)


def bars_in_brackets(r: Random) -> Iterator[Line]:
    yield from START
    for i in range(1, 101):
        yield f"[{i * 50} | 5000] {loss(r, i):.4f}", (i * 50, 5000)


def out_of(r: Random) -> Iterator[Line]:
    yield from START
    for i in range(1, 80):
        yield f"finished {i * 20} out of 2000, q={loss(r, i):.3f}", (i * 20, 2000)
        if i % 10 == 0:
            yield f"held-out q={loss(r, i) + 0.1:.3f} after {r.randint(30, 60)} s"


def done_and_todo(r: Random) -> Iterator[Line]:
    for i in range(1, 120):
        yield f"done={i * 40} todo={4880 - i * 40}", (i * 40, 4880)


def percent_only(r: Random) -> Iterator[Line]:
    yield from START
    for i in range(1, 200):
        yield f"... {i / 2:.1f}% (cost {loss(r, i):.3f})", (i / 2, 100)


def fraction(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield f"progress {i / 100:.2f} objective {loss(r, i):.5f}", (i, 100)


def bare_columns(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield (
            f"{i * 10:8d} {loss(r, i):10.5f} {0.001:8.1e} {r.uniform(0.4, 0.6):6.3f}",
            (i * 10, None),
        )


def columns_with_total(r: Random) -> Iterator[Line]:
    for i in range(1, 100):
        yield f"{i * 10:8d} {3000:8d} {loss(r, i):10.5f}", (i * 10, 3000)


def german(r: Random) -> Iterator[Line]:
    yield "Lade Daten: 50000 Bilder"
    for i in range(1, 91):
        yield f"Durchgang {i} von 90: Fehler {loss(r, i):.3f}, Genauigkeit {i / 100:.2f}", (i, 90)


def french(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield f"étape {i * 5} sur 500 — perte {loss(r, i):.3f}", (i * 5, 500)


def russian(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield f"шаг {i * 100} из 10000, потери {loss(r, i):.3f}", (i * 100, 10000)


def chinese(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield f"第 {i} 轮 (共 100 轮) 损失 {loss(r, i):.3f}", (i, 100), (i, None)


def table_with_borders(r: Random) -> Iterator[Line]:
    yield "+--------+--------+--------+"
    yield "|  step  |  loss  |   lr   |"
    yield "+--------+--------+--------+"
    for i in range(1, 150):
        yield f"| {i * 25:6d} | {loss(r, i):6.3f} | {1e-3:6.4f} |", (i * 25, None)


def table_with_batch_size(r: Random) -> Iterator[Line]:
    yield "|  k  | bsz | loss |"
    for i in range(1, 150):
        yield f"| {i} | 500 | {loss(r, i):.3f} |", (i, None)


def trap_batch_size(r: Random) -> Iterator[Line]:
    yield from START
    for i in range(1, 300):
        yield f"it {i} bs 512 gpus 8 obj {loss(r, i):.3f} dt {r.uniform(0.1, 0.2):.3f}", (i, None)


def trap_seed(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield f"[seed 12345] update {i} hidden 1000 reward {i * 0.3 + r.gauss(0, 4):.2f}", (i, None)


def trap_accuracy(r: Random) -> Iterator[Line]:
    for i in range(1, 40):
        right = int(10000 * (1 - 0.4 / (i + 1))) + r.randint(-20, 20)
        yield f"== sweep {i} ==", (i, None)
        yield f"Test set: average {loss(r, i):.4f}, right: {right}/10000 ({right // 100}%)"


def epochs_and_batches(r: Random) -> Iterator[Line]:
    for e in range(1, 11):
        for b in range(1, 41):
            yield (
                f"E{e:03d} B{b:04d} {loss(r, e * 40 + b):.4f}",
                (b, 40),
                (b, None),
                (e * 40 - 40 + b, None),
            )


def epoch_pair(r: Random) -> Iterator[Line]:
    yield from START
    for e in range(20):
        for b in range(0, 200, 20):
            yield (
                f"({e}/20) <{b}/200> l={loss(r, e * 10 + b):.3f}",
                (b, 200),
                (e, 20),
                (e * 200 + b, 4000),
            )
        yield f"valid l={loss(r, e):.3f} acc={r.random():.3f}"


def samples_seen(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield (
            f"processed {i * 6000:,} of 1,281,167 images ({r.uniform(800, 900):.1f} img/s)",
            (
                i * 6000,
                1281167,
            ),
        )


def episodes(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        score = r.gauss(i / 10, 5)
        yield (
            f"Episode {i}\tscore {score:.1f}\tframes {i * 200 + r.randint(0, 150)}\teps 0.{90 - i // 10}",
            (
                i,
                None,
            ),
        )


def simulation_time(r: Random) -> Iterator[Line]:
    yield "system with 48,211 atoms, box 8.1 8.1 8.1 nm"
    for i in range(1, 500):
        yield (
            f"t = {i * 0.02:.2f} / 10.0 ns   T = {r.gauss(300, 2):.1f} K   E = {r.gauss(-5e5, 100):.1f}",
            (
                round(i * 0.02, 2),
                10.0,
            ),
        )


def lammps(r: Random) -> Iterator[Line]:
    yield "   Step          Temp          E_pair         Press"
    for i in range(200):
        yield (
            f"{i * 100:9d}   {r.gauss(1.44, 0.01):.6f}   {-6.77 + r.gauss(0, 0.01):.6f}   {r.gauss(-5, 0.1):.4f}",
            (
                i * 100,
                None,
            ),
        )


def ase_optimiser(r: Random) -> Iterator[Line]:
    yield "      Step     Time          Energy          fmax"
    for i in range(60):
        yield (
            f"BFGS: {i:4d} 12:{i // 60:02d}:{i % 60:02d} {-20 - i * 0.01:14.6f} {2 / (i + 1):14.6f}",
            (
                i,
                None,
            ),
        )


def k_fold(r: Random) -> Iterator[Line]:
    for fold in range(1, 6):
        for i in range(1, 31):
            yield f"fold {fold}/5 round {i}/30 auc {r.uniform(0.7, 0.8):.4f}", (i, 30), (fold, 5)


def trials(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        x = r.uniform(-5, 5)
        yield (
            f"trial #{i} of 100: x={x:.3f} depth={r.randint(2, 9)} value={x * x:.4f} best={0.1:.4f}",
            (
                i,
                100,
            ),
        )


def rank_prefixed(r: Random) -> Iterator[Line]:
    for i in range(1, 120):
        for rank in range(4):
            yield (
                f"node-{rank}| upd {i * 10} <- 8000 | {loss(r, i):.3f}",
                (i * 10, None),
                (i * 10, 8000),
            )


def timestamps(r: Random) -> Iterator[Line]:
    at = 0.0
    for i in range(1, 200):
        at += r.uniform(2, 3)
        clock = f"{int(at // 3600):02d}:{int(at // 60) % 60:02d}:{int(at) % 60:02d}"
        yield (
            f"2031-04-02 {clock},{r.randint(0, 999):03d} INFO trainer: {i * 5}/1000 nll {loss(r, i):.4f}",
            (
                i * 5,
                1000,
            ),
        )


def hex_ids(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield (
            f"job {r.randbytes(4).hex()} finished item {i} of 640 in {r.uniform(1, 2):.2f}s",
            (i, 640),
        )


def file_names(r: Random) -> Iterator[Line]:
    names = ("alpha", "beta", "gamma", "delta", "kappa", "omega", "sigma", "theta")
    for i in range(1, 300):
        yield f"converting {r.choice(names)}_{r.choice(names)}.wav [{i}/900]", (i, 900)


def remaining(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"{10000 - i * 50} samples left, running mean {loss(r, i):.3f}", (i * 50, 10000)


def elapsed_beside(r: Random) -> Iterator[Line]:
    at = 0.0
    for i in range(1, 300):
        at += r.uniform(0.9, 1.3)
        yield (
            f"{at:9.1f}s  n={i * 16}  chi2={loss(r, i):.4f}  mem={r.uniform(10, 11):.1f}GB",
            (
                i * 16,
                None,
            ),
        )


def durations(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        s = i * 7
        took = f"{s}s" if s < 60 else f"{s // 60}m{s % 60:02d}s"
        yield f"> {i}/300 in {took}, mse {loss(r, i):.4f}", (i, 300)


def text_bar(r: Random) -> Iterator[Line]:
    for i in range(1, 81):
        fill = "#" * (i // 4)
        yield f"[{fill:<20}] {i}/80 err {loss(r, i):.3f}", (i, 80)


def thousands(r: Random) -> Iterator[Line]:
    for i in range(1, 100):
        yield f"tokens: {i * 0.5:.1f}M / 50.0M, xent {loss(r, i):.3f}", (i * 5e5, 5e7)


def loading_then_training(r: Random) -> Iterator[Line]:
    for i in range(1, 17):
        yield f"loading shard {i}/16"
    for i in range(1, 200):
        yield f"> {i * 10} -> 4000 :: {loss(r, i):.4f}", (i * 10, 4000)


def cycles_with_inner(r: Random) -> Iterator[Line]:
    for c in range(1, 31):
        yield f"=== cycle {c} of 30 ===", (c, 30)
        for b in range(20, 101, 20):
            yield f"   part {b}/100 e={loss(r, c):.3f}", (b, 100), (c, 30)


def titles(r: Random) -> Iterator[Line]:
    words = [
        "the",
        "old",
        "man",
        "and",
        "sea",
        "a",
        "tale",
        "of",
        "two",
        "cities",
        "war",
        "peace",
        "in",
        "time",
    ]
    for i in range(1, 200):
        title = " ".join(r.choices(words, k=r.randint(1, 7)))
        yield f"summarising '{title}' ({i} of 640)", (i, 640)


def step_with_share(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        n = i * 25
        yield (
            f"n {n} ({100 * n / 5000:.2f}%) cost {loss(r, i):.3f}",
            (n, 5000),
            (100 * n / 5000, 100),
        )


def several_counts_in_turn(r: Random) -> Iterator[Line]:
    """Of this grid, or with the grids before it."""
    for size in (10, 20, 40, 80, 160):
        before = size - 10
        for i in range(1, size + 1):
            yield f"grid {i}/{size} residual {10 / i:.2e}", (i, size), (before + i, before + size)


FORMATS = (
    titles, step_with_share, several_counts_in_turn,
    bars_in_brackets, out_of, done_and_todo, percent_only, fraction, bare_columns,
    columns_with_total, german, french, russian, chinese, table_with_borders,
    table_with_batch_size, trap_batch_size, trap_seed, trap_accuracy, epochs_and_batches,
    epoch_pair, samples_seen, episodes, simulation_time, lammps, ase_optimiser, k_fold, trials,
    rank_prefixed, timestamps, hex_ids, file_names, remaining, elapsed_beside, durations, text_bar,
    thousands, loading_then_training, cycles_with_inner,
)  # fmt: skip
