# ruff: noqa: E501, ARG001, PLR2004 - lines as they are printed, by functions of one form
"""Runs whose lines mix levels and units, in forms of public code; scored before use."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.fifth import clock, falling
from bench.corpora.home_made_runs.run import Run, at


def document_and_overall(r: Random) -> Iterator[str]:
    yield "3 documents planned"
    sizes, done, total = (4200, 2600, 3200), 0, 10_000
    for number, size in enumerate(sizes, 1):
        for i in range(100, size + 1, 100):
            done += 100
            yield at(
                done / total,
                f"  [{number}] {'novel part ' + 'abc'[number - 1]:22} {i:>6,}/{size:<6,} | overall {done:,}/{total:,} {r.uniform(1, 2):.2f} seg/s ETA {(total - done) / 5400:.1f}h",
            )
        yield f"  [{number}] DONE {size} segs in {size // 2}s"


def token_budget(r: Random) -> Iterator[str]:
    yield "model params: 124.4M | total_tokens: 3,000,000,000 | batch tokens: 524,288"
    for i in range(20, 5721, 20):
        yield at(
            i / 5722,
            f"step={i} | tokens={i * 524288:,} | bits/byte={falling(r, i / 20):.4f} | tok/s={r.randrange(90000, 99000):,} | wins={r.randrange(50)} losses={r.randrange(50)} ties=0",
        )


def done_and_left(r: Random) -> Iterator[str]:
    for i in range(1, 801):
        yield at(
            i / 800,
            f"{100 * i / 800:5.1f}% | {i} done | {800 - i} left | elapsed {clock(i * 3)} | ETA {clock((800 - i) * 3)}",
        )


def pairs_and_frames(r: Random) -> Iterator[str]:
    frames = 0
    for i in range(8, 601, 8):
        frames += r.randrange(30, 50)
        yield at(
            i / 600,
            f"  [{i:3d}/600] {frames} trajectory frames recorded ({i * 2}s, ETA {(600 - i) * 2}s)",
        )


def folds_of_epochs(r: Random) -> Iterator[str]:
    for fold in range(5):
        yield f"--- fold {fold + 1}/5  train=8000  val=2000 ---"
        for e in range(1, 31):
            yield at(
                (fold + e / 30) / 5,
                f"  ep {e:02d}  loss={falling(r, e):.4f}  gAUC={0.7 + e / 200:.4f}  aMAE={3 / e:.3f}",
            )


def boosted_folds(r: Random) -> Iterator[str]:
    for fold in range(5):
        yield f"--- XGBoost Fold {fold + 1}/5 ---"
        for i in range(0, 1000, 100):
            yield at((fold + i / 1000) / 5, f"[{i}]\tvalidation_0-auc:{0.8 + i / 9000:.5f}")


def federated(r: Random) -> Iterator[str]:
    yield "Starting federated simulation: rounds=50 clients=10 local_epochs=2"
    for i in range(1, 51):
        yield at(
            (i - 0.5) / 50,
            f"[Round {i}] train_time={r.uniform(3, 4):.2f}s on 600 samples (epochs=2, batch_size=32)",
        )
        yield at(i / 50, f"[Round {i}] Test Accuracy: {0.5 + i / 120:.4f}")


def word_vectors(r: Random) -> Iterator[str]:
    yield "Vocab size: 71291"
    yield "Words in train file: 16718843"
    for i in range(1, 200):
        yield at(
            i / 200,
            f"Alpha: {0.025 * (1 - i / 200):f}  Progress: {i / 2:.2f}%  Words/thread/sec: {r.uniform(90, 99):.2f}k",
        )


def c_training(r: Random) -> Iterator[str]:
    yield "| max_steps             | 19560      |"
    yield "| train_num_batches     | 19560      |"
    for i in range(1, 19561, 40):
        yield at(
            i / 19560,
            f"step {i:5d}/19560 | loss {falling(r, i / 40):7.6f} ({r.gauss(0, 1):+.2f}z)| norm {r.random():6.4f} (+0.11z)| lr 6.00e-04 | 252.81 ms | 60.5% bf16 MFU | 2073812 tok/s",
        )


def md_thermo(r: Random) -> Iterator[str]:
    yield "units lj"
    yield "thermo 500"
    yield "run 100000"
    yield "   Step          Temp          E_pair         TotEng         Press"
    for i in range(0, 100001, 500):
        yield at(
            i / 100000,
            f"{i:9d}   {r.uniform(0.9, 1.1):.7f}  {-5 - r.random() / 50:.7f}  {-3 - r.random() / 50:.7f}  {r.uniform(1, 2):.7f}",
        )


def md_wall_clock(r: Random) -> Iterator[str]:
    yield "   nsteps                         = 500000"
    yield "   dt                             = 0.002"
    for i in range(0, 500001, 2500):
        yield at(i / 500000, f"step {i}, remaining wall clock time: {int((500000 - i) / 900):5d} s")


def scf_cycles(r: Random) -> Iterator[str]:
    yield "     nstep                     =          60"
    for n in range(60):
        for i in range(1, 9):
            yield f"     iteration #{i:3d}     ecut=    40.00 Ry     beta= 0.70"
        yield f"!    total energy              =     {-110 - n / 900:.8f} Ry"
        yield at((n + 1) / 60, f"     number of bfgs steps      = {n:3d}")


def chains_in_turn(r: Random) -> Iterator[str]:
    for chain in range(1, 5):
        for i in range(1, 2001, 100):
            phase = "Warmup" if i < 1000 else "Sampling"
            yield at(
                (chain - 1 + i / 2000) / 4,
                f"Chain {chain} Iteration: {i:4d} / 2000 [{i // 20:3d}%]  ({phase})",
            )
    # four chains are not announced: the last one is known only at the end


def announced_chains(r: Random) -> Iterator[str]:
    yield "sampling 4 chains, 1000 tune and 1000 draw iterations each"
    for chain in range(4):
        for i in range(100, 2001, 100):
            yield at(
                (chain + i / 2000) / 4,
                f"chain {chain}: {i}/2000, divergences 0, step size {r.uniform(0.2, 0.3):.3f}",
            )


def two_phases_announced(r: Random) -> Iterator[str]:
    yield "Schedule: 20 epochs frozen backbone, then 60 epochs full model"
    for e in range(1, 21):
        yield at(e / 80, f"frozen  epoch {e}/20  loss {falling(r, e):.4f}  acc {0.5 + e / 100:.3f}")
    for e in range(1, 61):
        yield at(
            (20 + e) / 80,
            f"full  epoch {e}/60  loss {falling(r, e + 20):.4f}  acc {0.7 + e / 300:.3f}",
        )


def selfplay_iterations(r: Random) -> Iterator[str]:
    yield "{'num_iterations': 25, 'num_self_play': 100, 'num_epochs': 4, 'batch_size': 128}"
    for n in range(25):
        yield f"Iteration {n + 1}"
        for g in range(10, 101, 10):
            yield at((n + 0.7 * g / 100) / 25, f"  self-play game {g}/100")
        for e in range(4):
            yield at(
                (n + 0.7 + 0.3 * (e + 1) / 4) / 25,
                f"  epoch {e + 1}/4: policy {falling(r, n):.3f} value {falling(r, n) / 2:.3f}",
            )


def updates_and_frames(r: Random) -> Iterator[str]:
    yield "num_env_steps: 10000000"
    yield "num_steps: 128, num_processes: 8"
    for i in range(10, 9766, 10):
        yield at(
            i / 9765,
            f"Updates {i}, num timesteps {i * 1024}, FPS {r.randrange(2100, 2200)} ",
        )
        yield f" Last 10 training episodes: mean/median reward {r.random():.1f}/{r.random():.1f}, min/max reward 0.0/{r.random():.1f}"


def frames_in_millions(r: Random) -> Iterator[str]:
    yield "total frames: 50M, replay 1M, update every 4"
    for i in range(1, 201):
        yield at(
            i / 200,
            f"[{clock(i * 400)}] {i * 0.25:.2f}M frames | eps {max(0.01, 1 - i / 40):.2f} | return {i * 2 + r.random():.1f} | loss {r.random():.4f}",
        )


def simulated_days(r: Random) -> Iterator[str]:
    yield "&time_control run_days = 5, run_hours = 0, time_step = 60"
    for i in range(1, 1441):
        minutes = i * 5
        yield at(
            i / 1440,
            f"Timing for main: time 2019-03-{1 + minutes // 1440:02d}_{minutes // 60 % 24:02d}:{minutes % 60:02d}:00 on domain   1:    {r.uniform(0.9, 1.2):.5f} elapsed seconds",
        )


def foam_times(r: Random) -> Iterator[str]:
    yield "startTime       0;"
    yield "endTime         2;"
    yield "deltaT          0.01;"
    for i in range(1, 201):
        yield at(i / 200, f"Time = {i / 100:g}")
        yield f"smoothSolver:  Solving for Ux, Initial residual = {1 / i:.6g}, Final residual = {0.1 / i:.6g}, No Iterations {r.randrange(2, 6)}"
        yield f"ExecutionTime = {i * 1.7:.2f} s  ClockTime = {i * 2} s"


def alignment_reads(r: Random) -> Iterator[str]:
    yield "[M::main] total reads in library: 40000000"
    for i in range(1, 101):
        yield f"[M::process] read {400000} sequences ({40000000} bp)..."
        yield at(
            i / 100,
            f"[M::mem_process_seqs] Processed {i * 400000} reads in {r.uniform(90, 99):.3f} CPU sec, {r.uniform(6, 7):.3f} real sec",
        )


def batches_of_reads(r: Random) -> Iterator[str]:
    yield "[M::main] threads: 16"
    for _ in range(100):
        yield "[M::process] read 400000 sequences (40000000 bp)..."
        yield f"[M::mem_process_seqs] Processed 400000 reads in {r.uniform(90, 99):.3f} CPU sec, {r.uniform(6, 7):.3f} real sec"


def kimg_ticks(r: Random) -> Iterator[str]:
    yield "Training for 5000 kimg..."
    for i in range(1, 126):
        yield at(
            i / 125,
            f"tick {i:<5d} kimg {i * 40:<8.1f} lod 0.00  minibatch 32   time {i // 6}h {i % 6 * 10:02d}m   sec/tick {r.uniform(500, 520):.1f}  sec/kimg 12.8",
        )


def darts_search(r: Random) -> Iterator[str]:
    yield "args = Namespace(epochs=50, report_freq=50, batch_size=64, layers=8, init_channels=16)"
    for e in range(50):
        yield f"11/07 02:{e:02d}:06 PM epoch {e} lr 2.500000e-02"
        for i in range(0, 391, 50):
            yield at(
                (e + i / 391) / 50,
                f"11/07 02:{e:02d}:10 PM train {i:03d} {falling(r, e):e} {40 + e / 2:f} {80 + e / 4:f}",
            )
        for i in range(0, 391, 130):
            yield at(
                (e + 0.95) / 50,
                f"11/07 02:{e:02d}:50 PM valid {i:03d} {falling(r, e):e} {40 + e / 2:f} {80 + e / 4:f}",
            )


def slices_of_volumes(r: Random) -> Iterator[str]:
    yield "found 24 volumes"
    for v in range(1, 25):
        yield f"Volume {v}/24: case_{r.randrange(900):03d} (128 slices)"
        for s in range(16, 129, 16):
            yield at((v - 1 + s / 128) / 24, f"    slice {s}/128 dice {r.uniform(0.7, 0.9):.3f}")


def hours_of_budget(r: Random) -> Iterator[str]:
    yield "budget: 2.0 h, evaluating pipelines until then"
    for i in range(1, 241):
        yield at(
            i / 240,
            f"[{i / 120:.3f}h / 2.000h] pipeline {i + r.randrange(3)}: balanced_accuracy={r.uniform(0.7, 0.9):.4f} (best {0.9:.4f})",
        )


def patience_counter(r: Random) -> Iterator[str]:
    yield "max_epochs 300, patience 40"
    for e in range(1, 121):
        yield at(
            e / 300,
            f"Epoch {e:03d} | train {falling(r, e):.4f} | val {falling(r, e) + 0.1:.4f} | no improvement {e % 9}/40",
        )


def resumed_run(r: Random) -> Iterator[str]:
    yield "=> loaded checkpoint 'model_best.pth.tar' (epoch 60)"
    yield "training from epoch 60 to 150"
    for e in range(60, 150):
        yield at(
            (e + 1) / 150,
            f"Epoch: {e}  Time {r.uniform(60, 62):.1f}s  Loss {falling(r, e):.4f}  Prec@1 {60 + e / 10:.2f}",
        )


def jobs_left(r: Random) -> Iterator[str]:
    yield "queue: 1500 tiles"
    for i in range(10, 1501, 10):
        yield at(
            i / 1500, f"tile ({r.randrange(99)}, {r.randrange(99)}) written, {1500 - i} tiles left"
        )


def epochs_remaining(r: Random) -> Iterator[str]:
    for e in range(1, 81):
        yield at(e / 80, f"epoch {e} finished, {80 - e} remaining, mse {falling(r, e):.5f}")


def images_of_epoch(r: Random) -> Iterator[str]:
    yield "dataset: 51,200 images, 6 epochs, bs 64"
    for e in range(1, 7):
        for i in range(6400, 51201, 6400):
            yield at(
                ((e - 1) * 51200 + i) / (6 * 51200),
                f"E{e} {i:6,d} imgs  l1 {falling(r, e):.4f}  psnr {20 + e:.2f}",
            )


def grid_search(r: Random) -> Iterator[str]:
    yield "Fitting 5 folds for each of 36 candidates, totalling 180 fits"
    for i in range(180):
        yield at(
            (i + 1) / 180,
            f"[CV {i % 5 + 1}/5] END C={10 ** (i % 7 - 3)}, gamma=0.1; score={r.uniform(0.7, 0.9):.3f} total time= {r.uniform(1, 3):.1f}s",
        )


def monte_carlo_photons(r: Random) -> Iterator[str]:
    yield "Launching 2.0e+08 photons in 50 batches"
    for i in range(1, 51):
        yield at(
            i / 50,
            f"batch {i:3d}  photons {i * 4_000_000:.3e}  detected {i * 1234 + r.randrange(99)}  rel.err {1 / i**0.5:.4f}",
        )


def spectra_of_files(r: Random) -> Iterator[str]:
    yield "Processing 12 raw files"
    for f in range(1, 13):
        yield f"File {f}/12: run_{f:02d}.raw"
        for p in range(10, 101, 10):
            yield at((f - 1 + p / 100) / 12, f"  {p}% of {r.randrange(30000, 40000)} spectra")


def kd_temperatures(r: Random) -> Iterator[str]:
    yield "annealing from T=5.00 to T=0.10, 50 temperatures, 2000 moves each"
    for i in range(50):
        yield at(
            (i + 1) / 50,
            f"T={5 - 4.9 * i / 49:.3f}  acc={r.random():.3f}  best={900 - i * 3}  cur={905 - i * 3}",
        )


def gibbs_sweeps(r: Random) -> Iterator[str]:
    yield "n_iter=2000 burnin=500 thin=5"
    for i in range(20, 2001, 20):
        yield at(
            i / 2000, f"sweep {i:5d} loglik {-9000 + i / 3 + r.random():.2f} K={r.randrange(9, 14)}"
        )


def bytes_copied(r: Random) -> Iterator[str]:
    yield "source: 480.0 GB in 96 files"
    gigabytes = 0.0
    for f in range(1, 97):
        gigabytes += 5.0
        yield at(
            f / 96,
            f"copied file_{f:03d}.h5 (5.0 GB), total {gigabytes:.1f} GB, {r.uniform(0.9, 1.1):.2f} GB/s",
        )


def score_of_questions(r: Random) -> Iterator[str]:
    correct = 0
    for i in range(1, 1320):
        correct += r.random() < 0.7
        yield at(i / 1319, f"{i}/1319 acc {correct}/{i} = {correct / i:.3f}")


def steps_without_total(r: Random) -> Iterator[str]:
    yield "vocab 50257, block 1024, layers 12, heads 12, batch 480"
    for i in range(0, 6000, 20):
        yield f"it {i}: {falling(r, i / 20):.4f}, {r.uniform(240, 260):.1f}ms, mfu {r.uniform(40, 42):.2f}%"


def service_ticks(r: Random) -> Iterator[str]:
    for i in range(1, 400):
        yield f"tick {i}: queue 512/1024, active 8/16, latency {r.uniform(3, 9):.1f}ms"


RUNS = (
    Run(document_and_overall, training=False, timed=True),
    Run(token_budget),
    Run(done_and_left, training=False, timed=True),
    Run(pairs_and_frames, training=False, timed=True),
    Run(folds_of_epochs),
    Run(boosted_folds),
    Run(federated),
    Run(word_vectors),
    Run(c_training, timed=True),
    Run(md_thermo, training=False),
    Run(md_wall_clock, training=False, timed=True),
    Run(scf_cycles, training=False),
    Run(chains_in_turn, open_ended=True, training=False),
    Run(announced_chains, training=False),
    Run(two_phases_announced),
    Run(selfplay_iterations),
    Run(updates_and_frames),
    Run(frames_in_millions),
    Run(simulated_days, training=False),
    Run(foam_times, training=False),
    Run(alignment_reads, training=False),
    Run(batches_of_reads, open_ended=True, training=False),
    Run(kimg_ticks),
    Run(darts_search),
    Run(slices_of_volumes, training=False),
    Run(hours_of_budget, training=False),
    Run(patience_counter),
    Run(resumed_run),
    Run(jobs_left, training=False),
    Run(epochs_remaining),
    Run(images_of_epoch),
    Run(grid_search, training=False),
    Run(monte_carlo_photons, training=False),
    Run(spectra_of_files, training=False),
    Run(kd_temperatures, training=False),
    Run(gibbs_sweeps, training=False),
    Run(bytes_copied, training=False),
    Run(score_of_questions, training=False),
    Run(steps_without_total, open_ended=True),
    Run(service_ticks, open_ended=True, training=False),
)
