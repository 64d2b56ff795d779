# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Runs that were written and labelled after the sixth set had been read, and scored once before use."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.fifth import clock, falling
from bench.corpora.home_made_runs.run import Run, at


def pixel_diffusion(r: Random) -> Iterator[str]:
    yield "cfg: {'img': 64, 'T': 1000, 'train_num_steps': 70000, 'grad_accum': 2}"
    for i in range(700, 70001, 700):
        yield at(i / 70000, f"loss: {falling(r, i / 700):.4f} (iter {i})")


def segments_done(r: Random) -> Iterator[str]:
    yield "found 418 segments, resuming at 0"
    for i in range(1, 419):
        yield at(
            i / 418,
            f"segment_{r.randrange(10**5):05d}.wav ok, {i} segments done, WER so far {r.uniform(8, 9):.2f}",
        )


def replica_exchange(r: Random) -> Iterator[str]:
    yield "REMD: 16 replicas, 500 exchanges of 2000 steps each"
    for i in range(1, 501):
        yield at(
            i / 500,
            f"exchange {i:4d}  accepted {r.uniform(0.2, 0.3):.3f}  <E> {r.gauss(-4000, 20):.1f}",
        )


def epochs_and_left(r: Random) -> Iterator[str]:
    for e in range(1, 31):
        yield at(
            e / 30, f"ep{e:02d} done | {30 - e} to go | nll {falling(r, e):.3f} | {clock(e * 61)}"
        )


def go_style(r: Random) -> Iterator[str]:
    yield "2025/06/01 12:00:00 selfplay: target=4096 games workers=8"
    for i in range(32, 4097, 32):
        yield at(
            i / 4096,
            f"2025/06/01 {12 + i // 1200:02d}:{i // 20 % 60:02d}:{i % 60:02d} selfplay: games={i} winrate={r.uniform(0.5, 0.6):.3f} moves/s={r.randrange(700, 800)}",
        )


def french(r: Random) -> Iterator[str]:
    yield "Entraînement sur 25 époques (lot de 64)"
    for e in range(1, 26):
        yield at(
            e / 25,
            f"Époque {e} terminée - perte {falling(r, e):.4f} - précision {min(99, 60 + e)}%",
        )


def minutes_of_audio(r: Random) -> Iterator[str]:
    yield "transcribing 03:20:00 of audio with beam 5"
    for i in range(1, 101):
        yield at(
            i / 100,
            f"[{clock(i * 120)}] ... {r.choice(('and then', 'so we', 'the model', 'right'))} ({r.randrange(20, 30)}x realtime)",
        )


def hyperband(r: Random) -> Iterator[str]:
    yield "ASHA: 64 trials, rungs at 1, 3, 9"
    for i in range(1, 65):
        for rung in (1, 3, 9):
            yield f"    trial {i:02d} rung {rung} score {r.uniform(0.5, 0.9):.4f}"
        yield at(i / 64, f"trial {i:02d} finished, best so far {0.9:.4f}")


def open_rl(r: Random) -> Iterator[str]:
    for i in range(1, 301):
        yield f"ep {i} | ret {r.gauss(i / 3, 4):.2f} | len {r.randrange(80, 200)} | buf {min(50000, i * 140)}"


def quantum_sweeps(r: Random) -> Iterator[str]:
    yield "DMRG: L = 128, chi = 400, sweeps = 24"
    for s in range(1, 25):
        for half in ("left", "right"):
            yield at(
                (s - (0.5 if half == "left" else 0)) / 24,
                f"sweep {s} ({half}): E = {-56 - s / 100:.10f}, trunc = {10.0**-s:.2e}, t = {r.uniform(31, 33):.1f}s",
            )


def accumulate_tokens(r: Random) -> Iterator[str]:
    yield "budget: 2.5B tokens, context 2048, 8 GPUs"
    for i in range(1, 126):
        yield at(
            i / 125, f"tok {i * 20}M | xent {falling(r, i):.3f} | {r.randrange(300, 320)}k tok/s"
        )


def autoencoder_then_prior(r: Random) -> Iterator[str]:
    yield "stage 1 of 2: autoencoder"
    for e in range(1, 51):
        yield at(e / 100, f"  [{e}/50] rec {falling(r, e):.4f}")
    yield "stage 2 of 2: prior"
    for e in range(1, 51):
        yield at(0.5 + e / 100, f"  [{e}/50] nll {falling(r, e):.4f}")


def batches_of_epoch(r: Random) -> Iterator[str]:
    yield "12 epochs x 240 iterations"
    for e in range(12):
        for b in range(40, 241, 40):
            yield at((e * 240 + b) / 2880, f"e={e} b={b} l={falling(r, e + b / 240):.4f}")


def table_with_rule(r: Random) -> Iterator[str]:
    yield " round | clients |   loss |  acc  (100 rounds)"
    yield "-------+---------+--------+------"
    for i in range(1, 101):
        yield at(
            i / 100, f" {i:5d} | {r.randrange(5, 10):7d} | {falling(r, i):.4f} | {i / 200:.3f}"
        )


def yaml_then_it(r: Random) -> Iterator[str]:
    yield "optim:\n  name: lion\n  total_iters: 12000\n  warmup_iters: 500\ndata:\n  workers: 12"
    for i in range(100, 12001, 100):
        yield at(
            i / 12000,
            f"INFO | it {i:06d} | L {falling(r, i / 100):.3f} | gn {r.uniform(0.1, 0.9):.2f} | {r.uniform(0.2, 0.22):.3f} s/it",
        )


def folds_header(r: Random) -> Iterator[str]:
    yield "4-fold CV, 20 epochs per fold"
    for f in range(1, 5):
        yield f"=== fold {f} ==="
        for e in range(1, 21):
            yield at(((f - 1) * 20 + e) / 80, f"epoch {e}: dice {1 - falling(r, e) / 9:.4f}")


def finite_elements(r: Random) -> Iterator[str]:
    yield "Newmark: dt=1e-3, end time 2.0"
    for i in range(20, 2001, 20):
        yield at(
            i / 2000,
            f"time = {i / 1000:.3f}  newton its = {r.randrange(2, 5)}  |r| = {r.uniform(1e-9, 1e-8):.2e}",
        )


def eta_only(r: Random) -> Iterator[str]:
    for i in range(1, 91):
        yield at(
            i / 90,
            f"still working: elapsed {clock(i * 40)}, remaining about {clock((90 - i) * 40)}, mse {falling(r, i):.4f}",
        )


def crawler(r: Random) -> Iterator[str]:
    for i in range(1, 200):
        yield f"fetched {i * 37} pages, queue {r.randrange(100, 900)}, {r.uniform(20, 30):.1f} p/s"


def gradient_boost(r: Random) -> Iterator[str]:
    yield "boosting 400 trees (depth 6, eta 0.05)"
    for i in range(5, 401, 5):
        yield at(
            i / 400, f"tree #{i}\ttrain {falling(r, i / 5):.5f}\tvalid {falling(r, i / 6):.5f}"
        )
    yield "best tree #380"


RUNS = (
    Run(pixel_diffusion),
    Run(segments_done, training=False),
    Run(replica_exchange, training=False),
    Run(epochs_and_left),
    Run(go_style),
    Run(french),
    Run(minutes_of_audio, training=False),
    Run(hyperband),
    Run(open_rl, open_ended=True),
    Run(quantum_sweeps, training=False, timed=True),
    Run(accumulate_tokens, timed=True),
    Run(autoencoder_then_prior),
    Run(batches_of_epoch),
    Run(table_with_rule),
    Run(yaml_then_it, timed=True),
    Run(folds_header),
    Run(finite_elements, training=False),
    Run(eta_only, timed=True),
    Run(crawler, open_ended=True, training=False),
    Run(gradient_boost),
)
