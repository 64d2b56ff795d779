"""How well, and how fast, unknown log formats are learnt.

    python -m bench.accuracy.unknown_formats            # by behaviour alone
    python -m bench.accuracy.unknown_formats --llm      # and with the model in use
    python -m bench.accuracy.unknown_formats --tracker  # through the whole tracker
    python -m bench.accuracy.unknown_formats --speed    # mining a numeric log of 200 MB

The logs are generators in bench/corpora/unknown_formats; the table says which sets were looked at
while the learner was built.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator

from bench.accuracy.unknown_format_score import Score, score_learner, score_tracker
from bench.command import command, model_in_use, progress
from bench.corpora.unknown_formats.labels import Log
from bench.corpora.unknown_formats.sets import SETS
from schedmate.tracker.unknown import Learner
from schedmate.tracker.unknown.templates import Miner

_BYTES = 200 << 20
_NUMBERS = re.compile(r"[-+]?\d[\d.,]*(?:[eE][-+]?\d+)?")


def main() -> None:
    parser = command(__doc__, __spec__)
    parser.add_argument("--llm", action="store_true", help="and with the language model in use")
    parser.add_argument("--speed", action="store_true", help="measure the miner instead")
    parser.add_argument("--tracker", action="store_true", help="with the exact formats, too")
    arguments = parser.parse_args()
    if arguments.speed:
        speed()
    elif arguments.tracker:
        benchmark(score_tracker)
    else:
        asker = model_in_use() if arguments.llm else None
        benchmark(lambda log: score_learner(log, asker))


def benchmark(score: Callable[[Log], Score]) -> None:
    print(f"{'set':<34} {'logs':>5} {'step':>5} {'total':>6} {'both':>5} {'wrong total > 0.5':>18}")
    for title, logs in SETS.items():
        scores = [score(log) for log in progress(logs, title)]
        print(_row(title, logs, scores))
        for one in scores:
            if not one.right or one.harmful:
                print(f"    {one.name}: {one.said} (confidence {one.confidence:.2f})")


def _row(title: str, logs: tuple[Log, ...], scores: list[Score]) -> str:
    step, total = sum(one.step for one in scores), sum(one.total for one in scores)
    right, harmful = sum(one.right for one in scores), sum(one.harmful for one in scores)
    share = f"{100 * right / len(logs):.0f} %"
    return f"{title:<34} {len(logs):5} {step:5} {total:6} {share:>5} {harmful:18}"


def speed() -> None:
    lines = list(_numeric_log())
    print(f"{len(lines)} lines, {sum(map(len, lines)) >> 20} MB, one core")
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


def _numeric_log() -> Iterator[str]:
    rng, size, step = random.Random(1), 0, 0
    while size < _BYTES:
        step += 1
        line = (
            f"2031-02-03 04:05:06,789 node-3 | upd {step} q={8 / step + rng.random():.5f} "
            f"lr={1e-4 * rng.random():.3e} tok/s={1e5 * rng.random():.1f} mem=31.2GB"
        )
        size += len(line) + 1
        yield line


if __name__ == "__main__":
    main()
