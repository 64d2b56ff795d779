"""Linear regression over a stream of shards, one of which is damaged.

python3 examples/odd_failure.py

It fails on purpose, with words of its own: no traceback, and exit code 1.
"""

import argparse
import os
import struct
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

SHARDS, RECORDS, FEATURES = 6, 600, 63
DAMAGED_SHARD, DAMAGED_RECORD = 3, 371
HEADER = struct.Struct("<I")


class ShardError(Exception):
    pass


def synthetic_shard(rng, truth, number):
    """Write records as their length and that many bytes: the features and the target."""
    shard = bytearray()
    for record in range(1, RECORDS + 1):
        features = rng.standard_normal(FEATURES)
        body = np.append(features, features @ truth + rng.normal(0, 0.1)).tobytes()
        shard += HEADER.pack(len(body)) + body
        if (number, record) == (DAMAGED_SHARD, DAMAGED_RECORD):
            return bytes(shard[: -len(body) * 3 // 4])
    return bytes(shard)


def records(shard, number):
    position, record = 0, 0
    while position < len(shard):
        record += 1
        (length,) = HEADER.unpack_from(shard, position)
        body = shard[position + HEADER.size :][:length]
        if len(body) < length:
            found = f"{length} bytes announced, {len(body)} found"
            raise ShardError(f"record {record} of shard {number} is cut short: {found}")
        yield np.frombuffer(body)
        position += HEADER.size + length


def train(weights, shard, number, lr):
    """Take one step for each record and return the mean loss."""
    losses = []
    for values in records(shard, number):
        features, target = values[:-1], values[-1]
        error = features @ weights - target
        weights -= lr * error * features
        losses.append(error**2)
    return np.mean(losses)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=100)
    parser.add_argument("--lr", type=float, default=2e-5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    truth, weights = rng.standard_normal(FEATURES), np.zeros(FEATURES)
    try:
        for number in range(1, SHARDS + 1):
            shard = synthetic_shard(rng, truth, number)
            for _ in range(args.passes):
                loss = train(weights, shard, number, args.lr)
            print(f"[shards] {number} of {SHARDS} read, loss {loss:.4f}", flush=True)
    except ShardError as error:
        print(f"[shards] {error}", file=sys.stderr)
        print("[shards] giving up", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
