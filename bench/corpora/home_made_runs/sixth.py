# ruff: noqa: E501, ARG001, PLR2004 - a printed line is easier to read in one piece; some need no chance
"""Runs that were written and labelled after the fifth set had been read, and scored once before use."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.fifth import clock, falling
from bench.corpora.home_made_runs.run import Run, at


def particles_left(r: Random) -> Iterator[str]:
    yield "Monte Carlo transport: 2,000,000 particles on 32 ranks"
    for i in range(1, 101):
        yield at(
            i / 100,
            f"  transported {i * 20000:>9,d} particles   k-eff = {r.gauss(1, 0.002):.5f} +/- {0.01 / i:.5f}",
        )


def rust_tracing(r: Random) -> Iterator[str]:
    yield "2025-05-02T08:00:00.000001Z  INFO trainer: starting num_steps=6000 batch=128 lr=3e-4"
    for i in range(50, 6001, 50):
        yield at(
            i / 6000,
            f"2025-05-02T08:{i // 100:02d}:{i % 60:02d}.120001Z  INFO trainer: step={i} loss={falling(r, i / 50):.5f} tps={r.randrange(900, 950)}",
        )


def alternating_gan(r: Random) -> Iterator[str]:
    yield "GAN | epochs 80 | n_critic 5"
    for e in range(80):
        for k in (100, 200, 300):
            yield at(
                (e + k / 300) / 80,
                f"[E{e:03d}] b{k:04d}/0300 lossD={r.uniform(0.4, 0.6):.3f} lossG={r.uniform(0.8, 1.2):.3f}",
            )


def sweep_table(r: Random) -> Iterator[str]:
    yield "grid search over 36 combinations"
    yield "  #   lr       depth  score    best"
    for i in range(1, 37):
        yield at(
            i / 36,
            f"{i:3d}   {r.uniform(1e-4, 1e-2):.5f}  {r.randrange(3, 9)}      {r.uniform(0.6, 0.9):.4f}   {0.9:.4f}",
        )


def portuguese(r: Random) -> Iterator[str]:
    yield "Treinando por 45 épocas com lote de 32"
    for i in range(1, 46):
        yield at(
            i / 45,
            f"época {i} concluída — erro médio {falling(r, i):.4f} ({r.uniform(20, 22):.1f} s)",
        )


def hydro(r: Random) -> Iterator[str]:
    yield "  t_end = 12.0   output_dt = 0.5   nx = 256 ny = 256"
    t = 0.0
    n = 0
    while t < 12.0:
        t = min(12.0, t + r.uniform(0.04, 0.06))
        n += 25
        yield at(
            t / 12.0,
            f" cycle {n:6d}: t = {t:9.5f}, dt = {r.uniform(0.0016, 0.0024):.6f}, max|v| = {r.uniform(1, 2):.3f}",
        )


def percent_in_front(r: Random) -> Iterator[str]:
    for i in range(1, 126):
        yield at(
            i / 125,
            f"{i / 1.25:5.1f}%  | mel {falling(r, i):.3f} | stop {falling(r, i) / 9:.3f} | spk {r.randrange(1, 100)}",
        )


def json_tokens(r: Random) -> Iterator[str]:
    yield '{"type":"config","total_tokens":8000000000,"ctx":4096,"global_bs":512}'
    for i in range(1, 161):
        yield at(
            i / 160,
            f'{{"type":"log","iter":{i * 24},"tokens":{i * 50000000},"ce":{falling(r, i):.4f},"mfu":0.4{r.randrange(10)}}}',
        )


def episodes_of_levels(r: Random) -> Iterator[str]:
    yield "will play 3000 episodes, report every 25"
    for i in range(25, 3001, 25):
        yield at(
            i / 3000,
            f"#{i:<5d} R̄={r.uniform(0, 1) * i / 30:.2f} len={r.randrange(100, 300)} ε={max(0.05, 1 - i / 2000):.3f}",
        )


def two_stages(r: Random) -> Iterator[str]:
    yield "stage A: 400 its, stage B: 1200 its"
    for i in range(20, 401, 20):
        yield at(i / 1600, f"A it {i}/400 err {falling(r, i / 20):.4f}")
    for i in range(20, 1201, 20):
        yield at((400 + i) / 1600, f"B it {i}/1200 err {falling(r, i / 20):.4f}")


def chunk_worker(r: Random) -> Iterator[str]:
    yield "splitting input into 640 chunks for 8 workers"
    for i in range(1, 641):
        yield at(
            i / 640, f"worker {r.randrange(8)} finished chunk {i:04d} in {r.uniform(3, 4):.2f} s"
        )


def annealing(r: Random) -> Iterator[str]:
    yield "SA: T0=100 Tmin=0.1 alpha=0.95 sweeps per temperature=200"
    for i in range(1, 136):
        yield f"T={100 * 0.95**i:.4f} E={-200 - i:.2f} accepted={r.randrange(10, 190)}"


def sleepy_service(r: Random) -> Iterator[str]:
    yield "polling queue jobs-prod every 30 s (max 10 messages)"
    for i in range(1, 150):
        yield f"{clock(i * 30)} poll #{i}: got {r.randrange(0, 10)} messages, {r.randrange(0, 4)} in flight"


def resumed_epochs(r: Random) -> Iterator[str]:
    yield "Resuming from last.ckpt (epoch 60)"
    yield "Number of epochs ........ 150"
    for e in range(61, 151):
        yield at(
            e / 150,
            f"[{e:3d}] tr {falling(r, e):.4f} va {falling(r, e) + 0.1:.4f} {r.uniform(50, 52):.0f}s",
        )


def italian_left(r: Random) -> Iterator[str]:
    for i in range(1, 91):
        yield at(i / 90, f"lotto {i} di 90 elaborato, mancano circa {90 - i} minuti")


def sampler_bar(r: Random) -> Iterator[str]:
    for i in range(10, 1501, 10):
        filled = i * 30 // 1500
        yield at(
            i / 1500,
            f"sampling [{'#' * filled}{'.' * (30 - filled)}] {i} it, {1500 - i} to go, div={r.randrange(3)}",
        )


def worker_counts(r: Random) -> Iterator[str]:
    counts = dict.fromkeys(range(3), 0)
    while min(counts.values()) < 300:
        one = r.choice([w for w, done in counts.items() if done < 300])
        counts[one] += 5
        yield at(
            sum(counts.values()) / 900,
            f"worker-{one} | step {counts[one]}/300 | reward {r.uniform(0, 9):.2f}",
        )


def warm_then_main(r: Random) -> Iterator[str]:
    yield "tokenizing corpus: 200 files"
    for i in range(20, 201, 20):
        yield at(0.0, f"tokenized {i}/200 files")
    yield "optim steps to do: 2400"
    for i in range(20, 2401, 20):
        yield at(
            i / 2400, f"{i:>6} | {falling(r, i / 20):.4f} | {r.uniform(0.9, 1.1):.2f} | 3.0e-04"
        )


def clocks_only(r: Random) -> Iterator[str]:
    yield "Simulation length 00:40:00 (model time)"
    for i in range(1, 121):
        yield at(
            i / 120,
            f"model time {clock(i * 20)}  cpu {i * 1.7:.1f}  cells {r.randrange(9000, 9100)}",
        )


def rounds_in_table(r: Random) -> Iterator[str]:
    yield "fl_rounds=60 clients_per_round=8 local_steps=50"
    yield "round;clients;acc;loss"
    for i in range(1, 61):
        yield at(i / 60, f"{i};8;{0.4 + i / 150:.4f};{falling(r, i):.4f}")


_OTHER = (
    particles_left, sweep_table, hydro, chunk_worker, italian_left, sampler_bar, clocks_only,
)  # fmt: skip
_TRAINING = (
    rust_tracing, alternating_gan, portuguese, percent_in_front, json_tokens, episodes_of_levels, two_stages,
    resumed_epochs, worker_counts, warm_then_main, rounds_in_table,
)  # fmt: skip

RUNS = (
    *(Run(one, training=False) for one in _OTHER),
    *(Run(one) for one in _TRAINING),
    Run(annealing, open_ended=True, training=False),
    Run(sleepy_service, open_ended=True, training=False),
)
