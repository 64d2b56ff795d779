# ruff: noqa: E501, ARG001, PLR2004 - a printed line is easier to read in one piece; some need no chance
"""Runs in the forms of print statements of public repositories, labelled before they were scored."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.run import Run


def falling(r: Random, i: int) -> float:
    return 2.1 / (1 + 0.05 * i) + abs(r.gauss(0, 0.02))


def hours_and_experts(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"Completed {i * 500}/50000 iterations ({i * 4000} expert executions) elapsed={i * 0.02:.2f}h rate=7 it/s eta={(100 - i) * 0.02:.2f}h"


def bracket_eta_minutes(r: Random) -> Iterator[str]:
    for i in range(10, 2001, 10):
        yield f"[{i}/2000] LRev={falling(r, i):.6f} ema={falling(r, i):.6f} tau=0.9000 time={i * 0.5:.1f}s speed=2.00it/s ETA={(2000 - i) * 0.5 / 60:.1f}min"


def shell_watch(r: Random) -> Iterator[str]:
    for i in range(2, 101):
        yield f"shard_a {i * 120}/12000 ({i}%) ~4 it/s eta {(100 - i) // 2}m"
    yield "done"


def bare_count_eta(r: Random) -> Iterator[str]:
    for i in range(20, 1001, 20):
        yield f"  [{i}] 1.52 it/s eta={(1000 - i) / 1.52 / 60:.1f}min"


def tag_epoch_steps(r: Random) -> Iterator[str]:
    for epoch in range(8):
        for i in range(25, 251, 25):
            yield f"[seg ep{epoch:02d} {i}/250] loss={falling(r, epoch):.4f} lr=1.00e-04 3.10 it/s eta={(250 - i) / 3.1 / 60:.1f}m"
        yield f"[seg ep{epoch:02d}/8] loss={falling(r, epoch):.4f} ce=0.311 lr=1.00e-04 grl=0.100 time=81.0s"


def train_and_validate(r: Random) -> Iterator[str]:
    for epoch in range(1, 11):
        for i in range(20, 201, 20):
            yield f"2025-02-03 10:{epoch:02d}:{i // 4:02d} INFO TRAIN epoch={epoch}/10 step={i}/200 loss={falling(r, epoch):.4f} avg_loss={falling(r, epoch):.4f} lr=2.0e-05 speed=4.01 it/s ETA=0:00:{(200 - i) // 4:02d} | GPU 12.3/40.0GB"
        yield f"2025-02-03 10:{epoch:02d}:55 INFO VALIDATION epoch={epoch} val_loss={falling(r, epoch):.4f}"


def rate_and_hours(r: Random) -> Iterator[str]:
    for i in range(0, 40001, 400):
        yield f"step {i}/40000 loss={falling(r, i // 400):.4f} gnorm=0.412 rate=1.35it/s eta={(40000 - i) / 1.35 / 3600:.1f}h"


def forge_steps(r: Random) -> Iterator[str]:
    for i in range(120):
        yield f"[Train] Step {i}/120"
        yield f"[Train] Step {i} complete: {{'loss': {falling(r, i):.4f}, 'reward_mean': 0.31}}"


def train_prefix(r: Random) -> Iterator[str]:
    step = 0
    for epoch in range(1, 7):
        for i in range(0, 300, 30):
            step += 30
            yield f"[TRAIN] Epoch {epoch}/6 | Step {step} | Batch {i}/300 | Loss: {falling(r, step // 60):.4f} | ClsAcc: 0.8123 | MeanIoU: 0.6011 | IoU Matches: 211"


def delta_and_batches(r: Random) -> Iterator[str]:
    for i in range(1, 81):
        yield f"0:{i // 6:02d}:{i % 6}0.123456 -- Finished batch: {i} of 80 ({i / 80:.2%}) -- Estimated time remaining: 0:{(80 - i) // 6:02d}:{(80 - i) % 6}0.500000 -- Avg time per simulation: 1.25s"


def ms_per_batch(r: Random) -> Iterator[str]:
    for epoch in range(1, 13):
        for i in range(200, 2201, 200):
            yield f"| epoch {epoch:3d} | {i:5d}/ 2323 batches | lr 20.00 | ms/batch {r.uniform(10, 11):5.2f} | loss {falling(r, epoch) + 4:5.2f} | ppl {r.uniform(90, 99):14.8f}"


def episode_slash_epoch(r: Random) -> Iterator[str]:
    for epoch in range(1, 6):
        for i in range(1, 41):
            yield f"  Episode {epoch}/{i:03d}/40 | Loss qsa {falling(r, i):.4f} | Loss qso {falling(r, i):.4f} | avg r {r.uniform(1, 9):.2f} |  "


def episode_finished(r: Random) -> Iterator[str]:
    for i in range(100):
        yield f"Episode {i} finished after {r.randrange(20, 200)} steps with return {r.uniform(5, 20):.2f}"


def padded_pair(r: Random) -> Iterator[str]:
    for i in range(0, 20000, 100):
        yield "exp = ./snapshots/gta"
        yield f"iter = {i:8d}/{20000:8d}, loss_seg = {falling(r, i // 100):.3f}, loss_adv_p = 0.412, loss_D = 0.331, loss_semi = 0.000, loss_semi_adv = 0.000"


def gp_fit(r: Random) -> Iterator[str]:
    for i in range(1, 151):
        yield f"Iter {i}/150 - Loss: {falling(r, i):.3f}   lengthscale: 0.693   noise: 0.{r.randrange(100, 999)}"


def boosted_elapsed(r: Random) -> Iterator[str]:
    yield "number of estimators: 90"
    for i in range(1, 91):
        yield f"iter {i:>3}, train error: {falling(r, i):.10f}, val_error: {falling(r, i):.10f}, elapsed: {i * 1.3:.2f} sec"


def php_gpu(r: Random) -> Iterator[str]:
    for i in range(1, 31):
        yield f"epoch {i:2d}/30   {r.uniform(4, 4.2):.1f}s"


def julia_time(r: Random) -> Iterator[str]:
    for i in range(1, 41):
        yield f"  {r.uniform(9, 10):.6f} seconds (1.2 M allocations: 2.1 GiB, 3.1% gc time)"
        yield f"Epoch {i}/40: Train Loss: {falling(r, i):.4f}, Train Acc: 0.9{i % 10}12, Test Loss: {falling(r, i):.4f}, Test Acc: 0.8{i % 10}11, Time: {r.uniform(9, 10):.2f}s"


def every_fourth(r: Random) -> Iterator[str]:
    for i in range(0, 200, 4):
        yield f"Epoch {i + 1}/200, Loss: {falling(r, i):.4f}, MSE Loss: {falling(r, i):.4f}, CE Loss: {falling(r, i):.4f}"


def heading_dashes(r: Random) -> Iterator[str]:
    for epoch in range(1, 11):
        yield f"Epoch {epoch}"
        yield "-------------------------------"
        for i in range(0, 60000, 6400):
            yield f"loss: {falling(r, epoch):>7f}  [{i + 64:>5d}/{60000:>5d}]"
        yield "Test Error: "
        yield f" Accuracy: {60 + epoch:>0.1f}%, Avg loss: {falling(r, epoch):>8f} "
        yield ""
    yield "Done!"


def settings_then_rows(r: Random) -> Iterator[str]:
    yield "=" * 60
    yield "Learning rate: 0.01"
    yield "Momentum: 0.9"
    yield "Batch size: 128"
    yield "Epochs: 50"
    yield "-" * 60
    for i in range(1, 51):
        yield f"Эпоха {i:3d} | loss {falling(r, i):.4f} | acc 0.9{i % 10} | {r.uniform(2, 2.2):.2f}s"


def twice_an_epoch(r: Random) -> Iterator[str]:
    yield "Training for 45 epochs on cuda:0"
    for i in range(1, 46):
        yield f"Epoch {i}: Training Loss: {falling(r, i):.4f}, Training Accuracy: 0.8812"
        yield f"Epoch {i}: Validation Loss: {falling(r, i):.4f}, Validation Accuracy: 0.8511"


def lambda_sweep(r: Random) -> Iterator[str]:
    for value in (0.1, 0.5, 1.0, 2.0, 5.0):
        for i in range(0, 40, 4):
            yield f"Epoch {i + 1}/40, Loss: {falling(r, i):.4f}, MSE Loss: 0.1, CE Loss: {falling(r, i):.4f}"
        yield f"Validation Accuracy with lambda = {value}: 91.22%"


def nested_pairs(r: Random) -> Iterator[str]:
    for a in range(1, 11):
        for b in range(1, 11):
            yield f"iter {a}/10 {b}/10"


def percent_arrow(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"Progress: [{'=' * (i // 5)}>{' ' * (20 - i // 5)}] {i}%"


def thousands(r: Random) -> Iterator[str]:
    yield "target timesteps 2,000,000"
    for i in range(1, 101):
        yield f"T: {i * 20_000:,} | eps {max(0.05, 1 - i / 50):.3f} | return(100) {r.gauss(i, 4):7.2f} | fps 1,311"


def yaml_header(r: Random) -> Iterator[str]:
    yield "train:"
    yield "  batch_size: 64"
    yield "  num_iterations: 3000"
    yield "  log_every: 30"
    for i in range(30, 3001, 30):
        yield f"[I {i:06d}] nll={falling(r, i // 30):.4f} |g|=1.2{i % 7} dt=0.31s"


def tokens_budget(r: Random) -> Iterator[str]:
    yield "token budget: 2.0B tokens, 0.5M tokens per step"
    for i in range(40, 4001, 40):
        yield f"step {i} | {i * 0.5 / 1000:.2f}B tokens seen | loss {falling(r, i // 40):.4f} | 812k tok/s"


def client_rounds(r: Random) -> Iterator[str]:
    for i in range(1, 51):
        yield f"--- Round {i} of 50 ---"
        for client in range(3):
            yield f"client {client}: local loss {falling(r, i):.4f}"
        yield f"global accuracy {r.uniform(0.5, 0.9):.4f}"


def rust_tracing(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"2025-03-01T10:{i // 60:02d}:{i % 60:02d}.123456Z  INFO trainer: step completed step={i * 10} total_steps=1000 loss={falling(r, i):.4f} elapsed_ms=1001"


def zap_json(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f'{{"level":"info","ts":{1740000000 + 6 * i}.1,"caller":"train/loop.go:88","msg":"step","iter":{i * 5},"max_iter":500,"loss":{falling(r, i):.4f}}}'


def keras_like_home(r: Random) -> Iterator[str]:
    for epoch in range(1, 16):
        yield f"Epoch {epoch}/15"
        for i in range(1, 11):
            yield f"{i * 10}/100 [{'=' * i}>{'.' * (10 - i)}] - 67ms/step - loss: {falling(r, epoch):.4f}"


def milliseconds_column(r: Random) -> Iterator[str]:
    yield "run with iters=4000 warmup=100"
    for i in range(40, 4001, 40):
        yield f"i:{i} l:{falling(r, i // 40):.4f} lr:3.0e-4 t:{r.uniform(380, 390):.0f}ms"


def remaining_percent(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"{i:3d}% | {i * 3} s elapsed | {(100 - i) * 3} s remaining | mse {falling(r, i):.5f}"


def generations(r: Random) -> Iterator[str]:
    yield "GA: population 200, max generations 120"
    for i in range(120):
        yield f"gen {i:4d}  best {50 - i * 0.3:.3f}  avg {60 - i * 0.3:.3f}  std 2.1"


def fold_of(r: Random) -> Iterator[str]:
    for fold in range(1, 6):
        yield f"========== Fold {fold}/5 =========="
        for i in range(1, 21):
            yield f"Epoch {i:02d} - train loss {falling(r, i):.4f} - valid auc 0.8{i % 10}"
        yield f"fold {fold} best auc 0.8812"


def time_per_epoch(r: Random) -> Iterator[str]:
    yield "n_epochs 60"
    for i in range(60):
        yield f"[{i:03d}] train {falling(r, i):.4f} val {falling(r, i):.4f} ({r.uniform(11, 12):.1f} s/epoch)"


def curriculum(r: Random) -> Iterator[str]:
    yield "Total updates: 900"
    for i in range(9, 901, 9):
        yield f"U {i} F {i * 2048} FPS 01120 D {i * 2} rR:ms 0.71 0.2 F:ms 31.2 9.1 H 1.21 V 0.55 pL -0.01 vL 0.02"


def diffusion_bar(r: Random) -> Iterator[str]:
    for i in range(0, 1000, 10):
        yield f"train: {i}it [{i // 60:02d}:{i % 60:02d},  1.00it/s, loss={falling(r, i // 10):.3f}, max_it=1000]"


def mcmc(r: Random) -> Iterator[str]:
    for i in range(0, 2001, 20):
        word = "Warmup" if i < 1000 else "Sampling"
        yield f"Chain 1: Iteration: {i or 1:4d} / 2000 [{i / 20:3.0f}%]  ({word})"


def lightcurve(r: Random) -> Iterator[str]:
    for i in range(1, 301):
        yield f"fitting object {i} of 300 ... chi2 = {r.uniform(0.8, 1.4):.3f}"
    yield "all objects done"


def no_total(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"EPOCH: {i}"
        yield f"Average loss sum: {falling(r, i)}, Average Rank loss: {falling(r, i)}, Average Embedding loss 0.12"


RUNS = (
    Run(hours_and_experts, timed=True, training=False),
    Run(bracket_eta_minutes, timed=True),
    Run(shell_watch, timed=True, training=False, last_words=True),
    Run(bare_count_eta, timed=True, training=False, open_ended=True),
    Run(tag_epoch_steps, timed=True),
    Run(train_and_validate, timed=True),
    Run(rate_and_hours, timed=True),
    Run(forge_steps),
    Run(train_prefix),
    Run(delta_and_batches, timed=True, training=False),
    Run(ms_per_batch, open_ended=True),
    Run(episode_slash_epoch, open_ended=True),
    Run(episode_finished, open_ended=True),
    Run(padded_pair),
    Run(gp_fit),
    Run(boosted_elapsed, timed=True),
    Run(php_gpu, timed=True),
    Run(julia_time, timed=True),
    Run(every_fourth),
    Run(heading_dashes, open_ended=True, last_words=True),
    Run(settings_then_rows, timed=True),
    Run(twice_an_epoch),
    Run(lambda_sweep, open_ended=True),
    Run(nested_pairs, training=False),
    Run(percent_arrow, training=False),
    Run(thousands, timed=True),
    Run(yaml_header, timed=True),
    Run(tokens_budget),
    Run(client_rounds),
    Run(rust_tracing, timed=True),
    Run(zap_json, timed=True),
    Run(keras_like_home, timed=True),
    Run(milliseconds_column, timed=True),
    Run(remaining_percent, timed=True, training=False),
    Run(generations, training=False),
    Run(fold_of),
    Run(time_per_epoch, timed=True),
    Run(curriculum),
    Run(diffusion_bar, timed=True),
    Run(mcmc, training=False),
    Run(lightcurve, training=False, last_words=True),
    Run(no_total, open_ended=True),
)
