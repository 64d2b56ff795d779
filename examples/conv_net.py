"""A small convolutional network tells stripes by their direction.

python3 examples/conv_net.py --epochs 4
"""

import argparse
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

DIRECTIONS, SIDE, KERNEL = 6, 32, 5
OUT = SIDE - KERNEL + 1
LOG_EVERY = 5
READ_EVERY, READ_S = 5, 0.06
"""So many batches come at once, from a store that takes its time."""


def synthetic_stripes(rng, count):
    """Draw noisy stripes; the label is their direction, their phase and width say nothing."""
    labels = rng.integers(DIRECTIONS, size=count)
    angles = np.pi * labels / DIRECTIONS
    y, x = np.mgrid[:SIDE, :SIDE]
    along = x * np.cos(angles)[:, None, None] + y * np.sin(angles)[:, None, None]
    waves = np.sin(
        along * rng.uniform(1.0, 1.6, (count, 1, 1)) + rng.uniform(0, 6.3, (count, 1, 1))
    )
    return (waves + rng.normal(0, 0.8, waves.shape)).astype(np.float32), labels


class ConvNet:
    """Convolution, ReLU, mean over each map, linear."""

    def __init__(self, rng, filters):
        self.kernels = rng.standard_normal((KERNEL * KERNEL, filters), np.float32) * 0.3
        self.w = rng.standard_normal((filters, DIRECTIONS), np.float32) * 0.1
        self.b = np.zeros(DIRECTIONS, np.float32)

    def train(self, images, labels, lr):
        """Take one step of gradient descent and return the loss."""
        count = len(images)
        windows = np.lib.stride_tricks.sliding_window_view(images, (KERNEL, KERNEL), axis=(1, 2))
        columns = windows.reshape(count * OUT * OUT, KERNEL * KERNEL)  # im2col
        maps = np.maximum(columns @ self.kernels, 0)
        pooled = maps.reshape(count, OUT * OUT, -1).mean(axis=1)
        scores = pooled @ self.w + self.b
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        loss = -np.log(chances[np.arange(count), labels] + 1e-9).mean()

        d_scores = chances
        d_scores[np.arange(count), labels] -= 1
        d_scores /= count
        d_pooled = d_scores @ self.w.T / (OUT * OUT)
        d_maps = np.repeat(d_pooled, OUT * OUT, axis=0) * (maps > 0)
        self.w -= lr * (pooled.T @ d_scores)
        self.b -= lr * d_scores.sum(axis=0)
        self.kernels -= lr * (columns.T @ d_maps)
        return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    images, labels = synthetic_stripes(rng, count=960)
    network = ConvNet(rng, filters=24)
    steps = -(-len(images) // args.batch_size)
    for epoch in range(1, args.epochs + 1):
        order = rng.permutation(len(images))
        for step in range(1, steps + 1):
            if step % READ_EVERY == 0:
                time.sleep(READ_S)
            started = time.perf_counter()
            batch = order[(step - 1) * args.batch_size :][: args.batch_size]
            loss = network.train(images[batch], labels[batch], args.lr)
            took = 1000 * (time.perf_counter() - started)
            if step % LOG_EVERY == 0 or step == steps:
                where = f"epoch {epoch}/{args.epochs} step {step}/{steps}"
                print(f"{where} | loss {loss:.3f} | {took:.0f} ms/step", flush=True)


if __name__ == "__main__":
    main()
