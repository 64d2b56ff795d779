# ruff: noqa: E501 - a printed line is easier to read in one piece
"""Logs that say nothing about progress, looked at while the learner was built."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bench.corpora.unknown_formats.labels import Line


def web_server(r: Random) -> Iterator[Line]:
    for _ in range(200):
        size, code = r.randint(100, 9000), r.choice((200, 200, 404))
        yield f'10.0.0.{r.randint(1, 9)} - - "GET /a/{r.randint(1, 99)} HTTP/1.1" {code} {size}'


def request_ids(r: Random) -> Iterator[Line]:
    for i in range(200):
        yield f"request {1000 + i} from user {r.randint(1, 50)} took {r.uniform(1, 9):.1f} ms"


def download(r: Random) -> Iterator[Line]:
    for i in range(200):
        yield f"fetched {i * 1.3:.1f} MB ({r.uniform(5, 9):.1f} MB/s)"


def unit_tests(r: Random) -> Iterator[Line]:
    for _ in range(80):
        name = "".join(r.choices("abcdefgh", k=6))
        yield f"test_{name} ... ok ({r.uniform(0.01, 2):.2f}s)"


def compiler(r: Random) -> Iterator[Line]:
    for _ in range(80):
        name = "".join(r.choices("abcdefgh", k=5))
        yield f"src/{name}.cpp:{r.randint(1, 900)}:{r.randint(1, 80)}: warning: unused variable"


def stack_traces(r: Random) -> Iterator[Line]:
    for _ in range(20):
        yield "Traceback (most recent call last):"
        for _ in range(5):
            yield f'  File "train.py", line {r.randint(1, 500)}, in run'
        yield "RuntimeError: shape mismatch: 32 vs 64"


def gpu_monitor(r: Random) -> Iterator[Line]:
    for _ in range(200):
        yield f"GPU 0 util {r.randint(80, 99)}% mem {r.randint(30000, 31000)}MiB / 81920MiB temp {r.randint(60, 70)}C"


def memory_grows(r: Random) -> Iterator[Line]:
    used = 1000
    for _ in range(200):
        used += r.randint(1, 40)
        yield f"rss {used} / 64000 MB, gc {r.randint(0, 3)}"


def heartbeat(r: Random) -> Iterator[Line]:
    for i in range(200):
        yield f"heartbeat ts={1731700000 + i * 30} uptime={i * 30}s load={r.uniform(1, 3):.2f}"


def configuration(r: Random) -> Iterator[Line]:
    for _ in range(60):
        yield f"layer.{r.randint(0, 31)}.weight: [{r.choice((1024, 4096))}, 4096] requires_grad=True"


def retries(r: Random) -> Iterator[Line]:
    for _ in range(30):
        for i in range(1, 6):
            yield f"connection refused, attempt {i}/5, waiting {2**i} s"


def chat_server(r: Random) -> Iterator[Line]:
    for _ in range(200):
        tokens = r.randint(10, 400)
        yield f"generated {tokens} tokens at {r.uniform(30, 40):.1f} tok/s, cache {r.randint(1, 99)}%"


def scheduler_log(r: Random) -> Iterator[Line]:
    job = 5000
    for _ in range(200):
        job += r.randint(0, 4)
        yield f"sched: Allocate JobId={job} NodeList=n{r.randint(1, 40)} #CPUs={r.choice((8, 16))}"


SILENT = (
    web_server, request_ids, download, unit_tests, compiler, stack_traces, gpu_monitor,
    memory_grows, heartbeat, configuration, retries, chat_server, scheduler_log,
)  # fmt: skip
