"""A perceptron with one hidden layer learns to read noisy digits.

python3 examples/mlp_digits.py --epochs 10
"""

import argparse
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

FONT = (
    *("75557", "26227", "71747", "71717", "55711"),
    *("74717", "74757", "71111", "75757", "75717"),
)
"""Each digit as five rows of three pixels; a row is one octal number."""
SHIFTS = 25
READ_EVERY, READ_S = 20, 0.06
"""So many batches come at once, from a store that takes its time."""


def synthetic_digits(rng, count, noise=0.9):
    """Draw `count` digits of 10 x 6 pixels somewhere on a noisy 14 x 10 canvas."""
    glyphs = np.array([[[int(row) >> bit & 1 for bit in (2, 1, 0)] for row in d] for d in FONT])
    glyphs = glyphs.repeat(2, axis=1).repeat(2, axis=2)
    canvas = np.zeros((len(FONT), SHIFTS, 14, 10), np.float32)
    for place in range(SHIFTS):
        down, right = divmod(place, 5)
        canvas[:, place, down : down + 10, right : right + 6] = glyphs
    labels = rng.integers(len(FONT), size=count)
    images = canvas[labels, rng.integers(SHIFTS, size=count)].reshape(count, -1)
    return images + noise * rng.standard_normal(images.shape, dtype=np.float32), labels


class Perceptron:
    def __init__(self, rng, inputs, hidden, outputs):
        self.w1 = rng.standard_normal((inputs, hidden), np.float32) * np.sqrt(2 / inputs)
        self.b1 = np.zeros(hidden, np.float32)
        self.w2 = rng.standard_normal((hidden, outputs), np.float32) * np.sqrt(2 / hidden)
        self.b2 = np.zeros(outputs, np.float32)

    def train(self, images, labels, lr):
        """Take one step of gradient descent; return the loss and how many were right."""
        rows = np.arange(len(labels))
        hidden = np.maximum(images @ self.w1 + self.b1, 0)
        scores = hidden @ self.w2 + self.b2
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        loss = -np.log(chances[rows, labels] + 1e-9).mean()

        d_scores = chances
        d_scores[rows, labels] -= 1
        d_scores /= len(labels)
        d_hidden = (d_scores @ self.w2.T) * (hidden > 0)
        self.w2 -= lr * (hidden.T @ d_scores)
        self.b2 -= lr * d_scores.sum(axis=0)
        self.w1 -= lr * (images.T @ d_hidden)
        self.b1 -= lr * d_hidden.sum(axis=0)
        return loss, (scores.argmax(axis=1) == labels).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    images, labels = synthetic_digits(rng, count=6_400)
    network = Perceptron(rng, inputs=images.shape[1], hidden=512, outputs=len(FONT))
    for epoch in range(1, args.epochs + 1):
        losses, right, order = [], 0, rng.permutation(len(images))
        for number, start in enumerate(range(0, len(images), args.batch_size)):
            if number % READ_EVERY == 0:
                time.sleep(READ_S)
            batch = order[start : start + args.batch_size]
            loss, correct = network.train(images[batch], labels[batch], args.lr)
            losses.append(loss)
            right += correct
        loss, accuracy = np.mean(losses), right / len(images)
        print(f"Epoch {epoch}/{args.epochs} loss={loss:.3f} acc={accuracy:.2f}", flush=True)


if __name__ == "__main__":
    main()
