# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Formats written after the second set; what failed at first (5 of 24) was looked at then."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from bench.corpora.unknown_formats.labels import Line


def falling(r: Random, i: int) -> float:
    return 1.5 + 4 / math.sqrt(1 + i) + r.gauss(0, 0.03)


def portuguese(r: Random) -> Iterator[Line]:
    yield "Dispositivo: cuda:0 (80 GB)"
    for i in range(1, 141):
        yield f"[treino] lote {i * 2} de 280 - custo: {falling(r, i):.4f}", (i * 2, 280)


def polish_arrow(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield f"krok {i} → 100 ; strata {falling(r, i):.3f}", (i, 100)


def korean(r: Random) -> Iterator[Line]:
    for i in range(1, 81):
        yield f"에폭 {i}/80 손실={falling(r, i):.4f} 정확도={0.5 + i / 200:.3f}", (i, 80)


def backslash(r: Random) -> Iterator[Line]:
    for i in range(1, 121):
        yield f"{i}\\120  {falling(r, i):.4f}", (i, 120)


def angle_pair(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"<{i * 32}:6400> lik={-falling(r, i):.4f}", (i * 32, 6400)


def key_values_without_words(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"a={i * 5} b={falling(r, i):.4f} c={r.random():.3f} d=16", (i * 5, None)


def tuple_print(r: Random) -> Iterator[Line]:
    for i in range(200):
        yield f"({i}, {falling(r, i):.6f}, {r.random():.6f})", (i, None)


def numpy_print(r: Random) -> Iterator[Line]:
    for i in range(0, 2000, 10):
        yield f"[{i:7.0f}. {falling(r, i):10.4f} {r.random():8.4f}]", (i, None)


def percent_at_front(r: Random) -> Iterator[Line]:
    for i in range(1, 334):
        yield f"({i * 0.3:4.1f}%) solving block, residual {10 / i:.2e}", (round(i * 0.3, 1), 100)


def per_mille_steps_left(r: Random) -> Iterator[Line]:
    for i in range(1, 250):
        yield (
            f"remaining: {25000 - i * 100} | done: {i * 100} | err: {falling(r, i):.4f}",
            (
                i * 100,
                25000,
            ),
        )


def total_first(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"total 800, now {i * 4}, e {falling(r, i):.4f}", (i * 4, 800)


def target_word(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield (
            f"timestep={i * 2048} target_timesteps=1000000 ret={r.gauss(i, 5):.2f}",
            (
                i * 2048,
                1_000_000,
            ),
        )


def self_play(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield (
            f"game {i} of 100: {'white' if r.random() < 0.5 else 'black'} won after {r.randint(20, 120)} moves",
            (
                i,
                100,
            ),
        )


def climate_model(r: Random) -> Iterator[Line]:
    for i in range(1, 400):
        yield (
            f" day {i:5d} of 3650  tsurf {r.gauss(288, 1):.3f}  dt 1800s  cfl {r.uniform(0.2, 0.4):.3f}",
            (
                i,
                3650,
            ),
        )


def monte_carlo(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield (
            f"MC {i * 1_000_000:,} / 100,000,000 histories; rel.err {1 / (i * 1000) ** 0.5:.5f}",
            (
                i * 1_000_000,
                100_000_000,
            ),
        )


def trap_hidden_size(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield f"#{i} d=768 h=12 L=500 -> {falling(r, i):.4f}", (i, None)


def trap_constant_before(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield f"12000 {i} {falling(r, i):.4f} 0.0003", (i, None)


def trap_port_and_job(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield f"job 889213 port 29500 tick {i * 3} v {falling(r, i):.4f}", (i * 3, None)


def trap_correct_of(r: Random) -> Iterator[Line]:
    for i in range(1, 100):
        good = int(500 * (1 - 0.7 / i**0.5)) + r.randint(-3, 3)
        yield f"pass {i}: solved {max(0, good)} of 500 puzzles", (i, None)


def epochs_of_unequal_words(r: Random) -> Iterator[Line]:
    for e in range(1, 16):
        yield f"-- pass {e} --", (e, None), (e, 15)
        for b in range(1, 21):
            yield f"   chunk {b}/20 bits {falling(r, e * 20 + b):.3f}", (b, 20)


def worker_prefix(r: Random) -> Iterator[Line]:
    for i in range(1, 150):
        for w in range(3):
            yield (
                f"(Worker pid={4000 + w}, ip=10.1.1.{w}) seen {i * 256}/76800 err {falling(r, i):.3f}",
                (
                    i * 256,
                    76800,
                ),
            )


def glued(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"it{i * 10:06d}_of_004000 loss{falling(r, i):.4f}", (i * 10, 4000)


def irregular_prints(r: Random) -> Iterator[Line]:
    n = 0
    for _ in range(150):
        n += r.randint(80, 120)
        yield f"after {n} of 40000 sequences: bpc {falling(r, n // 100):.4f}", (n, 40000)


def ends_with_count(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"{falling(r, i):.4f} {r.random():.3f} 3e-4 | {i * 20}", (i * 20, None)


FORMATS = (
    portuguese, polish_arrow, korean, backslash, angle_pair, key_values_without_words, tuple_print,
    numpy_print, percent_at_front, per_mille_steps_left, total_first, target_word, self_play,
    climate_model, monte_carlo, trap_hidden_size, trap_constant_before, trap_port_and_job,
    trap_correct_of, epochs_of_unequal_words, worker_prefix, glued, irregular_prints,
    ends_with_count,
)  # fmt: skip


def garbage_collector(r: Random) -> Iterator[Line]:
    for i in range(150):
        yield f"[GC pause #{i} young {r.randint(10, 90)}M->{r.randint(1, 9)}M(256M) {r.uniform(1, 9):.2f}ms]"


def mail_queue(r: Random) -> Iterator[Line]:
    for _ in range(150):
        yield f"{r.randbytes(5).hex().upper()}: to=<u{r.randint(1, 99)}@x.org>, delay={r.uniform(0, 5):.2f}, status=sent (250 ok)"


def listing(r: Random) -> Iterator[Line]:
    for i in range(80):
        yield f"-rw-r--r-- 1 root root {r.randint(100, 99999)} Nov {1 + i % 28} 12:{r.randint(0, 59):02d} part-{i:05d}.parquet"


def thermostat(r: Random) -> Iterator[Line]:
    for i in range(150):
        yield f"12:{i // 60:02d}:{i % 60:02d} zone {r.randint(1, 4)} set 21 now {r.gauss(20.8, 0.2):.1f}"


def votes(r: Random) -> Iterator[Line]:
    for _ in range(100):
        yield f"quorum {r.randint(3, 5)}/5, term {r.randint(8, 9)}, leader n{r.randint(1, 5)}"


def stock(r: Random) -> Iterator[Line]:
    price = 100.0
    for _ in range(150):
        price += r.gauss(0, 1)
        yield f"bid {price:.2f} ask {price + 0.02:.2f} vol {r.randint(100, 900)}"


SILENT = (garbage_collector, mail_queue, listing, thermostat, votes, stock)
