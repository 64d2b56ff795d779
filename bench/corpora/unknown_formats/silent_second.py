# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Logs that say nothing about progress; what failed at first (1 of 13) was looked at then."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.unknown_formats.labels import Line


def database(r: Random) -> Iterator[Line]:
    lsn = 1_000_000
    for _ in range(200):
        lsn += r.randint(10, 5000)
        yield f"LOG: checkpoint complete: wrote {r.randint(1, 400)} buffers; lsn={lsn:X}/{r.randint(1, 9)}"


def kernel_ring(r: Random) -> Iterator[Line]:
    at = 10.0
    for _ in range(200):
        at += r.expovariate(1)
        yield f"[{at:12.6f}] pci 0000:{r.randint(0, 9):02d}:00.0: BAR {r.randint(0, 5)}: assigned"


def package_manager(r: Random) -> Iterator[Line]:
    for _ in range(80):
        name = "".join(r.choices("abcdefgh", k=6))
        yield f"Get:{r.randint(1, 9)} http://deb.example {name} {r.randint(1, 9)}.{r.randint(0, 20)}-1 [{r.randint(10, 900)} kB]"


def pip_install(r: Random) -> Iterator[Line]:
    for _ in range(60):
        name = "".join(r.choices("abcdefgh", k=6))
        yield f"Requirement already satisfied: {name}>={r.randint(1, 4)}.{r.randint(0, 9)} in ./lib"


def nccl(r: Random) -> Iterator[Line]:
    for rank in range(8):
        for channel in range(24):
            yield f"gpu{rank}:311:{400 + rank} [{rank}] NCCL INFO Channel {channel:02d}/24 : {rank} -> {(rank + 1) % 8}"


def power_meter(r: Random) -> Iterator[Line]:
    for i in range(200):
        yield f"{1731700000 + i * 5},{r.uniform(200, 300):.1f},{r.uniform(40, 60):.1f},{r.randint(50, 70)}"


def growing_file(r: Random) -> Iterator[Line]:
    size = 0
    for _ in range(150):
        size += r.randint(1000, 90000)
        yield f"flushed, file is now {size} bytes"


def game_chat(r: Random) -> Iterator[Line]:
    for _ in range(200):
        yield f"<player{r.randint(1, 40)}> {r.choice(('gg', 'lol', 'no'))} {r.randint(1, 100)}"


def sensor(r: Random) -> Iterator[Line]:
    value = 20.0
    for _ in range(200):
        value += r.gauss(0, 0.1)
        yield f"temp={value:.2f} hum={r.uniform(40, 45):.1f} batt={r.randint(90, 95)}%"


def linter(r: Random) -> Iterator[Line]:
    line = 1
    for _ in range(60):
        line += r.randint(1, 30)
        yield f"model.py:{line}:{r.randint(1, 90)}: E501 line too long ({r.randint(101, 140)} > 100)"


def memory_dump(r: Random) -> Iterator[Line]:
    for i in range(100):
        yield f"{i * 16:08x}: {r.randbytes(8).hex()} {r.randbytes(8).hex()}"


def evaluation_only(r: Random) -> Iterator[Line]:
    for _ in range(60):
        yield f"class {r.choice(('cat', 'dog', 'cow', 'hen', 'bee'))}: ap {r.random():.3f} ({r.randint(10, 99)} boxes)"


def http_proxy(r: Random) -> Iterator[Line]:
    for _ in range(200):
        yield f"proxy: {r.randint(1, 20)} active, {r.randint(0, 9)} queued, p99={r.uniform(10, 90):.0f}ms"


SILENT = (
    database, kernel_ring, package_manager, pip_install, nccl, power_meter, growing_file, game_chat,
    sensor, linter, memory_dump, evaluation_only, http_proxy,
)  # fmt: skip
