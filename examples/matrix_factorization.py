"""A recommender: users and films get factors whose product is the rating.

python3 examples/matrix_factorization.py --num-train-epochs 8
"""

import argparse
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

USERS, FILMS, RATINGS, TASTES = 2_000, 400, 200_000, 4
LOGS_PER_EPOCH = 2
READ_EVERY, READ_S = 128, 0.06
"""So many batches come at once, from a store that takes its time."""


def synthetic_ratings(rng):
    """Rate by a few hidden tastes and some mood."""
    users = rng.integers(USERS, size=RATINGS)
    films = rng.integers(FILMS, size=RATINGS)
    likes, offers = rng.standard_normal((USERS, TASTES)), rng.standard_normal((FILMS, TASTES))
    mood = 0.3 * rng.standard_normal(RATINGS)
    return users, films, (likes[users] * offers[films]).sum(axis=1) / np.sqrt(TASTES) + mood


class Factors:
    def __init__(self, rng, rank):
        self.users = rng.standard_normal((USERS, rank)) * 0.3
        self.films = rng.standard_normal((FILMS, rank)) * 0.3

    def train(self, users, films, ratings, lr):
        """Take one step of gradient descent; return the loss and the gradient's norm."""
        of_users, of_films = self.users[users], self.films[films]
        errors = (of_users * of_films).sum(axis=1) - ratings
        d_users, d_films = errors[:, None] * of_films, errors[:, None] * of_users
        np.add.at(self.users, users, -lr * d_users)
        np.add.at(self.films, films, -lr * d_films)
        norm = np.sqrt((d_users**2).sum() + (d_films**2).sum())
        return (errors**2).mean(), norm / len(ratings)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-train-epochs", type=int, default=8)
    parser.add_argument("--per-device-train-batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    users, films, ratings = synthetic_ratings(rng)
    factors = Factors(rng, rank=16)
    size = args.per_device_train_batch_size
    per_epoch = -(-RATINGS // size)
    last = args.num_train_epochs * per_epoch
    log_every = max(1, per_epoch // LOGS_PER_EPOCH)
    losses, since_log, started = [], 0, time.perf_counter()
    for step in range(last):
        if step % per_epoch == 0:
            order = rng.permutation(RATINGS)
        if step % READ_EVERY == 0:
            time.sleep(READ_S)
        batch = order[step % per_epoch * size :][:size]
        lr = args.learning_rate * (1 - step / last)
        loss, norm = factors.train(users[batch], films[batch], ratings[batch], lr)
        losses.append(loss)
        if (step + 1) % log_every == 0:
            log = {
                "loss": round(float(np.mean(losses[since_log:])), 4),
                "grad_norm": round(float(norm), 4),
                "learning_rate": float(f"{lr:.4g}"),
                "epoch": round((step + 1) / per_epoch, 2),
            }
            print(log, flush=True)
            since_log = step + 1
    runtime = time.perf_counter() - started
    summary = {
        "train_runtime": round(runtime, 4),
        "train_samples_per_second": round(args.num_train_epochs * RATINGS / runtime, 3),
        "train_steps_per_second": round(last / runtime, 3),
        "train_loss": round(float(np.mean(losses)), 4),
        "epoch": float(args.num_train_epochs),
    }
    print(summary, flush=True)


if __name__ == "__main__":
    main()
