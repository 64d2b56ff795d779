"""k-means finds the groups in a cloud of points. It works in silence.

python3 examples/kmeans.py --iterations 30
"""

import argparse
import os
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

POINTS, DIMENSIONS = 40_000, 16
READ_S = 0.08


def synthetic_points(rng, groups):
    centres = rng.normal(0, 3, (groups, DIMENSIONS))
    return centres[rng.integers(groups, size=POINTS)] + rng.normal(0, 1, (POINTS, DIMENSIONS))


def nearest(points, centres):
    """Return each point's nearest centre and the mean of the squared distances to them."""
    distances = (centres**2).sum(axis=1) - 2 * points @ centres.T
    groups = distances.argmin(axis=1)
    spread = distances[np.arange(len(points)), groups].mean() + (points**2).sum(axis=1).mean()
    return groups, spread


def means(points, groups, centres):
    """Return the mean of each group; an empty one stays where it was."""
    counts = np.bincount(groups, minlength=len(centres))
    sums = [np.bincount(groups, column, minlength=len(centres)) for column in points.T]
    return np.where(
        counts[:, None] > 0, np.transpose(sums) / np.maximum(counts, 1)[:, None], centres
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--clusters", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    points = synthetic_points(rng, args.clusters)
    print(f"clustering {POINTS} points into {args.clusters} groups", flush=True)
    centres = points[rng.choice(POINTS, args.clusters, replace=False)]
    groups, before = nearest(points, centres)
    for _ in range(args.iterations):
        time.sleep(READ_S)  # the points come from a store that takes its time
        centres = means(points, groups, centres)
        groups, after = nearest(points, centres)
    print(f"mean squared distance went from {before:.2f} to {after:.2f}")
    print(f"largest group: {np.bincount(groups).max()} points")


if __name__ == "__main__":
    main()
