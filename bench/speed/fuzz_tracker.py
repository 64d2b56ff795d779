"""Hostile and random lines through the tracker: no exception, no slow line, always valid JSON.

    python -m bench.speed.fuzz_tracker                          # 100,000 inputs
    python -m bench.speed.fuzz_tracker --inputs 2000 --seed 2   # fewer, and others

An input is one line read alone, or a whole small log that is tracked with restarts in between.
"""

from __future__ import annotations

import heapq
import json
import math
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bench.command import command_line
from schedmate.model import Progress
from schedmate.model.wire import dumps
from schedmate.testing.hostile_lines import hostile_line
from schedmate.tracker import JobTracker
from schedmate.tracker.formats import FORMATS
from schedmate.tracker.scan import LogScan
from schedmate.tracker.tailing.lines import MAX_LINE

SAMPLES = [sample.line for kind in FORMATS for sample in kind.samples]
_SHOWN = 10


class Fuzz:
    def __init__(self, seed: int, limit_s: float) -> None:
        self.rng = random.Random(seed)
        self.limit_s = limit_s
        self.failures: Counter[str] = Counter()
        self.examples: dict[str, bytes] = {}
        self.slowest: list[tuple[float, str, bytes]] = []
        self.slow = 0

    def read_alone(self) -> None:
        """One line, asked of every format and of the scan; a slow one is measured again."""
        text = hostile_line(self.rng, SAMPLES)[:MAX_LINE]
        for name, read in _readers(text):
            spent = self._timed(read, text)
            if spent > self.limit_s:
                spent = min(spent, *(self._timed(read, text) for _ in range(3)))
                self.slow += spent > self.limit_s
            self.slowest = heapq.nlargest(_SHOWN, [*self.slowest, (spent, name, text)])

    def track_with_restarts(self, directory: Path) -> None:
        """A log that grows by hostile lines between looks, with the clock in any order."""
        log, state = directory / "fuzz.log", None
        log.write_bytes(b"")
        seen = b""
        for _ in range(self.rng.randint(1, 4)):
            with log.open(self.rng.choice(("ab", "ab", "ab", "wb"))) as file:
                lines = (hostile_line(self.rng, SAMPLES)[:3000] for _ in range(8))
                seen = b"".join(line + self._end() for line in lines)
                file.write(seen)
            state = self._poll(log, state, seen)

    def _poll(self, log: Path, state: str | None, written: bytes) -> str | None:
        try:
            tracker = JobTracker([log], started_at=self.rng.choice((None, 0.0, 1e9)), state=state)
            for _ in range(2):
                check(tracker.poll(self.rng.choice((0.0, 1e9, time.time(), 4e9))))
            return tracker.state()
        except Exception:  # noqa: BLE001 - that is what we are looking for
            self._failed(written)
            return None

    def _end(self) -> bytes:
        return self.rng.choice((b"\n", b"\n", b"\r", b"\r\n", b"\b", b""))

    def _timed(self, read: Callable[[], object], text: bytes) -> float:
        before = time.thread_time()
        try:
            read()
        except Exception:  # noqa: BLE001 - that is what we are looking for
            self._failed(text)
        return time.thread_time() - before

    def _failed(self, text: bytes) -> None:
        where = traceback.extract_tb(sys.exc_info()[2])[-1]
        kind = sys.exc_info()[0] or Exception
        error = f"{kind.__name__} at {Path(where.filename).name}:{where.lineno}"
        self.failures[error] += 1
        self.examples.setdefault(error, text)


def _readers(text: bytes) -> list[tuple[str, Callable[[], object]]]:
    decoded = text.decode("utf-8", "replace").strip()
    readers = [(kind.name, lambda kind=kind: kind.read(decoded)) for kind in FORMATS]
    return [*readers, ("scan", lambda: LogScan().feed([text], None))]


def check(progress: Progress) -> None:
    """The answer is JSON, and possible."""
    answer = json.loads(dumps(progress), parse_constant=_no_number)
    numbers = [
        answer["current"],
        answer["total"],
        answer["fraction"],
        *(answer["eta_s"] or {}).values(),
    ]
    assert all(number is None or math.isfinite(number) for number in numbers)
    assert answer["fraction"] is None or 0 <= answer["fraction"] <= 1
    assert 0 <= answer["confidence"] <= 1


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def main() -> int:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-ms", type=float, default=10.0)
    options = parser.parse_args()
    fuzz = Fuzz(options.seed, options.limit_ms / 1e3)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        for number in range(options.inputs):
            if number % 50 == 0:
                fuzz.track_with_restarts(Path(directory))
            else:
                fuzz.read_alone()
    took = time.perf_counter() - began
    print(
        f"{options.inputs:,} inputs, {len(FORMATS)} formats, {len(SAMPLES)} samples, {took:.0f} s"
    )
    print(f"{sum(fuzz.failures.values())} exceptions, {fuzz.slow} readings of a line too slow")
    for error, times in fuzz.failures.most_common():
        print(f"  {times:6} {error}  {fuzz.examples[error][:300]!r}")
    for spent, name, text in sorted(fuzz.slowest, reverse=True):
        print(f"  {spent * 1e3:8.2f} ms {name:16} {len(text):6} bytes  {text[:100]!r}")
    return 1 if fuzz.failures or fuzz.slow else 0


if __name__ == "__main__":
    sys.exit(main())
