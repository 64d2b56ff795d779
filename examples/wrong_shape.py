"""A classifier on whitened features, and a mistake as anyone makes it.

python3 examples/wrong_shape.py --hidden 64

It fails on purpose: the last layer expects twice as many inputs as it gets.
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

SAMPLES, FEATURES, CLASSES = 8_000, 600, 5


def synthetic_samples(rng):
    mixing = rng.standard_normal((FEATURES, FEATURES))
    features = rng.standard_normal((SAMPLES, FEATURES)) @ mixing
    return features, features[:, :CLASSES].argmax(axis=1)


def whiten(features):
    """Rotate and scale the features so that no two of them are correlated."""
    centred = features - features.mean(axis=0)
    directions, _, _ = np.linalg.svd(centred, full_matrices=False)
    return directions * np.sqrt(len(features))


class Linear:
    def __init__(self, rng, inputs, outputs):
        self.weights = rng.standard_normal((inputs, outputs)) / np.sqrt(inputs)
        self.bias = np.zeros(outputs)

    def __call__(self, values):
        return values @ self.weights + self.bias


class Classifier:
    def __init__(self, rng, hidden):
        self.body = Linear(rng, FEATURES, hidden)
        self.head = Linear(rng, 2 * hidden, CLASSES)

    def forward(self, features):
        return self.head(np.tanh(self.body(features)))

    def loss(self, features, labels):
        scores = self.forward(features)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return -np.log(chances[np.arange(len(labels)), labels]).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    features, labels = synthetic_samples(rng)
    print(f"whitening {SAMPLES} samples of {FEATURES} features", flush=True)
    features = whiten(features)
    model = Classifier(rng, args.hidden)
    batch = slice(args.batch_size)
    print(f"loss before training: {model.loss(features[batch], labels[batch]):.3f}", flush=True)


if __name__ == "__main__":
    main()
