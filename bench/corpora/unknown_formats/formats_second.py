# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Formats written after the learner; what failed at first (4 of 34) was looked at then."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.unknown_formats.labels import Line


def curve(r: Random, i: int) -> float:
    return 3 + 5 * 0.97**i + r.gauss(0, 0.05)


def spanish(r: Random) -> Iterator[Line]:
    yield "Cargando 3 ficheros"
    for i in range(1, 121):
        yield f"paso {i * 10} de 1200 | pérdida {curve(r, i):.4f}", (i * 10, 1200)


def italian_in_parentheses(r: Random) -> Iterator[Line]:
    for i in range(1, 91):
        yield f"Giro ({i}/90) errore: {curve(r, i):.4f} tempo: {r.uniform(3, 4):.1f}s", (i, 90)


def japanese(r: Random) -> Iterator[Line]:
    for i in range(1, 201):
        yield f"ステップ {i * 5} / 1000 損失 {curve(r, i):.3f}", (i * 5, 1000)


def arrow_and_tilde(r: Random) -> Iterator[Line]:
    for i in range(1, 151):
        yield f"~~ {i:05d} ~> {curve(r, i):.5f} ~~", (i, None)


def semicolon_row(r: Random) -> Iterator[Line]:
    for i in range(1, 301):
        yield f"{i * 4};{curve(r, i):.5f};{r.random():.4f};{1e-3:.1e}", (i * 4, None)


def percent_and_eta(r: Random) -> Iterator[Line]:
    for i in range(1, 401):
        left = (400 - i) * 3
        yield f"{i / 4:5.1f} % done, ETA {left // 60:02d}:{left % 60:02d}", (i / 4, 100)


def whole_percent_in_bar(r: Random) -> Iterator[Line]:
    for i in range(1, 101):
        yield f"|{'█' * (i // 5)}{' ' * (20 - i // 5)}| {i}% f={curve(r, i):.3f}", (i, 100)


def share_of_one(r: Random) -> Iterator[Line]:
    for i in range(1, 201):
        yield f"completed fraction={i / 200:.4f} kl={curve(r, i):.4f}", (i / 2, 100)


def counting_down(r: Random) -> Iterator[Line]:
    for i in range(300):
        yield f"{3000 - i * 10} to go", (i * 10, 3000)


def finished_running_waiting(r: Random) -> Iterator[Line]:
    done = 0
    for _ in range(120):
        done += r.randint(1, 4)
        yield (
            f"tasks: {done} finished, 8 running, {592 - done} waiting",
            (done, 592),
            (done, 600),
            (
                done,
                None,
            ),
        )


def total_in_words(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"iter={i * 3} max_iter=900 gap={curve(r, i):.3e}", (i * 3, 900)


def trap_world_size(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"[world 2048] tick {i} nodes 256 cost {curve(r, i):.3f}", (i, None)


def trap_unknown_constant(r: Random) -> Iterator[Line]:
    for i in range(1, 400):
        yield f"i={i} ctx=3000 zeta=1500 obj={curve(r, i):.3f}", (i, None)


def trap_neighbour_in_table(r: Random) -> Iterator[Line]:
    for i in range(1, 400):
        yield f"| {i:5d} | 100 | {curve(r, i):.4f} |", (i, None)


def trap_used_memory(r: Random) -> Iterator[Line]:
    used = 8000
    for i in range(1, 200):
        used += r.randint(0, 30)
        yield f"n {i * 2} :: vram {used}/40960 :: f {curve(r, i):.4f}", (i * 2, None)


def trap_reached_batch_size(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield f"pass {i} (32 per device) -> {curve(r, i):.4f}", (i, None)


def epochs_from_zero(r: Random) -> Iterator[Line]:
    for e in range(12):
        for b in range(0, 300, 25):
            yield f"{e}:{b:04d} obj {curve(r, e * 12 + b // 25):.4f}", (b, None), (b, 300)


def epoch_then_steps_of(r: Random) -> Iterator[Line]:
    for e in range(1, 9):
        for b in range(10, 251, 10):
            yield (
                f"ep {e} of 8, mb {b} of 250, nll {curve(r, e):.3f}",
                (b, 250),
                (e, 8),
                (e * 250 - 250 + b, 2000),
            )


def global_step_and_epoch(r: Random) -> Iterator[Line]:
    n = 0
    for e in range(1, 11):
        for _ in range(30):
            n += 10
            yield f"e{e} g{n} loss {curve(r, n // 10):.3f} bsz 64", (n, None)


def rl_frames(r: Random) -> Iterator[Line]:
    for i in range(1, 200):
        yield (
            f"frames: {i * 0.05:.2f}M/10.00M  fps: {r.randint(900, 1100)}  R: {r.gauss(i, 9):.1f}",
            (
                round(i * 50000.0),
                1e7,
            ),
        )


def rl_updates(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield (
            f"Updates {i}, num timesteps {i * 640}, FPS {r.randint(900, 990)}: mean reward {r.gauss(0, 9):.1f}",
            (i, None),
            (i * 640, None),
        )


def gromacs_like(r: Random) -> Iterator[Line]:
    for i in range(1, 150):
        yield "           Step           Time"
        yield f"{i * 5000:15d}{i * 10.0:15.5f}", (i * 5000, None)
        yield f"   {-1.2e5 + r.gauss(0, 100):.5e}    {r.gauss(300, 1):.5e}"


def cfd(r: Random) -> Iterator[Line]:
    t = 0.0
    for i in range(1, 250):
        t += 0.004
        yield f"Time = {t:.3f}"
        yield (
            f"PISO iter {i} of 2500: Ux residual = {0.1 / i:.6f}, Courant max {r.uniform(0.3, 0.4):.3f}",
            (
                i,
                2500,
            ),
        )
        yield f"ExecutionTime = {i * 0.31:.2f} s  ClockTime = {i // 3} s"


def scf_cycles(r: Random) -> Iterator[Line]:
    for m in range(1, 101):
        yield (
            f"molecule {m} / 100: H{r.randint(1, 9)}C{r.randint(1, 9)}O{r.randint(0, 3)}",
            (m, 100),
        )
        for c in range(1, r.randint(8, 14)):
            yield f"  cycle= {c} E= {-76 - 1 / c**2:.10f}  |g|= {1 / c**3:.3g}"


def generations(r: Random) -> Iterator[Line]:
    yield "gen\tnevals\tavg\tmin\tmax"
    for g in range(60):
        yield (
            f"{g}\t{r.randint(100, 200)}\t{50 + g * 0.5:.4f}\t{r.uniform(0, 20):.4f}\t{60 + g:.4f}",
            (
                g,
                None,
            ),
        )


def search_trials(r: Random) -> Iterator[Line]:
    for i in range(1, 151):
        yield (
            f"[{i:3d}/150] lr={10 ** r.uniform(-5, -2):.2e} wd={r.random():.3f} => {r.uniform(0.6, 0.9):.4f}",
            (
                i,
                150,
            ),
        )


def rows_with_commas(r: Random) -> Iterator[Line]:
    for i in range(1, 100):
        yield (
            f"wrote {i * 12_500:,} rows so far ({i * 12_500 / 2_000_000:.1%})",
            (
                i * 12500,
                2_000_000,
            ),
            (round(100 * i * 12_500 / 2_000_000, 1), 100),
        )


def paths_and_numbers(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        stem = "".join(r.choices("abcdef0123456789", k=10))
        yield f"encode /scratch/u{r.randint(1, 9)}/{stem}.mp4 -> ok ({i} out of 1500)", (i, 1500)


def iso_stamps_and_ranks(r: Random) -> Iterator[Line]:
    for i in range(1, 150):
        for rank in range(2):
            yield (
                f"2030-11-05T12:{i // 60:02d}:{i % 60:02d}.{r.randint(100, 999)}Z <{rank}> prog {i * 8}/1200 xe={curve(r, i):.3f}",
                (
                    i * 8,
                    1200,
                ),
            )


def elapsed_first(r: Random) -> Iterator[Line]:
    s = 0.0
    for i in range(1, 300):
        s += r.uniform(4, 6)
        yield f"+{s:.0f}s | {i} | {curve(r, i):.4f} | {r.uniform(50, 60):.1f} it/min", (i, None)


def two_interleaved(r: Random) -> Iterator[Line]:
    for i in range(1, 300):
        yield f"G upd {i * 2}/1000 adv {r.uniform(0.5, 1):.3f}", (i * 2, 1000)
        yield f"D upd {i * 4}/2000 adv {r.uniform(0.5, 1):.3f}", (i * 4, 2000)


def noisy_start(r: Random) -> Iterator[Line]:
    for i in range(40):
        yield f"block {i} has {r.randint(100, 900)} tensors, dtype bf16"
    for _ in range(10):
        yield f"WARNING: allreduce took {r.uniform(1, 9):.2f}s on ring {r.randint(0, 7)}"
    for i in range(1, 200):
        yield f"~ {i * 7} : {curve(r, i):.4f} : {r.uniform(0.1, 0.2):.3f}", (i * 7, None)


def very_short(r: Random) -> Iterator[Line]:
    for i in range(1, 100):
        yield f"{i}/400", (i, 400)


def sentences(r: Random) -> Iterator[Line]:
    for i in range(1, 100):
        yield (
            f"We are now at sweep number {i * 3}, the chain has 300 in all; energy {curve(r, i):.4f}.",
            (
                i * 3,
                300,
            ),
        )


FORMATS = (
    spanish, italian_in_parentheses, japanese, arrow_and_tilde, semicolon_row, percent_and_eta,
    whole_percent_in_bar, share_of_one, counting_down, finished_running_waiting, total_in_words,
    trap_world_size, trap_unknown_constant, trap_neighbour_in_table, trap_used_memory,
    trap_reached_batch_size, epochs_from_zero, epoch_then_steps_of, global_step_and_epoch,
    rl_frames, rl_updates, gromacs_like, cfd, scf_cycles, generations, search_trials,
    rows_with_commas, paths_and_numbers, iso_stamps_and_ranks, elapsed_first, two_interleaved,
    noisy_start, very_short, sentences,
)  # fmt: skip
