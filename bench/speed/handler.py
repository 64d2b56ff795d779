"""How fast the handler reads evidence, beside grep -E with as many patterns as it has rules.

    python -m bench.speed.handler                                # logs of 200 MB, of every kind
    python -m bench.speed.handler --megabytes 20 --only steps    # one kind, quicker
    python -m bench.speed.handler --data ~/logs                  # and logs of yours

Each log is generated into a temporary directory and read by a process of its own; real logs are
those below `--data`, repeated until they are large enough. Seconds are processor time.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

from bench.command import command_line, machine
from bench.datasets import ROOT
from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.reading import gather
from schedmate.handler.rules import BUILT_IN, RULES

MB = 1_000_000
WORDS = ("error", "failed", "timeout", "exception", "killed", "abort", "lost", "nan", "denied")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TRACEBACK = b"""Traceback (most recent call last):
  File "train.py", line 12, in <module>
    main()
  File "/opt/lib/python3.11/site-packages/torch/nn/modules/module.py", line 7, in forward
    return self.step(batch)
ValueError: bad batch
"""

Lines = Iterator[bytes]


def steps() -> Lines:
    n = 0
    while True:
        n += 1
        yield (
            b"step:%d/9000000 train_loss:%.4f train_time:%dms step_avg:97.%02dms\n"
            % (n, random.random(), n * 97, n % 100)
        )


def bars() -> Lines:
    while True:
        for n in range(1000):
            yield (
                b"\rEpoch 3: %3d%%|####      | %d/1000 [00:12<01:30, 9.%dit/s, loss=%.3f]"
                % (n // 10, n, n % 10, random.random())
            )
        yield b"\n"


def metrics() -> Lines:
    """Healthy, with alarming words in every line."""
    while True:
        yield (
            b"eval: errors: 0 failed=0 word error rate: %.3f timeout 30s retries 0 nan 0\n"
            % random.random()
        )


def coloured() -> Lines:
    for n, line in enumerate(steps()):
        yield b"\x1b[32m2026-01-01 10:00:%02d\x1b[0m | \x1b[1mINFO\x1b[0m | %s" % (n % 60, line)


def words(amount: int) -> bytes:
    made = ("".join(random.choices(LETTERS, k=random.randint(3, 9))) for _ in range(amount))
    return " ".join(f"{word} {random.choice(WORDS)}" for word in made).encode()


def unique_alarms() -> Lines:
    while True:
        yield words(6) + b"\n"


def unique_errors() -> Lines:
    while True:
        yield b"ValueError: " + words(5) + b"\n"


def unique_tracebacks() -> Lines:
    while True:
        yield TRACEBACK.replace(b"bad batch", words(3))


def ranks() -> Lines:
    while True:
        one, other = random.randrange(512), random.randrange(512)
        yield b"[rank%d]: ValueError: bad %d\n[rank%d]: step %d\n" % (one, other, other, one)


def noise() -> Lines:
    while True:
        yield random.randbytes(1 << 16)


def same(line: bytes) -> Callable[[], Lines]:
    return lambda: cycle([line])


KINDS: dict[str, Callable[[], Lines]] = {
    "steps": steps,
    "progress bars": bars,
    "coloured": coloured,
    "alarming words, healthy": metrics,
    "one alarming line": same(b"[rank3]: RuntimeError: CUDA error: an illegal memory access\n"),
    "one traceback": same(TRACEBACK),
    "unique alarming lines": unique_alarms,
    "unique errors": unique_errors,
    "unique tracebacks": unique_tracebacks,
    "512 ranks, every second line": ranks,
    "heads of tracebacks": same(b"Traceback (most recent call last):\n"),
    "random bytes": noise,
    "one endless line": same(b"x" * 1000),
    "one endless alarming line": same(b"CUDA error: failed "),
    "line feeds": same(b"\n" * 1000),
    "NULs": same(b"\0" * 1000),
}


def real(directory: Path) -> Callable[[], Lines]:
    files = sorted(path for path in directory.rglob("*") if path.suffix in (".log", ".txt", ".out"))
    return lambda: cycle([path.read_bytes() for path in files if path.is_file()])


def write(path: Path, lines: Lines, size: int) -> None:
    random.seed(1)
    written = 0
    with path.open("wb") as log:
        while written < size:
            written += log.write(next(lines))


def patterns() -> list[str]:
    """A pattern a rule, of the kind that a person would give to grep."""
    lines = [next((e for e in rule.positives if isinstance(e, str)), "") for rule in RULES]
    heads = (re.sub(r"\d+", "0", line)[:24].strip() for line in lines)
    escaped = {re.sub(r"([][().*+?{}|^$\\])", r"\\\1", head) for head in heads if head}
    return sorted(one.replace("0", "[0-9]+") for one in escaped)


def grep(log: Path, directory: Path) -> float:
    listed = directory / "patterns"
    listed.write_text("\n".join(patterns()) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["grep", "-a", "-c", "-E", "-f", str(listed), str(log)]
    subprocess.run(command, check=False, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    return spent(before)


def spent(before: resource.struct_rusage) -> float:
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(log: Path) -> dict[str, float]:
    """In a process of its own: seconds to read, and the most memory it had."""
    code = "import sys; from bench.speed.handler import child; child(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, log],
        check=True,
        capture_output=True,
        cwd=ROOT,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def child(name: str) -> None:
    gather(Case(logs=(NamedLog("warm", TRACEBACK),)))
    before = time.process_time()
    gathered = gather(Case(logs=(Path(name),)))
    took = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"s": took, "peak": peak, "clues": len(gathered.clues)}))


def diagnosis_of_one_megabyte() -> float:
    """A failure behind a megabyte of steps, in a process that has answered before."""
    lines = steps()
    healthy = b"".join(next(lines) for _ in range(13_000))[:MB]
    case = Case(logs=(NamedLog("job.log", healthy + TRACEBACK),), exit_code=1)
    times = []
    for _ in range(7):
        before = time.process_time()
        Handler().diagnose(case)
        times.append(time.process_time() - before)
    return min(times)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--data", type=Path, help="directory with real logs")
    parser.add_argument("--only", nargs="*", default=[], metavar="KIND", help=", ".join(KINDS))
    options = parser.parse_args()
    kinds = dict(KINDS)
    if options.data:
        kinds["real logs"] = real(options.data)
    print(f"{machine()}; {len(RULES)} rules, ", end="")
    print(f"{len(BUILT_IN.needles)} needles; grep -E with {len(patterns())} patterns")
    print(f"{'log':30} {'MB':>5} {'s':>6} {'MB/s':>6} {'peak MB':>8} {'grep':>6} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as name:
        for kind in options.only or kinds:
            row(kind, kinds[kind], Path(name), options.megabytes * MB)
    print(f"a failure behind 1 MB is diagnosed in {diagnosis_of_one_megabyte() * 1e3:.0f} ms")


def row(kind: str, lines: Callable[[], Lines], directory: Path, size: int) -> None:
    log = directory / "log"
    write(log, lines(), size)
    real_size = log.stat().st_size
    found = measure(log)
    theirs = grep(log, directory)
    print(
        f"{kind:30} {real_size / MB:5.0f} {found['s']:6.2f} {real_size / MB / found['s']:6.0f} "
        f"{found['peak']:8.0f} {real_size / MB / theirs:6.0f} {found['s'] / theirs:6.1f}"
    )


if __name__ == "__main__":
    main()
