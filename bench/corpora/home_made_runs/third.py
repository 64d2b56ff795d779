# ruff: noqa: E501, ARG001 - a printed line is easier to read in one piece; some need no chance
"""Runs that were written last, after the tracker had learnt from the first two sets."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.run import Run


def descent(r: Random, i: int) -> float:
    return 1.9 / (1 + 0.04 * i) + abs(r.gauss(0, 0.01))


def logger_dict(r: Random) -> Iterator[str]:
    yield "2025-06-01 08:00:00,123 [INFO] cfg: {'iters': 600, 'bs': 8, 'amp': True}"
    for i in range(6, 601, 6):
        yield f"2025-06-01 08:{i // 60:02d}:{i % 60:02d},123 [INFO] it: {i} | obj: {descent(r, i // 6):.4f} | loss_box: {descent(r, i):.3f}"


def epoch_of_words(r: Random) -> Iterator[str]:
    for i in range(1, 61):
        yield f"Finished epoch {i} out of 60 in {r.uniform(20, 21):.1f} seconds, train_loss={descent(r, i):.4f}"


def chapters(r: Random) -> Iterator[str]:
    yield "Stage 1 of 3: warm start"
    for stage in range(1, 4):
        if stage > 1:
            yield f"Stage {stage} of 3: continue"
        for i in range(20, 401, 20):
            yield f"  [{i}/400] loss={descent(r, i):.4f}"


def split_numbers(r: Random) -> Iterator[str]:
    yield "n_splits = 5"
    for split in range(5):
        yield f"-- split {split} --"
        for i in range(1, 21):
            yield f"round {i}/20 rmse {descent(r, i):.4f}"


def throughput_only(r: Random) -> Iterator[str]:
    yield "max_updates: 4000"
    for i in range(40, 4001, 40):
        yield f"update={i} loss={descent(r, i // 40):.4f} 2.50 it/s"


def percent_bar(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"[{'=' * (i // 5)}{' ' * (20 - i // 5)}] {i}% loss={descent(r, i):.4f}"


def remaining_count(r: Random) -> Iterator[str]:
    for i in range(1, 301):
        yield f"processed {i}, remaining {300 - i}, loss {descent(r, i):.3f}"


def batches_below(r: Random) -> Iterator[str]:
    for epoch in range(1, 13):
        yield f"EPOCH {epoch} / 12"
        for batch in range(1, 11):
            yield f"  - batch {batch * 10} train loss {descent(r, epoch):.4f}"
        yield f"  > val loss {descent(r, epoch):.4f}"


def training_for_hours(r: Random) -> Iterator[str]:
    yield "Planned iterations: 1500"
    for i in range(15, 1501, 15):
        yield f"{i * 0.004:.2f} h: iteration {i}, ELBO -{100 - i / 20:.2f}"


def steps_with_k(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"frames {i * 10}k/1000k | ep_return {r.gauss(i, 3):.1f} | buffer 100000"


def csv_with_header(r: Random) -> Iterator[str]:
    yield "# total epochs 80"
    yield "epoch,train_loss,val_loss,lr"
    for i in range(1, 81):
        yield f"{i},{descent(r, i):.5f},{descent(r, i):.5f},0.001"


def quoted_end(r: Random) -> Iterator[str]:
    yield 'callbacks: ["EarlyStopping(monitor=val_loss, patience=3)"]'
    for i in range(1, 91):
        yield f"ep {i:03d}/090 :: l={descent(r, i):.4f}"
    yield "Early stopping"


def scan_lines(r: Random) -> Iterator[str]:
    for i in range(1, 251):
        yield f"Scanning host {i} of 250 ... ok ({r.uniform(0.1, 0.9):.2f}s)"
    yield "Scan completed."


def quantum_chemistry(r: Random) -> Iterator[str]:
    for i in range(1, 41):
        yield f" SCF iter {i:3d}  E = {-76.4 - 1 / i:.10f}  dE = {1 / i**2:.3e}"
    yield " SCF converged"


def encode_video(r: Random) -> Iterator[str]:
    yield "Duration: 00:10:00.00, start: 0.000000, bitrate: 4000 kb/s"
    for i in range(1, 121):
        yield f"frame={i * 125:6d} fps= 50 q=28.0 size={i * 300:8d}kB time=00:{i // 12:02d}:{i % 12 * 5:02d}.00 bitrate=4000.0kbits/s speed=2.0x"


def tests_run(r: Random) -> Iterator[str]:
    for i in range(1, 201):
        yield f"ok {i}/200 - case_{i} ({r.randint(1, 90)} ms)"
    yield "All tests passed"


def copy_gigabytes(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"{i * 0.5:.1f} GB of 50.0 GB copied ({i}%), 210 MB/s, {(100 - i) * 2} s left"


def heartbeat(r: Random) -> Iterator[str]:
    for i in range(1, 200):
        yield f"2025-02-02T00:{i // 60:02d}:{i % 60:02d}Z heartbeat seq={i} load={r.random():.2f} clients={r.randint(3, 9)}"


def gan(r: Random) -> Iterator[str]:
    for epoch in range(20):
        for i in range(0, 100, 10):
            yield f"[Epoch {epoch}/20] [Batch {i}/100] [D loss: {descent(r, epoch):.4f}] [G loss: {descent(r, i):.4f}]"


def trainer_state(r: Random) -> Iterator[str]:
    yield "Total train batch size = 64, total optimization steps = 1,000"
    for i in range(10, 1001, 10):
        yield f"{{'loss': {descent(r, i // 10):.4f}, 'grad_norm': {r.random():.3f}, 'step': {i}}}"
    yield "{'train_runtime': 812.4, 'train_loss': 0.41}"


RUNS = (
    Run(logger_dict, timed=True),
    Run(epoch_of_words, timed=True),
    Run(chapters),
    Run(split_numbers),
    Run(throughput_only, timed=True),
    Run(percent_bar),
    Run(remaining_count),
    Run(batches_below),
    Run(training_for_hours, timed=True),
    Run(steps_with_k),
    Run(csv_with_header),
    Run(quoted_end, last_words=True),
    Run(scan_lines, training=False, last_words=True),
    Run(quantum_chemistry, training=False, open_ended=True),
    Run(encode_video, training=False),
    Run(tests_run, training=False, last_words=True),
    Run(copy_gigabytes, training=False, timed=True),
    Run(heartbeat, training=False, open_ended=True),
    Run(gan),
    Run(trainer_state, last_words=True),
)
