# ruff: noqa: E501, ARG001 - a printed line is easier to read in one piece; some need no chance
"""Runs that were seen while the tracker learnt to read such logs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.home_made_runs.run import Run


def loss(r: Random, i: int) -> float:
    return 2.5 / (1 + 0.02 * i) + abs(r.gauss(0, 0.02))


def stamp(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"2025-03-04 {hours:02d}:{minute:02d}:{second:02d}"


def echoed_source(r: Random) -> Iterator[str]:
    """The script prints itself, with all that it may print later."""
    yield from (
        "import torch",
        "for step in range(args.num_iterations + 1):",
        "    if time.time() - start > args.budget:",
        '        print(f"stopping early: time budget reached at step {step}")',
        '        logger.info("Training complete.")',
        '        log0(f"early stopping at {step}/{args.num_iterations}")',
        "        break",
        "print('training finished')",
        "# early stopping: patience exceeded",
        "=" * 100,
    )
    for i in range(1, 201):
        yield f"step:{i}/200 train_loss:{loss(r, i):.4f} train_time:{i * 300}ms step_avg:300.00ms"
    yield "peak memory allocated: 39000 MiB reserved: 40000 MiB"


def shell_trace(r: Random) -> Iterator[str]:
    yield "+ set -e"
    yield "+ trap 'echo Training finished' EXIT"
    yield "+ echo 'Training complete when this line is printed again'"
    for i in range(1, 101):
        yield f"step {i}/100 loss {loss(r, i):.3f}"
    yield "Training finished"


def folds_with_headers(r: Random) -> Iterator[str]:
    for fold in range(1, 6):
        yield f"===== Fold {fold}/5 ====="
        for epoch in range(1, 21):
            yield f"Epoch {epoch}/20 train_loss={loss(r, epoch):.4f} val_loss={loss(r, epoch):.4f}"
    yield "Mean over folds: 0.912"
    yield "Done."


def folds_counted_from_zero(r: Random) -> Iterator[str]:
    yield "running 4-fold cross validation"
    for fold in range(4):
        yield f"fold {fold}"
        for epoch in range(1, 26):
            yield f"  epoch {epoch}/25 - loss: {loss(r, epoch):.4f}"


def trials_of_a_search(r: Random) -> Iterator[str]:
    for trial in range(1, 9):
        yield f"[search] trial {trial}/8: lr={10 ** r.uniform(-4, -2):.5f}"
        for step in range(10, 201, 10):
            yield f"  step {step}/200 loss={loss(r, step):.4f}"
        yield f"[search] trial {trial} finished with value {r.random():.4f}"


def last_epoch_begun(r: Random) -> Iterator[str]:
    for epoch in range(1, 6):
        yield f"Epoch {epoch}/5"
        for batch in range(20, 401, 20):
            yield f"  batch {batch:>3}: loss {loss(r, batch):.4f}"


def evaluator_counts_too(r: Random) -> Iterator[str]:
    for i in range(1, 41):
        for j in range(5):
            step = (i - 1) * 50 + (j + 1) * 10
            yield f"{stamp(step)} INFO trainer: step {step}/2000 loss {loss(r, step):.4f}"
        if i % 4 == 0:
            for j in range(1, 6):
                yield f"{stamp(i * 50)} INFO evaluator: step {j * 10}/50 acc {r.random():.3f}"


def evaluator_epochs(r: Random) -> Iterator[str]:
    for epoch in range(1, 31):
        yield f"[train] epoch {epoch}/30 loss {loss(r, epoch):.4f}"
        yield f"[probe] epoch 1/2 acc {r.random():.3f}"
        yield f"[probe] epoch 2/2 acc {r.random():.3f}"


def bar_redrawn_with_a_name(r: Random) -> Iterator[str]:
    yield "  0%|          | 0/500 [00:00<?, ?it/s]"
    yield "loss 2.500:   0%|          | 0/500 [00:00<?, ?it/s]"
    for i in range(5, 501, 5):
        share = i // 5
        yield f"loss {loss(r, i):.3f}: {share:3d}%|{'#' * (share // 10):10}| {i}/500 [{i // 60:02d}:{i % 60:02d}<00:10, 1.00it/s]"


def counted_in_brackets_as_well(r: Random) -> Iterator[str]:
    for i in range(20, 3001, 20):
        yield f"iter={i} ({i}/3000) loss={loss(r, i):.4f} lr=0.0003"


def percent_done(r: Random) -> Iterator[str]:
    for i in range(10, 1001, 10):
        yield f"step={i} loss={loss(r, i):.4f} {i / 10:.0f}% done"


def percent_in_front(r: Random) -> Iterator[str]:
    for i in range(25, 5001, 25):
        yield f"[{100 * i / 5000:5.1f}%] step {i} | loss {loss(r, i):.4f} | lr 1e-4"


def hours_left(r: Random) -> Iterator[str]:
    for i in range(100, 20001, 100):
        yield f"{stamp(i * 2)} step {i} | loss {loss(r, i):.4f} | {(20000 - i) * 2 / 3600:.1f} h left"


def num_steps_setting(r: Random) -> Iterator[str]:
    yield "config: num_steps=4000, batch_size=32, hidden=512, seed=7"
    for i in range(40, 4001, 40):
        yield f"step {i} loss {loss(r, i):.4f}"


def n_steps_setting(r: Random) -> Iterator[str]:
    yield "n_steps: 1500"
    yield "n_layers: 12"
    for i in range(10, 1501, 10):
        yield f"step={i} loss={loss(r, i):.4f} grad_norm={r.random():.3f}"


def steps_option(r: Random) -> Iterator[str]:
    yield "$ python train.py --model=small --steps=2400 --bs=16"
    for i in range(24, 2401, 24):
        yield f"iter {i}: loss {loss(r, i):.4f}, time {r.uniform(40, 44):.2f}ms"


def running_training_steps(r: Random) -> Iterator[str]:
    yield "Running 2000 training steps"
    for i in range(20, 2001, 20):
        yield f"[{i:>6}] loss={loss(r, i):.4f}"


def epochs_to_run(r: Random) -> Iterator[str]:
    yield "Epochs to run: 40"
    for i in range(1, 41):
        yield f"epoch {i} | train loss {loss(r, i):.4f} | val loss {loss(r, i):.4f} | 31.2s"


def per_epoch_times_epochs(r: Random) -> Iterator[str]:
    yield "epochs: 6"
    yield "312 batches per epoch"
    for i in range(12, 1873, 12):
        yield f"global step {i} loss {loss(r, i):.4f}"


def length_of_the_loader(r: Random) -> Iterator[str]:
    yield "train: 10000 images, 250 batches, 8 epochs"
    for i in range(10, 2001, 10):
        yield f"it {i} | loss {loss(r, i):.4f}"


def header_with_batches(r: Random) -> Iterator[str]:
    for epoch in range(1, 11):
        yield f"Epoch {epoch}/10 (120 batches)"
        for batch in range(10, 121, 10):
            yield f"    batch {batch} loss {loss(r, batch):.4f} acc {r.random():.3f}"


def header_with_iterations(r: Random) -> Iterator[str]:
    yield "Training for 8 epochs"
    for epoch in range(8):
        yield f"--- epoch {epoch}: 400 iterations ---"
        for it in range(0, 400, 20):
            yield f"it {it} loss {loss(r, it):.4f}"


def samples_against_steps(r: Random) -> Iterator[str]:
    """The total is of samples, the count of steps."""
    yield "dataset: 50000 samples, total 50000"
    for i in range(10, 1001, 10):
        yield f"step {i} loss {loss(r, i):.4f} batch 64"


def frames_against_iterations(r: Random) -> Iterator[str]:
    yield "total_timesteps: 1000000"
    for i in range(1, 123):
        yield f"iteration {i} | timesteps {i * 8192} | reward {r.gauss(i, 3):.2f} | fps {r.randint(900, 1000)}"


def two_phases(r: Random) -> Iterator[str]:
    yield "phase 1/2: pretraining"
    for i in range(10, 501, 10):
        yield f"step {i}/500 loss {loss(r, i):.4f}"
    yield "phase 2/2: finetuning"
    for i in range(10, 501, 10):
        yield f"step {i}/500 loss {loss(r, i):.4f}"


def rising_accuracy(r: Random) -> Iterator[str]:
    """A metric that rises evenly beside a count."""
    for i in range(1, 81):
        yield f"round {i} of 80: correct {i * 100 + r.randint(-5, 5)} of 10000, loss {loss(r, i):.3f}"


def milliseconds_a_step(r: Random) -> Iterator[str]:
    for i in range(10, 1001, 10):
        yield f"step {i}/1000 loss {loss(r, i):.4f} {r.uniform(66, 68):.0f}ms/step"


def elapsed_milliseconds(r: Random) -> Iterator[str]:
    for i in range(10, 1001, 10):
        yield f"s:{i}/1000 tl:{loss(r, i):.4f} t:{i * 38.7:.0f}ms"


def own_estimate(r: Random) -> Iterator[str]:
    for i in range(5, 501, 5):
        left = (500 - i) * 12
        yield f"episode {i}/500 return {r.gauss(i, 9):.1f}, about {left // 60} min {left % 60} s to go"


def pytest_dots(r: Random) -> Iterator[str]:
    yield "============================= test session starts =============================="
    yield "collected 800 items"
    for i in range(1, 101):
        yield f"tests/test_{'abcdefghij'[i % 10]}{i}.py ........                       [{i:3d}%]"
    yield "======================= 800 passed in 312.41s (0:05:12) ========================"


def make_percent(r: Random) -> Iterator[str]:
    for i in range(1, 151):
        yield f"[{100 * i // 150:3d}%] Building CXX object src/CMakeFiles/core.dir/file{i}.cpp.o"
    yield "[100%] Built target core"


def ninja_counts(r: Random) -> Iterator[str]:
    for i in range(1, 301):
        yield f"[{i}/300] Building CXX object lib/CMakeFiles/x.dir/a{i}.cc.o"


def rsync_files(r: Random) -> Iterator[str]:
    for i in range(1, 121):
        yield f"     {i * 32768:>11,} {100 * i // 120:3d}%   11.32MB/s    0:{(120 - i) // 60:02d}:{(120 - i) % 60:02d}"


def molecular_dynamics(r: Random) -> Iterator[str]:
    yield "Simulation of 50000 steps (100 ps), dt 2 fs"
    for i in range(250, 50001, 250):
        yield f"step {i} of 50000  T = {r.gauss(300, 3):.2f} K  E = {r.gauss(-8e4, 40):.1f} kJ/mol  P = {r.gauss(1, 50):.1f} bar"
    yield "Simulation finished"


def flow_solver(r: Random) -> Iterator[str]:
    yield "endTime 0.5; deltaT 0.001"
    for i in range(1, 501):
        yield f"Time = {i / 1000:g}"
        yield f"ExecutionTime = {i * 2.1:.2f} s  ClockTime = {i * 2} s"
    yield "End"


def web_service(r: Random) -> Iterator[str]:
    for i in range(1, 401):
        yield f"{stamp(i)} INFO request {i} GET /v1/items 200 {r.uniform(3, 40):.1f}ms"


def converted_files(r: Random) -> Iterator[str]:
    for i in range(1, 251):
        yield f"converted {i}/250 files ({r.randint(1, 99)} MB)"
    yield "all files converted"


def rendered_frames(r: Random) -> Iterator[str]:
    for i in range(1, 241):
        yield f"Fra:{i} Mem:320.11M | Rendered frame {i}/240 in {r.uniform(8, 9):.2f}s"
    yield "Blender quit"


def finished_in_words(r: Random) -> Iterator[str]:
    for i in range(1, 61):
        yield f"epoch {i} loss {loss(r, i):.4f}"
    yield "best val loss 0.3121 (epoch 57)"
    yield "saved final model to out/final.pt"
    yield "total time: 01:12:33"


def finished_run(r: Random) -> Iterator[str]:
    for i in range(10, 601, 10):
        yield f"update {i} | nll {loss(r, i):.4f}"
    yield "run completed successfully"


def saving_after_the_end(r: Random) -> Iterator[str]:
    for i in range(10, 1001, 10):
        yield f"step {i}/1000 | loss {loss(r, i):.4f}"
    for i in range(1, 8):
        yield f"writing shard {i}/7"
    yield "all done"


def wide_line(r: Random) -> Iterator[str]:
    """Many metrics before the count: the line gets wider as the count gains a digit."""
    for i in range(5, 2001, 5):
        metrics = " ".join(f"metric_{k:02d}={r.random():.6f}" for k in range(18))
        yield f"{metrics} done {i} of 2000"


def wide_json(r: Random) -> Iterator[str]:
    for i in range(5, 2001, 5):
        metrics = ", ".join(f'"grad_norm/layer.{k}.weight": {r.random():.6f}' for k in range(60))
        yield f'{{"loss": {loss(r, i):.4f}, {metrics}, "step": {i}, "max_steps": 2000}}'


def minutes_in_front(r: Random) -> Iterator[str]:
    for i in range(2, 401, 2):
        yield f"{i * 3 / 60:.1f}m | generation {i:>4} / 400 | best {1 / i:.5f} | mean {2 / i:.5f}"


def steps_and_epoch_fraction(r: Random) -> Iterator[str]:
    yield "num_train_epochs=4"
    for i in range(25, 2001, 25):
        yield f"{{'loss': {loss(r, i):.4f}, 'learning_rate': 3e-05, 'epoch': {i / 500:.2f}}}"


def tokens_to_go(r: Random) -> Iterator[str]:
    yield "training on 2.0B tokens"
    for i in range(1, 101):
        yield f"tokens={i * 0.02:.2f}B loss={loss(r, i):.3f} tok/s=51.2k"


RUNS = (
    Run(echoed_source, timed=True),
    Run(shell_trace, last_words=True),
    Run(folds_with_headers, last_words=True),
    Run(folds_counted_from_zero),
    Run(trials_of_a_search),
    Run(last_epoch_begun),
    Run(evaluator_counts_too, timed=True),
    Run(evaluator_epochs),
    Run(bar_redrawn_with_a_name, timed=True),
    Run(counted_in_brackets_as_well),
    Run(percent_done),
    Run(percent_in_front),
    Run(hours_left, timed=True),
    Run(num_steps_setting),
    Run(n_steps_setting),
    Run(steps_option, timed=True),
    Run(running_training_steps),
    Run(epochs_to_run, timed=True),
    Run(per_epoch_times_epochs),
    Run(length_of_the_loader),
    Run(header_with_batches),
    Run(header_with_iterations),
    Run(samples_against_steps, open_ended=True),
    Run(frames_against_iterations, timed=True),
    Run(two_phases),
    Run(rising_accuracy),
    Run(milliseconds_a_step, timed=True),
    Run(elapsed_milliseconds, timed=True),
    Run(own_estimate, timed=True),
    Run(pytest_dots, training=False, last_words=True),
    Run(make_percent, training=False),
    Run(ninja_counts, training=False),
    Run(rsync_files, training=False, timed=True),
    Run(molecular_dynamics, training=False, last_words=True),
    Run(flow_solver, training=False, last_words=True),
    Run(web_service, training=False, open_ended=True),
    Run(converted_files, training=False, last_words=True),
    Run(rendered_frames, training=False),
    Run(finished_in_words, open_ended=True, last_words=True),
    Run(finished_run, open_ended=True, last_words=True),
    Run(saving_after_the_end, last_words=True),
    Run(wide_line),
    Run(wide_json),
    Run(minutes_in_front, timed=True),
    Run(steps_and_epoch_fraction),
    Run(tokens_to_go, timed=True),
)
