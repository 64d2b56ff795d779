# ruff: noqa: E501, ARG001 - a printed line is easier to read in one piece; some need no chance
"""Runs that were written after the tracker had learnt from the first set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.run import Run


def falling(r: Random, i: int) -> float:
    return 3.1 / (1 + 0.05 * i) + abs(r.gauss(0, 0.03))


def help_text_first(r: Random) -> Iterator[str]:
    yield "usage: train.py [-h] [--epochs EPOCHS] [--patience PATIENCE]"
    yield "  --patience N   early stopping: stop training when val loss did not improve for N epochs"
    yield "  --max-hours H  stop when the time limit is reached (default: None)"
    for i in range(1, 151):
        yield f"epoch {i}/150 - train {falling(r, i):.4f} - val {falling(r, i):.4f} - 12s"


def notebook_cell(r: Random) -> Iterator[str]:
    yield "In [7]: for step in range(2000):"
    yield "   ...:     loss.backward()"
    yield '   ...: print("Training finished after %d steps" % step)'
    for i in range(20, 2001, 20):
        yield f"{i:>5}/2000  loss: {falling(r, i // 20):.4f}"
    yield "Training finished after 1999 steps"


def git_diff_first(r: Random) -> Iterator[str]:
    yield "diff --git a/train.py b/train.py"
    yield '-    logger.info("Training done!")'
    yield '+    logger.info("Training completed successfully!")'
    for i in range(10, 901, 10):
        yield f"[iter {i}/900] loss={falling(r, i // 10):.4f} lr=1.0e-03"


def five_seeds(r: Random) -> Iterator[str]:
    for seed in range(1, 6):
        yield f"### Seed {seed} of 5 ###"
        for epoch in range(1, 31):
            yield f"epoch {epoch:>2}/30  loss {falling(r, epoch):.3f}  acc {r.random():.3f}"


def clients_of_a_round(r: Random) -> Iterator[str]:
    for number in range(1, 21):
        yield f"[ROUND {number}/20]"
        for client in range(1, 6):
            yield f"  client {client}/5 trained: loss {falling(r, number):.4f}"


def optuna_style(r: Random) -> Iterator[str]:
    yield "Running study with n_trials=10"
    for trial in range(10):
        for epoch in range(1, 16):
            yield f"    [trial {trial}] epoch {epoch}/15 loss={falling(r, epoch):.4f}"
        yield f"[I 2025-01-01 10:{trial:02d}:00] Trial {trial} finished with value: {r.random():.4f}"


def two_bars(r: Random) -> Iterator[str]:
    for epoch in range(1, 11):
        for i in range(0, 101, 10):
            yield f"Epoch {epoch}/10: {i:3d}%|{'█' * (i // 10):10}| {i}/100 [00:{i // 2:02d}<00:{50 - i // 2:02d}, 2.00it/s, loss={falling(r, epoch):.3f}]"
        for i in range(0, 21, 10):
            yield f"Validating: {5 * i:3d}%|{'█' * (i // 2):10}| {i}/20 [00:{i // 10:02d}<00:00, 10.00it/s]"


def test_pass_at_the_end(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"Train epoch {i}/100 loss {falling(r, i):.4f}"
    for i in range(1, 4):
        yield f"Test batch {i}/20 acc {r.random():.3f}"


def slash_after_name(r: Random) -> Iterator[str]:
    for i in range(50, 10001, 50):
        yield f"step: {i} | progress: {i}/10000 | loss: {falling(r, i // 50):.4f} | gnorm: {r.random():.2f}"


def percent_complete(r: Random) -> Iterator[str]:
    for i in range(1, 201):
        yield f"gen {i:4d} best={i / 7:.3f} mean={i / 9:.3f} ({i / 2:.1f}% complete)"


def done_percent_name(r: Random) -> Iterator[str]:
    for i in range(16, 3201, 16):
        yield f"samples_seen={i * 32} loss={falling(r, i // 16):.4f} progress={i / 32:.1f}%"


def minutes_left(r: Random) -> Iterator[str]:
    for i in range(1, 121):
        yield f"09:{i // 2:02d}:{30 * (i % 2):02d} iteration {i} loss={falling(r, i):.4f} ~{(120 - i) / 2:.1f} min remaining"


def total_of_updates(r: Random) -> Iterator[str]:
    yield "Number of updates: 750"
    for i in range(5, 751, 5):
        yield f"update {i}: policy loss {falling(r, i // 5):.4f}, entropy {1 / (1 + i):.4f}"


def command_line_iterations(r: Random) -> Iterator[str]:
    yield "Command: train_model --iterations 1200 --eval-every 100 --size 64"
    for i in range(12, 1201, 12):
        yield f"it={i} loss={falling(r, i // 12):.4f}"


def yaml_dump(r: Random) -> Iterator[str]:
    yield "trainer:"
    yield "  num_steps: 640"
    yield "  log_every: 4"
    yield "optimizer:"
    yield "  lr: 0.001"
    for i in range(4, 641, 4):
        yield f"step {i} loss {falling(r, i // 4):.4f} sps {r.uniform(3, 4):.2f}"


def will_do_steps(r: Random) -> Iterator[str]:
    yield "Starting 900 optimizer steps on cuda:0"
    for i in range(9, 901, 9):
        yield f"opt_step={i} train_loss={falling(r, i // 9):.4f}"


def steps_each_epoch(r: Random) -> Iterator[str]:
    yield "5 epochs x 200 steps/epoch"
    for i in range(10, 1001, 10):
        yield f"step {i:>6} | loss {falling(r, i // 10):.4f}"


def loader_length(r: Random) -> Iterator[str]:
    yield "Train loader: 160 batches per epoch, val loader: 20"
    yield "num_epochs = 5"
    for i in range(8, 801, 8):
        yield f"global_step={i} loss={falling(r, i // 8):.4f}"


def epoch_heading_with_steps(r: Random) -> Iterator[str]:
    for epoch in range(1, 9):
        yield f">> Epoch {epoch} of 8, 50 steps"
        for step in range(5, 51, 5):
            yield f"step {step} loss {falling(r, epoch):.4f}"


def epoch_heading_plain(r: Random) -> Iterator[str]:
    yield "max_epochs: 6"
    for epoch in range(6):
        yield f"Starting epoch {epoch}"
        for step in range(0, 300, 15):
            yield f"   iter {step:>4} loss {falling(r, epoch):.4f} lr 0.0010"


def learning_rate_rises(r: Random) -> Iterator[str]:
    """Another number rises evenly beside the count, towards a constant."""
    for i in range(1, 161):
        yield f"tick {i:4d} kimg {i * 4.0:.1f} augment {i / 500:.3f} of 1.000 loss {falling(r, i):.3f}"


def correct_of_seen(r: Random) -> Iterator[str]:
    for i in range(1, 201):
        yield f"batch {i}/200 | correct {int(i * 64 * (0.4 + i / 500))}/{i * 64} | loss {falling(r, i):.3f}"


def seconds_each_step(r: Random) -> Iterator[str]:
    for i in range(10, 2001, 10):
        yield f"Step {i} of 2000: loss = {falling(r, i // 10):.4f} (0.{r.randint(310, 330)} sec/step)"


def elapsed_seconds(r: Random) -> Iterator[str]:
    for i in range(3, 601, 3):
        yield f"{i}/600 loss={falling(r, i // 3):.4f} t={i * 1.7:.1f}s"


def eta_words(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        left = (100 - i) * 45
        yield f"epoch {i}/100 loss={falling(r, i):.4f} finishing in {left // 3600}h {left % 3600 // 60}m"


def pip_install(r: Random) -> Iterator[str]:
    for i in range(1, 81):
        yield f"Collecting package-{i}"
        yield f"  Downloading package_{i}-1.{i}.0-py3-none-any.whl ({r.randint(10, 900)} kB)"
    yield "Successfully installed package-1-1.1.0"


def cargo_build(r: Random) -> Iterator[str]:
    for i in range(1, 201):
        yield f"   Compiling crate-{i} v0.{i % 9}.{i % 7}"
        if i % 10 == 0:
            yield f"    Building [=======>      ] {i}/200: crate-{i}"
    yield "    Finished `release` profile [optimized] target(s) in 2m 11s"


def unzip_files(r: Random) -> Iterator[str]:
    for i in range(1, 501):
        yield f"extracting file {i} of 500: data/part-{i:05d}.bin"


def monte_carlo(r: Random) -> Iterator[str]:
    yield "Metropolis sampling, lattice 64x64, 20000 sweeps"
    for i in range(100, 20001, 100):
        yield f"sweep {i}/20000 energy {r.gauss(-1.7, 0.01):.5f} acceptance {r.random():.3f}"
    yield "sampling finished in 812 s"


def weather_model(r: Random) -> Iterator[str]:
    for i in range(1, 241):
        yield f"Timing for main: time 2025-01-{1 + i // 24:02d}_{i % 24:02d}:00:00 on domain 1: {r.uniform(2, 3):.5f} elapsed seconds"
    yield "wrf: SUCCESS COMPLETE WRF"


def database_backup(r: Random) -> Iterator[str]:
    for i in range(1, 151):
        yield f"dumped table {i}/150 rows={r.randint(100, 9000)}"
    yield "backup completed"


def sql_service(r: Random) -> Iterator[str]:
    for i in range(1, 301):
        yield f"2025-05-01T10:{i // 60:02d}:{i % 60:02d}Z level=info msg=query id={1000 + i} rows={r.randint(0, 90)} took={r.uniform(1, 9):.2f}ms"


def words_of_the_end(r: Random) -> Iterator[str]:
    for i in range(1, 81):
        yield f"epoch {i:3d} loss {falling(r, i):.4f} acc {i / 100:.3f}"
    yield "Finished!"
    yield "Final test accuracy: 0.8123"


def json_last(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield json.dumps({"iter": i, "of": 100, "nll": round(falling(r, i), 4)})
    yield "Job finished at Mon Nov 3 10:00:00 2025"


def many_columns(r: Random) -> Iterator[str]:
    names = " ".join(f"c{k}" for k in range(30))
    yield f"step {names} of"
    for i in range(10, 1001, 10):
        values = " ".join(f"{r.random():.5f}" for _ in range(30))
        yield f"{i} {values} 1000"


def long_description(r: Random) -> Iterator[str]:
    for i in range(0, 401, 4):
        label = " ".join(f"loss_{name}: {r.uniform(0.5, 12):.3g}" for name in "abcdefghijklmnop")
        yield f"{label}: {i // 4:3d}%|{'#' * (i // 40):10}| {i}/400 [{i // 60:02d}:{i % 60:02d}<00:05, 1.00it/s]"


def hours_in_front(r: Random) -> Iterator[str]:
    for i in range(1, 201):
        yield f"[{i * 0.05:.2f}h] update {i}/200 reward={r.gauss(i, 4):.2f} kl={r.random():.4f}"


def steps_left(r: Random) -> Iterator[str]:
    for i in range(5, 501, 5):
        yield f"loss {falling(r, i // 5):.4f}, {500 - i} steps to go"


def reset_each_epoch(r: Random) -> Iterator[str]:
    for epoch in range(1, 11):
        for batch in range(25, 201, 25):
            yield f"e{epoch:02d} b{batch:03d}/200 loss={falling(r, epoch):.4f}"


def megasteps(r: Random) -> Iterator[str]:
    for i in range(1, 101):
        yield f"env steps {i * 0.1:.1f}M / 10.0M, return {r.gauss(i, 5):.1f}, sps {r.randint(4000, 5000)}"


RUNS = (
    Run(help_text_first),
    Run(notebook_cell, last_words=True),
    Run(git_diff_first),
    Run(five_seeds),
    Run(clients_of_a_round),
    Run(optuna_style),
    Run(two_bars, timed=True),
    Run(test_pass_at_the_end),
    Run(slash_after_name),
    Run(percent_complete),
    Run(done_percent_name),
    Run(minutes_left, timed=True),
    Run(total_of_updates),
    Run(command_line_iterations),
    Run(yaml_dump),
    Run(will_do_steps),
    Run(steps_each_epoch),
    Run(loader_length),
    Run(epoch_heading_with_steps),
    Run(epoch_heading_plain),
    Run(learning_rate_rises, open_ended=True),
    Run(correct_of_seen),
    Run(seconds_each_step, timed=True),
    Run(elapsed_seconds, timed=True),
    Run(eta_words, timed=True),
    Run(pip_install, training=False, open_ended=True, last_words=True),
    Run(cargo_build, training=False, last_words=True),
    Run(unzip_files, training=False),
    Run(monte_carlo, training=False, last_words=True),
    Run(weather_model, training=False, open_ended=True, last_words=True),
    Run(database_backup, training=False, last_words=True),
    Run(sql_service, training=False, open_ended=True),
    Run(words_of_the_end, open_ended=True, last_words=True),
    Run(json_last, last_words=True),
    Run(many_columns),
    Run(long_description, timed=True),
    Run(hours_in_front, timed=True),
    Run(steps_left),
    Run(reset_each_epoch, open_ended=True),
    Run(megasteps, timed=True),
)
