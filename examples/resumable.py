"""Multinomial logistic regression that picks up from its last checkpoint.

python3 examples/resumable.py --steps 120 --checkpoint-every 20 --killed-at 70

`--killed-at` stands in for whoever kills your job: it strikes on the first run only.
"""

import argparse
import os
import signal
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

SAMPLES, FEATURES, CLASSES = 6_000, 100, 10
LOG_EVERY = 5
READ_EVERY, READ_S = 4, 0.08
"""So many batches come at once, from a store that takes its time."""


def synthetic_samples(rng):
    features = rng.standard_normal((SAMPLES, FEATURES))
    scores = features @ rng.standard_normal((FEATURES, CLASSES))
    return features, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def train(weights, features, labels, lr):
    """Take one step of gradient descent over all samples and return the loss."""
    rows = np.arange(len(labels))
    scores = features @ weights
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    loss = -np.log(chances[rows, labels] + 1e-9).mean()
    chances[rows, labels] -= 1
    weights -= lr * (features.T @ chances) / len(labels)
    return loss


def save(directory, step, weights):
    """Write a checkpoint; whoever is killed while writing leaves none that is half done."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"step-{step}.npz"
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("wb") as file:
        np.savez(file, step=step, weights=weights)
    unfinished.replace(path)
    print(f"saved checkpoint {path}", flush=True)


def last_checkpoint(directory):
    saved = directory.glob("step-*.npz")
    return max(saved, key=lambda path: int(path.stem.removeprefix("step-")), default=None)


def is_first_run():
    names = "SCHEDMATE_RESTART_COUNT", "SLURM_RESTART_COUNT"
    return all(os.environ.get(name, "0") == "0" for name in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--checkpoint-every", type=int, default=20)
    parser.add_argument("--checkpoint-dir", default="checkpoints")
    parser.add_argument("--lr", type=float, default=1.0)
    parser.add_argument("--killed-at", type=int, default=None, metavar="STEP")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    features, labels = synthetic_samples(np.random.default_rng(args.seed))
    weights, done, directory = np.zeros((FEATURES, CLASSES)), 0, Path(args.checkpoint_dir)
    if (path := last_checkpoint(directory)) is not None:
        with np.load(path) as checkpoint:
            weights, done = checkpoint["weights"], int(checkpoint["step"])
        print(f"resumed from checkpoint {path}", flush=True)
    for step in range(done + 1, args.steps + 1):
        if step % READ_EVERY == 0:
            time.sleep(READ_S)
        loss = train(weights, features, labels, args.lr)
        if step % LOG_EVERY == 0 or step == args.steps:
            print(f"step={step}/{args.steps} loss={loss:.4f}", flush=True)
        if step % args.checkpoint_every == 0:
            save(directory, step, weights)
        if step == args.killed_at and is_first_run():
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
