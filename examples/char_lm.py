"""A recurrent network learns to write, one character after the other.

python3 examples/char_lm.py --steps 200
"""

import argparse
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from tqdm import trange

READ_S = 0.02
"""How long a batch takes to come, from a store that takes its time."""
TEXT = """\
A job came to the cluster late at night. It asked for a machine and was told to wait.
The queue was long, and nobody knew how long the others would take, so it waited and waited.
In the morning a job that had waited less went first, for it was short and said so.
The long job did not mind. It had written down where it was, and it could begin again there.
One machine fell silent in the afternoon. The job that ran on it was sent to another one,
and it went on from the page it had last turned, as if nothing had ever happened to it.
At the end of the week all of them were done, and the queue was empty, and it was quiet.
"""


class Recurrent:
    """Hidden state: tanh(embedding of the character + previous state @ w)."""

    def __init__(self, rng, characters, hidden):
        self.embedding = rng.standard_normal((characters, hidden)) * 0.1
        self.w = rng.standard_normal((hidden, hidden)) / np.sqrt(hidden)
        self.v = rng.standard_normal((hidden, characters)) / np.sqrt(hidden)
        self.parameters = [self.embedding, self.w, self.v]
        self.squares = [np.full_like(each, 1e-3) for each in self.parameters]

    def gradients(self, inputs, targets):
        """Return the loss and its gradients, by back-propagation through time."""
        length, batch = inputs.shape
        states = np.zeros((length + 1, batch, len(self.w)))
        for t in range(length):
            states[t + 1] = np.tanh(self.embedding[inputs[t]] + states[t] @ self.w)
        scores = states[1:] @ self.v
        chances = np.exp(scores - scores.max(axis=2, keepdims=True))
        chances /= chances.sum(axis=2, keepdims=True)
        picked = np.arange(length)[:, None], np.arange(batch), targets
        loss = -np.log(chances[picked] + 1e-9).mean()

        d_scores = chances
        d_scores[picked] -= 1
        d_scores /= targets.size
        d_embedding, d_w = np.zeros_like(self.embedding), np.zeros_like(self.w)
        d_v = np.tensordot(states[1:], d_scores, axes=((0, 1), (0, 1)))
        d_later = np.zeros((batch, len(self.w)))
        for t in reversed(range(length)):
            d_sum = (d_scores[t] @ self.v.T + d_later) * (1 - states[t + 1] ** 2)
            np.add.at(d_embedding, inputs[t], d_sum)
            d_w += states[t].T @ d_sum
            d_later = d_sum @ self.w.T
        return loss, [d_embedding, d_w, d_v]

    def adagrad(self, gradients, lr):
        for values, squares, gradient in zip(self.parameters, self.squares, gradients, strict=True):
            squares[...] += gradient**2
            values[...] -= lr * gradient / np.sqrt(squares)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seq-len", type=int, default=32)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    characters, text = np.unique(list(TEXT), return_inverse=True)
    network = Recurrent(rng, len(characters), hidden=96)
    bar = trange(args.steps, desc="train")
    for _ in bar:
        time.sleep(READ_S)
        starts = rng.integers(len(text) - args.seq_len, size=args.batch_size)
        windows = text[starts + np.arange(args.seq_len + 1)[:, None]]
        loss, gradients = network.gradients(windows[:-1], windows[1:])
        network.adagrad(gradients, args.lr)
        bar.set_postfix(loss=f"{loss:.3f}", refresh=False)


if __name__ == "__main__":
    main()
