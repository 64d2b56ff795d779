"""How fast the tracker reads, beside what else could read, and what a thousand live logs cost.

    python -m bench.speed.tracker                               # both parts
    python -m bench.speed.tracker --only reading --megabytes 20 # only reading, quicker
    python -m bench.speed.tracker --only live --owners ann,ben  # live logs of two users

Run by root for jobs of other owners, the live logs are read through a process of each owner.
Logs are generated into a temporary directory, one at a time.
"""

from __future__ import annotations

import argparse
import getpass
import io
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path

import re2

from bench.command import command_line, machine
from bench.datasets import ROOT
from schedmate.files.helpers import HELPERS
from schedmate.model import JobState
from schedmate.service.daemon.background import BackgroundQueue
from schedmate.service.daemon.pattern_learning import PatternLearning
from schedmate.service.daemon.watching import LogWatcher
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job
from schedmate.tracker import track_file, track_stream
from schedmate.tracker.tailing.backlog import KEYWORDS

LOOK_EVERY_S = 0.5
MB = 1_000_000
BLOCK = 1 << 20
PATTERNS = (
    r"[0-9]+%\|.*\| [0-9]+/[0-9]+ \[", r"Epoch [0-9]+/[0-9]+", r"epoch[:= ]+[0-9]+",
    r"iteration +[0-9]+/ +[0-9]+", r"step[:= ]*[0-9]+/[0-9]+", r"global_step[:= ]+[0-9]+",
    r"Iter[( ][0-9]+", r"\[ *[0-9]+/[0-9]+\]", r"loss[:= ]+[0-9.]+", r"val_loss[:= ]+[0-9.]+",
    r"'train_runtime'", r"\{'loss': ", r"\| INFO \| train \|", r"eta: [0-9:]+", r"ETA: [0-9:]+",
    r"consumed samples: +[0-9]+", r":::MLLOG", r"Traceback \(most recent", r"slurmstepd: error",
    r"[Ss]aving (model )?checkpoint", r"saved (to|checkpoint)", r"Num Epochs = [0-9]+",
    r"Total optimization steps", r"max_steps", r"early stopping",
    r"[Tt]raining (finished|complete)", r"[Rr]esum(ing|ed) from", r"https?://",
    r"CUDA out of memory", r"nan",
)  # fmt: skip
"""Valid and alike in grep -E, re and RE2."""


def bars() -> Iterator[str]:
    for n in cycle(range(5001)):
        loss, left = random.random(), 5000 - n
        yield (
            f"\r{n // 50:3}%|{'█' * (n // 500):10}| {n}/5000 "
            f"[{n // 60:02}:{n % 60:02}<{left // 60:02}:10,  3.{n % 100:02}it/s, loss={loss:.3f}]"
        )
        if left == 0:
            yield f"\nval loss {loss}\nsaved checkpoint to out/last.pt\n"


def steps() -> Iterator[str]:
    n = 0
    while True:
        n += 1
        yield (
            f"step:{n}/9000000 train_loss:{random.random():.4f} train_time:{n * 97}ms "
            f"step_avg:97.{n % 100:02}ms\n"
        )
        if n % 250 == 0:
            yield f"step:{n}/9000000 val_loss:{random.random():.4f} train_time:{n * 97}ms\n"


def megatron() -> Iterator[str]:
    n = 0
    while True:
        n += 1
        yield (
            f" [2026-01-{1 + n // 86400 % 28:02} {n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}]"
            f" iteration {n:8}/ 9000000 | consumed samples: {n * 512:12} | elapsed time per "
            f"iteration (ms): {1000 + n % 97:.1f} | learning rate: 6.000E-05 | global batch size: "
            f"  512 | lm loss: {2 + random.random():.6E} | grad norm: {random.random():.3f} | "
            "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
        )
        if n % 100 == 0:
            yield "/env/lib/torch/utils/data.py:41: UserWarning: os.fork() was called\n  warn(\n"
        if n % 1000 == 0:
            yield f"  successfully saved checkpoint at iteration {n} to /ckpt\n"


KINDS: dict[str, Callable[[], Iterator[str]]] = {"bars": bars, "steps": steps, "megatron": megatron}


def generate(path: Path, lines: Iterator[str], megabytes: int) -> None:
    with path.open("wb") as file:
        while file.tell() < megabytes * MB:
            file.write("".join(next(lines) for _ in range(10_000)).encode())


def with_line_ends(path: Path) -> None:
    """To the others a bar is one endless line, of which grep would read no more than its start."""
    parts = [block.replace(b"\r", b"\n") for block in blocks(path)]
    with path.open("wb") as file:
        file.writelines(parts)


def timed(read: Callable[[], object]) -> float:
    """Seconds of this process and its children on the CPU, the better of two times."""
    return min(_cpu(read) for _ in range(2))


def _cpu(read: Callable[[], object]) -> float:
    before = _used(resource.RUSAGE_SELF) + _used(resource.RUSAGE_CHILDREN)
    read()
    return _used(resource.RUSAGE_SELF) + _used(resource.RUSAGE_CHILDREN) - before


def _used(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def own_keywords() -> list[str]:
    """What the tracker itself looks for in a backlog, as grep writes it."""
    keywords = (
        word.decode().replace("(?:", "(").replace(r"\d", "0-9") for word in KEYWORDS.values()
    )
    digits = (re.sub(r"(?<!\[\^)0-9", "[0-9]", word) for word in keywords)
    return ["-i", *(part for word in digits for part in ("-e", word))]


def common_patterns() -> list[str]:
    return [part for pattern in PATTERNS for part in ("-e", pattern)]


def grep(path: Path, patterns: list[str]) -> None:
    environment = {**os.environ, "LC_ALL": "C"}
    command = ["grep", "-a", "-E", "-c", *patterns, str(path)]
    subprocess.run(command, env=environment, check=False, capture_output=True)


def blocks(path: Path, most: int | None = None, each: int = BLOCK) -> Iterator[bytes]:
    with path.open("rb") as file:
        while (block := file.read(each)) and (most is None or file.tell() <= most):
            yield block


def searched(path: Path, pattern: re.Pattern[bytes], most: int) -> int:
    """How many lines match, each searched once, as grep does."""
    lines = (line for block in blocks(path, most) for line in block.split(b"\n"))
    return sum(pattern.search(line) is not None for line in lines)


def iterated(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def throughput(directory: Path, megabytes: int) -> None:
    print(f"\nReading {megabytes} MB, MB per second of one core; {len(PATTERNS)} patterns")
    print("steady: without the first tenth, whose head is read in full")
    names = ("steady", "tracker", "grep -E", "own keywords", "RE2", "lines", "re")
    print("own keywords: grep -E -i with the patterns that the tracker looks for")
    print(" " * 10 + "".join(f"{name:>10}" for name in names) + "   both/steady")
    for kind, lines in KINDS.items():
        path = directory / f"{kind}.log"
        generate(path, lines(), megabytes)
        rates = rates_of(path)
        print(f"{kind:10}" + "".join(f"{rate:10,.0f}" for rate in rates), end="")
        print(f"{rates[2] / rates[0]:8.1f}x {rates[3] / rates[0]:.1f}x")
        path.unlink()


def rates_of(path: Path) -> list[float]:
    """MB a second: the tracker's, then those of all that reads for comparison."""
    joined = "|".join(f"(?:{pattern})" for pattern in PATTERNS).encode()
    size, part = path.stat().st_size, 16 * BLOCK
    read = timed(lambda: track_file(path))
    begin = next(blocks(path, most=None, each=size // 10))
    began = timed(lambda: track_stream(io.BytesIO(begin), name="begin"))
    with_line_ends(path)
    return [
        (size - len(begin)) / (read - began) / MB,
        size / read / MB,
        size / timed(lambda: grep(path, common_patterns())) / MB,
        size / timed(lambda: grep(path, own_keywords())) / MB,
        part / timed(lambda: searched(path, re2.compile(joined), part)) / MB,
        size / timed(lambda: iterated(path)) / MB,
        part / timed(lambda: searched(path, re.compile(joined), part)) / MB,
    ]


def write(directory: Path, logs: int, seconds: int) -> None:
    """The second process: a new line a second in each log."""
    sources = [(KINDS[name](), name) for _, name in zip(range(logs), cycle(KINDS), strict=False)]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        for number, (lines, _) in enumerate(sources):
            with (directory / f"{number}.log").open("ab") as file:
                file.write(next(lines).encode())
        time.sleep(max(0.0, began + 1 - time.monotonic()))


def polled(watching: LogWatcher, seconds: int) -> tuple[float, float, float]:
    """The share of one core, seconds of the longest look, and how often each job was seen."""
    began, longest, seen = time.monotonic(), 0.0, 0
    before = _used(resource.RUSAGE_SELF) + used_by_helpers()
    while time.monotonic() < began + seconds:
        look = time.monotonic()
        seen += len(watching.look(time.time()))
        longest = max(longest, time.monotonic() - look)
        time.sleep(max(0.0, look + LOOK_EVERY_S - time.monotonic()))
    passed = time.monotonic() - began
    return (
        (_used(resource.RUSAGE_SELF) + used_by_helpers() - before) / passed,
        longest,
        passed * len(watching.jobs) / seen,
    )


def used_by_helpers() -> float:
    """Seconds of processor time, those that live now."""
    total = 0.0
    for pid in HELPERS.pids().values():
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def resident() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) / 1000 if found else 0.0


def live(directory: Path, logs: int, seconds: int, owners: Sequence[str]) -> None:
    """The daemon's own way: its store, its turns, what it writes down for a restart."""
    directory.chmod(0o755)
    store = SqliteStore(directory / "store.sqlite3")
    watching = LogWatcher(store, PatternLearning(store, BackgroundQueue()))
    for number in range(logs):
        log = str(directory / f"{number}.log")
        times = {"submit_time": time.time(), "start_time": time.time()}
        owner = owners[number % len(owners)]
        job = a_job(id=str(number), user=owner, state=JobState.RUNNING, logs=(log,), **times)
        watching.begin(job)
    print(f"\n{logs} logs, a line a second in each; {resident():.0f} MB before the first look")
    command = [sys.executable, "-m", "bench.speed.tracker", "--write", str(directory)]
    command += ["--logs", str(logs), "--seconds", str(2 * seconds + 5)]
    writer = subprocess.Popen(command, cwd=ROOT)
    try:
        for name in ("first half", "second half"):
            _report(name, polled(watching, seconds))
    finally:
        writer.terminate()
        writer.wait()
    polled(watching, 5)
    _report("no writes", polled(watching, max(3, seconds // 2)))
    store.close()


def _report(name: str, measured: tuple[float, float, float]) -> None:
    share, longest, every = measured
    print(
        f"{name:14} {share:6.1%} of a core, each seen every {every:.1f} s,"
        f" longest look {longest * 1e3:.0f} ms, {resident():.0f} MB"
    )


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--logs", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--owners", default=getpass.getuser(), help="users, separated by commas")
    parser.add_argument("--only", choices=("reading", "live"), help="one of the two parts")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    random.seed(3)
    if options.write:
        write(options.write, options.logs, options.seconds)
        return
    print(machine())
    with tempfile.TemporaryDirectory() as directory:
        if options.only != "live":
            throughput(Path(directory), options.megabytes)
        if options.only != "reading":
            live(Path(directory), options.logs, options.seconds, options.owners.split(","))


if __name__ == "__main__":
    main()
