"""An autoencoder whose data loader falls silent after some epochs.

python3 examples/hanging.py --epochs 90

It hangs on purpose when it runs for the first time. The trainer drops the short batch at the end
of an epoch and forgets to give its buffer back. When none is left, the loader waits for a buffer
and the trainer for a batch, for ever. A job that was queued again gives it back.
Its batches come as slowly as from a busy file system, so it needs little of the processor.
"""

import argparse
import os
import time
from queue import Queue
from threading import Thread

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

SAMPLES, FEATURES, CODE = 1_030, 256, 48
BUFFERS = 72
READ_S = 0.025
LOG_EVERY = 4
FIRST_RUN = os.environ.get("SCHEDMATE_RESTART_COUNT", "0") == "0"


def synthetic_samples(rng):
    """Mix a few hidden causes into many features."""
    causes = rng.standard_normal((SAMPLES, CODE // 2))
    mixed = causes @ rng.standard_normal((CODE // 2, FEATURES)) / np.sqrt(CODE // 2)
    return mixed + 0.1 * rng.standard_normal(mixed.shape)


class Autoencoder:
    def __init__(self, rng):
        self.encode = rng.standard_normal((FEATURES, CODE)) / np.sqrt(FEATURES)
        self.decode = rng.standard_normal((CODE, FEATURES)) / np.sqrt(CODE)

    def train(self, samples, lr):
        """Take one step of gradient descent and return the loss."""
        code = np.tanh(samples @ self.encode)
        errors = code @ self.decode - samples
        d_code = (errors @ self.decode.T) * (1 - code**2)
        self.decode -= lr * (code.T @ errors) / len(samples)
        self.encode -= lr * (samples.T @ d_code) / len(samples)
        return (errors**2).mean()


def shuffled(rng, samples, batch_size, epochs):
    for _ in range(epochs):
        order = rng.permutation(len(samples))
        for start in range(0, len(samples), batch_size):
            yield samples[order[start : start + batch_size]]


def load(batches, free, ready):
    for batch in batches:
        buffer = free.get()
        time.sleep(READ_S)
        buffer[: len(batch)] = batch
        ready.put((buffer, len(batch)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    samples, network = synthetic_samples(rng), Autoencoder(rng)
    free, ready = Queue(), Queue()
    for _ in range(BUFFERS):
        free.put(np.empty((args.batch_size, FEATURES)))
    batches = shuffled(rng, samples, args.batch_size, args.epochs)
    Thread(target=load, args=(batches, free, ready), daemon=True).start()

    step, steps = 0, args.epochs * (SAMPLES // args.batch_size)
    while step < steps:
        buffer, filled = ready.get()
        if filled < args.batch_size:
            if not FIRST_RUN:
                free.put(buffer)
            continue
        loss = network.train(buffer, args.lr)
        free.put(buffer)
        step += 1
        if step % LOG_EVERY == 0:
            print(f"step={step}/{steps} loss={loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
