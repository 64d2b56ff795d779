"""How well and how fast formats without a description are learnt.

    python bench/unknown_formats.py            # by behaviour alone
    python bench/unknown_formats.py --llm      # and with the model in use
    python bench/unknown_formats.py --tracker  # through the whole tracker
    python bench/unknown_formats.py --speed    # mining a numeric log of 200 MB

The logs are generators in tests/tracker/unknown; the table says which sets were looked at
while the learner was built.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from schedmate import config
from schedmate.llm import open_asker
from schedmate.model import Asker
from schedmate.testing.llm import MemoryLedger
from schedmate.tracker.unknown import Learner
from schedmate.tracker.unknown.templates import Miner

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from tracker.unknown.benchmark import Log, Score, score_learner, score_with_tracker
from tracker.unknown.sets import SETS

_BYTES = 200 << 20
_NUMBERS = re.compile(r"[-+]?\d[\d.,]*(?:[eE][-+]?\d+)?")


def main() -> None:
    parser = argparse.ArgumentParser(description="Formats never seen before")
    parser.add_argument("--llm", action="store_true", help="put what is open to the model in use")
    parser.add_argument("--speed", action="store_true", help="measure the miner instead")
    parser.add_argument("--tracker", action="store_true", help="with the exact formats, too")
    arguments = parser.parse_args()
    if arguments.speed:
        speed()
    elif arguments.tracker:
        benchmark(score_with_tracker)
    else:
        asker = _asker() if arguments.llm else None
        benchmark(lambda log: score_learner(log, asker))


def _asker() -> Asker:
    settings = config.load()
    asker = open_asker(settings.llm, cache_dir=settings.cache_dir, ledger=MemoryLedger())
    if asker is None:
        sys.exit("no language model is configured or installed: schedmate model install")
    return asker


def benchmark(score: Callable[[Log], Score]) -> None:
    print(f"{'set':<34} {'logs':>5} {'step':>5} {'total':>6} {'both':>5} {'wrong total > 0.5':>18}")
    for title, logs in SETS.items():
        scores = [score(log) for log in logs]
        print(_row(title, logs, scores))
        for one in scores:
            if not one.right or one.harmful:
                print(f"    {one.name}: {one.answer} (confidence {one.confidence:.2f})")


def _row(title: str, logs: tuple[Log, ...], scores: list[Score]) -> str:
    step, total = sum(score.step for score in scores), sum(score.total for score in scores)
    right, harmful = sum(score.right for score in scores), sum(score.harmful for score in scores)
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
    chance, size, step = random.Random(1), 0, 0
    while size < _BYTES:
        step += 1
        line = (
            f"2031-02-03 04:05:06,789 node-3 | upd {step} q={8 / step + chance.random():.5f} "
            f"lr={1e-4 * chance.random():.3e} tok/s={1e5 * chance.random():.1f} mem=31.2GB"
        )
        size += len(line) + 1
        yield line


if __name__ == "__main__":
    main()
