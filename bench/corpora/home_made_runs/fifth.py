# ruff: noqa: E501, ARG001, PLR2004, RUF001 - a printed line is easier to read in one piece; some need no chance
"""Runs as other hands may write them, each line labelled with the share that is done by then."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.run import Run, at


def falling(r: Random, i: float) -> float:
    return 2.1 / (1 + 0.05 * i) + abs(r.gauss(0, 0.02))


def clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def cpp_printf(r: Random) -> Iterator[str]:
    yield "conjugate gradient solver v2.1 (threads=16)"
    yield "  tolerance      : 1.0e-09"
    yield "  max iterations : 4000"
    for i in range(20, 4001, 20):
        yield at(
            i / 4000,
            f"[iter {i:6d}] E={falling(r, i / 20):.5e} dE={r.uniform(1, 9):.2e} t={i * 0.05:.2f}s",
        )


def julia_meter(r: Random) -> Iterator[str]:
    yield "Activating environment at `~/proj/Project.toml`"
    for i in range(1, 101):
        yield at(
            i / 100,
            f"Progress: {i:3d}%|{'█' * (i // 4):<25}|  ETA: 0:{(100 - i) // 60:02d}:{(100 - i) % 60:02d}",
        )


def fortran_time(r: Random) -> Iterator[str]:
    yield "  &RUN  tmax = 0.50000E+01  cfl = 0.60  nx = 512 /"
    for i in range(1, 251):
        yield at(
            i / 250,
            f"      it={i * 20:8d}   time= {i * 0.02:.5E}   dt= {0.001 + r.uniform(0, 1e-5):.3E}  cfl= 0.5{r.randrange(10)}",
        )


def json_done_todo(r: Random) -> Iterator[str]:
    for i in range(1, 121):
        yield at(
            i / 120,
            f'{{"ts":"2025-03-01T10:{i // 60:02d}:{i % 60:02d}Z","lvl":"info","msg":"progress","done":{i * 400},"todo":{48000 - i * 400}}}',
        )


def json_nested(r: Random) -> Iterator[str]:
    for i in range(1, 151):
        yield at(
            i / 150,
            f'{{"event":"train","data":{{"upd":{i * 20},"upd_max":3000,"loss":{falling(r, i):.4f}}}}}',
        )


def evolution_table(r: Random) -> Iterator[str]:
    yield "pop=300 ngen=200 cxpb=0.5 mutpb=0.2"
    yield "gen\tnevals\tavg    \tstd    \tmin\tmax"
    for i in range(201):
        yield at(
            i / 200,
            f"{i}  \t{r.randrange(150, 200)}   \t{20 + i * 0.1:.4f}\t{r.uniform(1, 3):.5f}\t{r.randrange(5, 15)} \t{30 + i // 10}",
        )


def logfmt_of(r: Random) -> Iterator[str]:
    for i in range(1, 401):
        yield at(
            i / 400,
            f"time=2025-03-01T10:{i // 60:02d}:{i % 60:02d}Z level=info msg=batch n={i} of=400 loss={falling(r, i):.4f}",
        )


def german_durchlauf(r: Random) -> Iterator[str]:
    yield "Starte Berechnung auf 4 Kernen"
    for i in range(1, 61):
        yield at(
            i / 60,
            f"Durchlauf {i} von 60: Fehler {falling(r, i):.4f}".replace(".", ",")
            + f" (Restzeit {clock((60 - i) * 30)})",
        )


def french_percent(r: Random) -> Iterator[str]:
    for i in range(50, 5001, 50):
        yield at(
            i / 5000,
            f"[Itération {i}] perte = {falling(r, i / 50):.3f} – avancement {i / 50:.1f} %",
        )


def chinese_nested(r: Random) -> Iterator[str]:
    for epoch in range(1, 26):
        for b in range(30, 121, 30):
            yield at(
                (epoch - 1 + b / 120) / 25,
                f"训练中：第{epoch}轮，共25轮，批次 {b}/120，损失 {falling(r, epoch):.4f}",
            )
        yield at(epoch / 25, f"验证：准确率 {80 + epoch / 3:.2f}%")


def gan_k(r: Random) -> Iterator[str]:
    for i in range(1, 301):
        yield at(i / 300, f"G {r.uniform(0.8, 1.2):.3f} D {r.uniform(0.3, 0.6):.3f} it {i}k/300k")


def rl_frames(r: Random) -> Iterator[str]:
    for i in range(1, 201):
        yield at(
            i / 200,
            f"frames={i * 0.25:.2f}M (of 50M) updates={i * 195} R={r.uniform(1, 2) * i:.1f} fps={r.randrange(4100, 4300)}",
        )


def rl_env_budget(r: Random) -> Iterator[str]:
    yield "algo: sac  env: Humanoid-v4  max_env_steps: 1000000  seed: 3"
    steps = 0
    number = 0
    while steps < 1_000_000:
        number += 1
        steps = min(1_000_000, steps + r.randrange(2000, 7000))
        yield at(
            steps / 1e6,
            f"ep {number} | len {r.randrange(200, 1000)} | ret {r.uniform(10, 4000):.1f} | total env steps {steps}",
        )


def configs(r: Random) -> Iterator[str]:
    for c in range(1, 25):
        yield at(
            (c - 1) / 24, f">>> config {c} / 24: {{'lr': {r.uniform(1e-4, 1e-2):.5f}, 'wd': 0.01}}"
        )
        for epoch in range(1, 11):
            yield at((c - 1 + epoch / 10) / 24, f"    epoch {epoch}/10 val {falling(r, epoch):.4f}")


def folds(r: Random) -> Iterator[str]:
    yield "Args: epochs=40 folds=5 lr=0.001"
    for fold in range(5):
        yield at(fold / 5, f"-- fold {fold} --")
        for epoch in range(40):
            yield at(
                (fold + (epoch + 1) / 40) / 5,
                f"ep {epoch:02d} train {falling(r, epoch):.4f} val {falling(r, epoch) + 0.1:.4f}",
            )


def levels(r: Random) -> Iterator[str]:
    for level in range(1, 9):
        for i in range(50, 1001, 50):
            yield at(
                (level - 1 + i / 1000) / 8,
                f"level {level}/8 (len {level * 32}) step {i}/1000 loss {falling(r, i / 50):.4f}",
            )


def many_ranks(r: Random) -> Iterator[str]:
    for i in range(40, 4001, 40):
        for rank in r.sample(range(4), 4):
            yield at(i / 4000, f"[rank{rank}|gpu{rank}] s {i}/4000 l {falling(r, i / 40):.3f}")


def token_budget(r: Random) -> Iterator[str]:
    for i in range(1, 201):
        yield at(
            i / 200,
            f"consumed {i * 0.1:.2f}B / 20.00B tokens, loss {falling(r, i):.3f}, {r.randrange(400, 420)}k tok/s",
        )


def images_in_epochs(r: Random) -> Iterator[str]:
    yield "ImageNet-1k: 1281167 images; schedule: 9 epochs, cosine"
    for epoch in range(9):
        for i in range(1, 11):
            yield at(
                (epoch + i / 10) / 9,
                f"epoch {epoch}: seen {i * 128116}/1281167 xent {falling(r, epoch * 10 + i):.4f} lr 0.1",
            )


def bare_percent(r: Random) -> Iterator[str]:
    yield "Rendering volume ..."
    for i in range(1, 201):
        yield at(i / 200, f"... {i / 2:.1f} % ...")


def time_budget(r: Random) -> Iterator[str]:
    yield "tabu search, time budget: 3600 s, seed 5"
    for i in range(1, 181):
        yield at(
            i / 180,
            f"[ {i * 20.0 + r.uniform(0, 1):.1f} s] iteration {i * 152} best cost {900 - i:.1f}",
        )


def k_suffix(r: Random) -> Iterator[str]:
    yield "cfg: train iters: 200k, bs: 16, crop: 512"
    for i in range(1, 161):
        yield at(i / 160, f"it {i * 1.25:.2f}k | loss {falling(r, i):.4f} | psnr {20 + i / 20:.2f}")


def ranges(r: Random) -> Iterator[str]:
    for i in range(50):
        yield at(i / 50, f"processing rows [{i * 1000}, {i * 1000 + 1000}) of 50000")


def resumed(r: Random) -> Iterator[str]:
    yield "found checkpoint ckpt_04000.pt, resuming at update 4000"
    yield "target updates 10000, bs 256"
    for i in range(4010, 10001, 10):
        yield at(i / 10000, f"update {i} loss {falling(r, i / 10):.4f} gn {r.uniform(0, 1):.2f}")


def eval_tasks(r: Random) -> Iterator[str]:
    for task in range(1, 41):
        for i in range(20, 101, 20):
            yield at((task - 1 + i / 100) / 40, f"[{task}/40] mmlu_{chr(96 + task % 26)}: {i}/100")
        yield at(task / 40, f"[{task}/40] acc = {r.uniform(0.2, 0.8):.3f}")


def early_stop(r: Random) -> Iterator[str]:
    yield "{'lr': 0.001, 'max_epochs': 200, 'patience': 10, 'batch_size': 64}"
    for i in range(1, 131):
        yield at(
            i / 200,
            f"epoch {i:03d}: val {falling(r, i):.3f} (best {falling(r, i):.3f} @ {max(1, i - 3)}, patience {i % 7}/10)",
        )


def eta_only(r: Random) -> Iterator[str]:
    for i in range(1, 121):
        yield at(
            i / 120,
            f"loss {falling(r, i):.4f} remaining {clock((120 - i) * 60)} elapsed {clock(i * 60)}",
        )


def elapsed_of(r: Random) -> Iterator[str]:
    for i in range(1, 121):
        yield at(
            i / 120,
            f"elapsed {i * 30}s / 3600s, nodes explored {i * 3120 + r.randrange(500)}, gap {50 / i:.2f}%",
        )


def countdown(r: Random) -> Iterator[str]:
    yield "queue has 5000 jobs"
    for i in range(1, 101):
        yield at(i / 100, f"remaining {5000 - 50 * i} jobs")


def openmm_csv(r: Random) -> Iterator[str]:
    yield '#"Progress (%)","Step","Potential Energy (kJ/mole)","Temperature (K)","Time Remaining"'
    for i in range(1, 101):
        yield at(
            i / 100,
            f"{i:.1f}%,{i * 5000},{-33000 + r.uniform(-200, 200):.2f},{300 + r.uniform(-5, 5):.2f},{(100 - i) // 6}:{(100 - i) % 6}0",
        )


def parallel_chains(r: Random) -> Iterator[str]:
    counts = dict.fromkeys(range(1, 5), 0)
    while min(counts.values()) < 2000:
        chain = r.choice([one for one, done in counts.items() if done < 2000])
        counts[chain] += 50
        done = counts[chain]
        word = "Warmup" if done <= 1000 else "Sampling"
        yield at(
            sum(counts.values()) / 8000,
            f"Chain {chain}, Iteration: {done:4d} / 2000 [{done // 20:3d}%]  ({word})",
        )


def scf_cycles(r: Random) -> Iterator[str]:
    for step in range(1, 31):
        yield f"Geometry optimisation step {step}"
        for cycle in range(1, r.randrange(9, 15)):
            yield f"  SCF cycle {cycle:3d}   E = {-76.02 - 1 / (cycle + step):.8f}   dE = {10.0**-cycle:.2e}"


def weather(r: Random) -> Iterator[str]:
    yield "run from 2001-01-01_00:00:00 to 2001-01-06_00:00:00, dt = 3600"
    for i in range(1, 121):
        yield at(
            i / 120,
            f"Timing for main: time 2001-01-{1 + i // 24:02d}_{i % 24:02d}:00:00 on domain 1: {r.uniform(1.2, 1.4):.5f} elapsed seconds",
        )


def simulated_days(r: Random) -> Iterator[str]:
    yield "ocean model, 365 days, dt=1800s"
    for i in range(1, 366):
        yield at(
            i / 365,
            f" day {i:4d}  ke={r.uniform(1, 2):.4f}  max|u|={r.uniform(0, 1):.3f}  wall {i * 12.1:.1f}",
        )


def ninja(r: Random) -> Iterator[str]:
    yield "-- Build files have been written to: /tmp/build"
    for i in range(1, 401):
        yield at(i / 400, f"[{i}/400] Building CXX object src/CMakeFiles/core.dir/file{i}.cpp.o")


def ffmpeg(r: Random) -> Iterator[str]:
    yield "Input #0, mov, from 'in.mp4':"
    yield "  Duration: 00:10:00.00, start: 0.000000, bitrate: 5012 kb/s"
    for i in range(1, 121):
        yield at(
            i / 120,
            f"frame={i * 150:5d} fps= 30 q=28.0 size={i * 512:8d}kB time={clock(i * 5)}.00 bitrate={r.uniform(800, 900):.1f}kbits/s speed=1.2x",
        )


def rsync(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield at(
            i / 100,
            f"  {i * 1234567:,}  {i:2d}%   {r.uniform(9, 11):.1f}MB/s    0:{i // 60:02d}:{i % 60:02d} (xfr#{i}, to-chk={1000 - i * 10}/1000)",
        )


def bayes_table(r: Random) -> Iterator[str]:
    yield "init_points=5, n_iter=45"
    yield "|   iter    |  target   |     x     |     y     |"
    yield "-------------------------------------------------"
    for i in range(1, 51):
        yield at(
            i / 50,
            f"| {i:<9} | {r.uniform(-1, 1):<9.4f} | {r.uniform(0, 5):<9.4f} | {r.uniform(0, 5):<9.4f} |",
        )


def federated(r: Random) -> Iterator[str]:
    yield "config: rounds: 100, clients: 10, local_epochs: 2"
    for i in range(1, 101):
        yield at((i - 1) / 100, f"== communication round {i} ==")
        for c in r.sample(range(10), 3):
            yield at((i - 1) / 100, f"  client {c} loss {falling(r, i):.4f}")
        yield at(i / 100, f"  global acc {0.5 + i / 250:.4f}")


def inner_percent(r: Random) -> Iterator[str]:
    yield "Number of epochs: 30"
    for epoch in range(1, 31):
        yield at((epoch - 1) / 30, f"Epoch: {epoch}")
        for part in (20, 40, 60, 80, 100):
            yield at((epoch - 1 + part / 100) / 30, f"  [{part:3d}%] {falling(r, epoch):.3f}")


def time_over_time(r: Random) -> Iterator[str]:
    for i in range(1, 201):
        yield at(
            i / 200, f"T={i * 2.5e-4:.3e}/5.000e-02 it={i * 37} res={r.uniform(1e-6, 1e-5):.2e}"
        )


def blocks_of(r: Random) -> Iterator[str]:
    for i in range(1, 97):
        yield at(i / 96, f"block {i} done (of 96), {i * 25 // 60} min {i * 25 % 60} s so far")


def requests(r: Random) -> Iterator[str]:
    yield "listening on 0.0.0.0:8080, 8 workers, backlog 2048"
    for i in range(1, 201):
        yield f"handled {i * 120} requests, {i // 9} errors, p99 {r.uniform(10, 20):.1f} ms"


def unstated(r: Random) -> Iterator[str]:
    yield "model 124M params, batch 64, ctx 1024, lr 3e-4, warmup 2000, seed 1337"
    for i in range(0, 6000, 25):
        yield f"step {i} loss {falling(r, i / 25):.4f} {r.randrange(170, 180)}k tok/s"


def korean(r: Random) -> Iterator[str]:
    for i in range(1, 51):
        yield at(i / 50, f"에포크 {i}/50 손실: {falling(r, i):.4f} 정확도: {80 + i / 5:.1f}%")


def spanish(r: Random) -> Iterator[str]:
    yield "Entrenando el modelo con 12 capas"
    for i in range(1, 81):
        yield at(
            i / 80, f"Vuelta {i} de 80 -- pérdida {falling(r, i):.4f} -- faltan {(80 - i) * 2} min"
        )


def box_rows(r: Random) -> Iterator[str]:
    yield "epochs = 60"
    yield "│ epoch │  loss  │  acc  │"
    yield "├───────┼────────┼───────┤"
    for i in range(1, 61):
        yield at(i / 60, f"│ {i:5d} │ {falling(r, i):.4f} │ {0.5 + i / 150:.3f} │")


_OTHER = (
    cpp_printf, julia_meter, fortran_time, json_done_todo, evolution_table, german_durchlauf, bare_percent, time_budget,
    ranges, eval_tasks, elapsed_of, countdown, openmm_csv, parallel_chains, weather, simulated_days, ninja, ffmpeg,
    rsync, bayes_table, time_over_time, blocks_of,
)  # fmt: skip
_TRAINING = (
    json_nested, logfmt_of, french_percent, chinese_nested, gan_k, rl_frames, rl_env_budget, configs, folds, levels,
    many_ranks, token_budget, images_in_epochs, k_suffix, resumed, early_stop, eta_only, federated, inner_percent,
    korean, spanish, box_rows,
)  # fmt: skip

RUNS = (
    *(Run(one, training=False) for one in _OTHER),
    *(Run(one) for one in _TRAINING),
    Run(scf_cycles, open_ended=True, training=False),
    Run(requests, open_ended=True, training=False),
    Run(unstated, open_ended=True),
)
