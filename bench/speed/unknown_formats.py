"""How fast an unknown log format is learnt, beside masking its numbers alone.

    python -m bench.speed.unknown_formats                  # a numeric log of 200 MB
    python -m bench.speed.unknown_formats --megabytes 20   # quicker

The log is generated, and every line is of the same unknown format.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator

from bench.command import command_line, machine
from schedmate.tracker.unknown import Learner
from schedmate.tracker.unknown.templates import Miner

_NUMBERS = re.compile(r"[-+]?\d[\d.,]*(?:[eE][-+]?\d+)?")


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--megabytes", type=int, default=200)
    lines = list(_numeric_log(parser.parse_args().megabytes << 20))
    print(f"{len(lines)} lines, {sum(map(len, lines)) >> 20} MB on {machine()}")
    learner, miner = Learner(), Miner()
    ways: dict[str, Callable[[str, int], object]] = {
        "numbers masked by re.sub": lambda line, _: _NUMBERS.sub("#", line),
        "templates mined": lambda line, order: miner.add(line, order, None),
        "learnt and read": lambda line, order: learner.feed(line, order, None),
    }
    for name, way in ways.items():
        begun = time.perf_counter()
        for order, line in enumerate(lines):
            way(line, order)
        took = time.perf_counter() - begun
        print(
            f"{name:<26} {len(lines) / took:12,.0f} lines/s {1e6 * took / len(lines):6.2f} us/line"
        )


def _numeric_log(wanted: int) -> Iterator[str]:
    rng, size, step = random.Random(1), 0, 0
    while size < wanted:
        step += 1
        line = (
            f"2031-02-03 04:05:06,789 node-3 | upd {step} q={8 / step + rng.random():.5f} "
            f"lr={1e-4 * rng.random():.3e} tok/s={1e5 * rng.random():.1f} mem=31.2GB"
        )
        size += len(line) + 1
        yield line


if __name__ == "__main__":
    main()
