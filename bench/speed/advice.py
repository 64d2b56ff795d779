"""How fast a job is read, beside reading its bytes and parsing its files alone.

    python -m bench.speed.advice                            # our jobs, and a tree of 2,000 files
    python -m bench.speed.advice --files 200 --times 1      # quicker
    python -m bench.speed.advice --job ~/project train.py   # and a checkout of yours

The large repository is generated: packages of packages, of which the entry point reaches a third.
With `--clones` the labelled public jobs are read too. Milliseconds of the wall clock (`--cpu`: of
the processor) within the process, the median of `--times`; a cold reading begins with no parsed
file in memory, a warm one with the same store on disk.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bench.command import command_line, console, table
from bench.corpora.advice_cases import OWN, PUBLIC, read_cases
from schedmate.advisor import Advisor, Target
from schedmate.advisor.interpret.python import parsed
from schedmate.advisor.sources.files import Files
from schedmate.store.sqlite import SqliteStore

_COLUMNS = ("job", "files", "MB", "bytes", "ast.parse", "cold", "again", "elsewhere", "config",
            "module")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds; None where the job has nothing to edit there."""

    files: int
    megabytes: float
    read: float
    parse: float
    cold: float
    again: float
    elsewhere: float
    config: float | None
    module: float | None


def main() -> None:
    arguments = _arguments()
    screen, summary = console(), table("milliseconds of a reading", _COLUMNS)
    timed = []
    _clocks.insert(0, time.thread_time if arguments.cpu else time.perf_counter)
    for name, directory, target in _jobs(arguments):
        found = _timed(directory, target, arguments.times)
        timed.append(found)
        summary.add_row(name, *_row(found))
    screen.print(summary)
    _print_summary(screen, timed[1:])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    screen.print(f"most memory {peak:.0f} MB; load {load} on {os.cpu_count()} processors")


def _arguments() -> argparse.Namespace:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--files", type=int, default=2000, help="of the generated tree")
    parser.add_argument("--times", type=int, default=5, help="each job is read")
    parser.add_argument("--clones", type=Path, help="where clones of public repositories are")
    parser.add_argument("--job", nargs=2, action="append", default=[], metavar=("DIR", "ENTRY"))
    parser.add_argument(
        "--cpu", action="store_true", help="time of the processor, on a busy machine"
    )
    return parser.parse_args()


def _jobs(arguments: argparse.Namespace) -> Iterator[tuple[str, Path, Callable[[], Target]]]:
    with tempfile.TemporaryDirectory() as scratch:
        large = Path(scratch)
        generate(large, arguments.files)
        yield f"{arguments.files} files", large, _command(large, "train.py")
        for directory, entry in arguments.job:
            copy = large / "copies" / Path(directory).name
            shutil.copytree(directory, copy, dirs_exist_ok=True, symlinks=True)
            yield f"{copy.name} {entry}", copy, _command(copy, entry)
    for case in read_cases(OWN, PUBLIC):
        with case.unpacked(arguments.clones) as files, tempfile.TemporaryDirectory() as scratch:
            if files is not None:
                copy = Path(shutil.copytree(files, Path(scratch) / "job", symlinks=True))
                yield case.name, copy, lambda case=case, copy=copy: case.label.target(copy)  # type: ignore[misc]


def _command(directory: Path, entry: str) -> Callable[[], Target]:
    if entry.endswith(".py"):
        return lambda: Target.from_command(directory, ("python", entry))
    return lambda: Target.from_script(directory, entry, ())


def generate(directory: Path, count: int) -> None:
    """Modules of a hundred lines; each imports a few others, a third is reached from the top."""
    rng = random.Random(1)
    names = [f"lib.part{n // 100}.group{n % 10}.module{n}" for n in range(count)]
    used = names[::3]
    for number, name in enumerate(names):
        path = directory / (name.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        for package in path.relative_to(directory).parents:
            (directory / package / "__init__.py").touch()
        pool = used if name in used else names
        others = [each for each in rng.sample(pool, 4) if each != name]
        path.write_text(_module(number, others))
    others = rng.sample(used, min(30, len(used)))
    imports = "".join(f"from {each} import Layer as Layer{n}\n" for n, each in enumerate(others))
    (directory / "train.yaml").write_text("lr: 0.0003\nbatch_size: 48\nepochs: 12\n")
    (directory / "train.py").write_text(imports + _ENTRY.replace("COUNT", str(len(others))))


_clocks = [time.perf_counter]


def _clock() -> float:
    return _clocks[0]()


_ENTRY = """\
import argparse
import torch
import yaml

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="train.yaml")
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    with open(args.config) as file:
        config = yaml.safe_load(file)
    net = torch.nn.Sequential(*[globals()[f"Layer{n}"](64) for n in range(COUNT)], Layer0(64))
    loader = torch.utils.data.DataLoader(data, batch_size=config["batch_size"])
    optimizer = torch.optim.AdamW(net.parameters(), lr=config["lr"])
    for epoch in range(config["epochs"]):
        for batch in loader:
            loss = net(batch)
            loss.backward()
            optimizer.step()

if __name__ == "__main__":
    main()
"""


def _module(number: int, others: list[str]) -> str:
    lines = ['"""One of many."""', "import torch", "from torch import nn"]
    lines += [f"from {each} import helper as helper{n}" for n, each in enumerate(others)]
    lines += [f"SIZE_{n} = {number * n % 1000}" for n in range(10)]
    lines += ["def helper(value, scale=2):", "    total = 0"]
    lines += [f"    total += value * scale * SIZE_{n}" for n in range(10)]
    lines += ["    return total", "class Layer(nn.Module):", "    def __init__(self, width):"]
    lines += ["        super().__init__()", "        self.width = helper0(width)"]
    lines += [f"        self.part{n} = nn.Linear(width, SIZE_{n % 10})" for n in range(15)]
    lines += ["    def forward(self, x):"]
    lines += [f"        x = self.part{n}(x) + helper{n % len(others)}(x)" for n in range(15)]
    lines += ["        return x"]
    for name in range(6):
        lines += [f"def unused{name}(a, b=None, *args, **kwargs):", "    if b is None:"]
        lines += ["        b = {'x': a, 'y': [a, a]}", "    return [a for a in b if a]"]
    return "\n".join(lines) + "\n"


def _timed(directory: Path, target: Callable[[], Target], times: int) -> Timed:
    with tempfile.TemporaryDirectory() as scratch:
        store = SqliteStore(Path(scratch) / "store.db")
        with _noted() as seen:
            _advise(store, target)
        code = [path for path in seen if path.suffix == ".py"]
        configs = [path for path in seen if path.suffix in (".yaml", ".yml", ".json", ".toml")]
        texts = [path.read_bytes() for path in code]
        found = Timed(
            files=len(code),
            megabytes=sum(map(len, texts)) / 1e6,
            read=_median(times, lambda: [path.read_bytes() for path in code]),
            parse=_median(times, lambda: _parse(texts)),
            cold=1000 * statistics.median(_cold(target) for _ in range(times)),
            again=_median(times, lambda: _advise(store, target)),
            elsewhere=_after_edits(times, [directory / "notes.txt"], store, target),
            config=_after_edits(times, configs[:1], store, target) if configs else None,
            module=_after_edits(times, code[-1:], store, target) if code else None,
        )
        store.close()
        return found


@contextmanager
def _noted() -> Iterator[list[Path]]:
    """The files that a reading reads."""
    seen: list[Path] = []
    honest = Files.read

    def read(files: Files, path: Path, *, inside: tuple[Path, ...] = ()) -> object:
        source = honest(files, path, inside=inside)
        if source is not None and source.path is not None and path not in seen:
            seen.append(path)
        return source

    Files.read = read  # type: ignore[assignment, method-assign]
    try:
        yield seen
    finally:
        Files.read = honest  # type: ignore[method-assign]


def _parse(texts: list[bytes]) -> None:
    for text in texts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ast.parse(text)
            except (SyntaxError, ValueError):
                continue


def _cold(target: Callable[[], Target]) -> float:
    parsed._recent.__init__()  # type: ignore[misc] # noqa: SLF001 - as in a new process
    with tempfile.TemporaryDirectory() as scratch:
        store = SqliteStore(Path(scratch) / "store.db")
        started = _clock()
        _advise(store, target)
        spent = _clock() - started
        store.close()
    return spent


def _advise(store: SqliteStore, target: Callable[[], Target]) -> None:
    Advisor(store, store).advise(target())


def _median(times: int, do: Callable[[], object]) -> float:
    spent = []
    for _ in range(times):
        started = _clock()
        do()
        spent.append(_clock() - started)
    return 1000 * statistics.median(spent)


def _after_edits(
    times: int, files: list[Path], store: SqliteStore, target: Callable[[], Target]
) -> float:
    spent = []
    for number in range(times):
        for file in files:
            ending = "" if file.suffix == ".json" else f"\n# {number}\n"
            file.write_text((file.read_text() if file.exists() else "") + (ending or " "))
        started = _clock()
        _advise(store, target)
        spent.append(_clock() - started)
    return 1000 * statistics.median(spent)


def _row(timed: Timed) -> list[str]:
    numbers = (timed.read, timed.parse, timed.cold, timed.again, timed.elsewhere, timed.config,
               timed.module)  # fmt: skip
    shown = ["-" if each is None else f"{each:.1f}" for each in numbers]
    return [str(timed.files), f"{timed.megabytes:.2f}", *shown]


def _print_summary(console: Console, jobs: list[Timed]) -> None:
    if not jobs:
        return
    for name in ("cold", "again"):
        spent = sorted(getattr(each, name) for each in jobs)
        middle, most = spent[len(spent) // 2], spent[int(0.9 * (len(spent) - 1))]
        console.print(
            f"ordinary jobs, {name}: p50 {middle:.0f} ms, p90 {most:.0f} ms of {len(spent)}"
        )
    ratio = statistics.median(each.cold / max(each.parse, 0.001) for each in jobs)
    console.print(
        f"ordinary jobs: a cold reading costs {ratio:.1f} times parsing the files it reads"
    )


if __name__ == "__main__":
    main()
