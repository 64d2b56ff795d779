"""Hostile and random logs through the handler: no exception, nothing slow, always valid JSON.

    python -m bench.speed.fuzz_handler                       # 3,000 logs
    python -m bench.speed.fuzz_handler --logs 200 --seed 2   # fewer, and others

A log is made of the rules' own examples, of pieces of tracebacks and of what launchers print:
as they are, mutated, spliced, repeated, with and without prefixes, cut anywhere.
"""

from __future__ import annotations

import heapq
import json
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from bench.command import command_line
from schedmate.handler import RULES, Case, Handler, NamedLog
from schedmate.handler.reading import gather
from schedmate.model import JobState
from schedmate.model.wire import dumps
from schedmate.testing.hostile_lines import hostile_line

SHAPES = (
    "Traceback (most recent call last):",
    "  + Exception Group Traceback (most recent call last):",
    "  +-+---------------- 1 ----------------",
    "╭──────── Traceback (most recent call last) ────────╮",
    "│ /home/u/train.py:12 in main                       │",
    "╰───────────────────────────────────────────────────╯",
    '  File "train.py", line 12, in <module>',
    '  File "/usr/lib/python3.11/site-packages/torch/nn.py", line 3, in forward',
    "    main()",
    "    ~~~~^^",
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
    "Exception ignored in: <function A.__del__ at 0x7f>",
    "-- Process 3 terminated with the following error:",
    "Original Traceback (most recent call last):",
    "ValueError: Caught ValueError in DataLoader worker process 0.",
    "terminate called after throwing an instance of 'c10::Error'",
    "  what():  CUDA error: out of memory",
    "frame #3: c10::Error::Error() + 0x3e (0x7f in /lib/libc10.so)",
    "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO JOB REQUEUE ***",
    "step 17 loss 2.31 lr 0.001",
    "",
)
PREFIXES = (
    "", "", "[rank3]: ", "[default1]:", "3: ", "[1,7]<stderr>:", "(Worker pid=7, ip=10.0.0.7) ",
    "node7: ", "[pod/trainer-0/main] ", "2026-01-01T00:00:00.5Z stderr F ",
    "2026-01-01 12:00:00,123 ERROR x - ", "\x1b[31m", "  | ",
)  # fmt: skip
SAMPLES = [
    *(example for rule in RULES for example in rule.positives if isinstance(example, str)),
    *SHAPES,
]
ENDS = (b"\n", b"\n", b"\n", b"\r", b"\r\n", b"")
SHOWN = 8


class Fuzz:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.failures: Counter[str] = Counter()
        self.examples: dict[str, bytes] = {}
        self.slowest: list[tuple[float, int, bytes]] = []
        self.bytes = 0
        self.seconds = 0.0

    def log(self) -> bytes:
        lines = [self._line() for _ in range(self.rng.choice((1, 5, 40, 300)))]
        whole = b"".join(lines) * self.rng.choice((1, 1, 1, 20))
        cut = self.rng.randrange(5) == 0
        return whole[: self.rng.randint(0, len(whole))] if cut else whole

    def _line(self) -> bytes:
        if self.rng.randrange(5) > 1:
            text = self.rng.choice((*SHAPES, self.rng.choice(SAMPLES)))
            line = text.encode("utf-8", "replace")
        else:
            line = hostile_line(self.rng, SAMPLES)[:20_000]
        return self.rng.choice(PREFIXES).encode() + line + self.rng.choice(ENDS)

    def try_one(self) -> None:
        data = self.log()
        case = Case(
            logs=tuple(NamedLog(f"rank_{n}.log", data) for n in range(self.rng.choice((1, 1, 2)))),
            state=self.rng.choice((None, JobState.FAILED, JobState.COMPLETED)),
            exit_code=self.rng.choice((None, 0, 1, 137, -11)),
        )
        spent = self._timed(case, data)
        size = max(1, len(data) * len(case.logs))
        self.bytes, self.seconds = self.bytes + size, self.seconds + spent
        self.slowest = heapq.nlargest(SHOWN, [*self.slowest, (spent, size, data)])

    def _timed(self, case: Case, data: bytes) -> float:
        before = time.thread_time()
        try:
            gather(case)
            spent = time.thread_time() - before
            json.loads(dumps(Handler().diagnose(case)))
        except Exception:  # noqa: BLE001 - that is what we are looking for
            where = traceback.extract_tb(sys.exc_info()[2])[-1]
            kind = (sys.exc_info()[0] or Exception).__name__
            error = f"{kind} at {Path(where.filename).name}:{where.lineno}"
            self.failures[error] += 1
            self.examples.setdefault(error, data)
            return time.thread_time() - before
        return spent


def too_slow(spent: float, size: int, limit_s: float, least: float) -> bool:
    """A small log may take its time; a large one must be read at some speed."""
    return spent > limit_s and size / 1e6 / spent < least


def main() -> int:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--logs", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-ms", type=float, default=10.0)
    parser.add_argument("--least-mb-s", type=float, default=0.3)
    options = parser.parse_args()
    fuzz = Fuzz(options.seed)
    gather(Case(logs=(NamedLog("warm", b"ValueError: x\n"),)))
    for _ in range(options.logs):
        fuzz.try_one()
    slow = [
        one
        for one in fuzz.slowest
        if too_slow(one[0], one[1], options.limit_ms / 1e3, options.least_mb_s)
    ]
    size = fuzz.bytes / 1e6
    print(f"{options.logs:,} logs, {size:.1f} MB, {size / fuzz.seconds:.1f} MB/s")
    print(f"{sum(fuzz.failures.values())} exceptions, {len(slow)} logs too slow")
    for error, times in fuzz.failures.most_common():
        print(f"  {times:6} {error}  {fuzz.examples[error][:300]!r}")
    for spent, size, data in sorted(fuzz.slowest, reverse=True):
        print(
            f"  {spent * 1e3:8.2f} ms {size:8} bytes {size / 1e6 / spent:6.2f} MB/s {data[:90]!r}"
        )
    return 1 if fuzz.failures or slow else 0


if __name__ == "__main__":
    sys.exit(main())
