"""Failures behind a long healthy log: the diagnosis must stay the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.corpora.failure_cases import LabelledCase
from schedmate.handler import NamedLog

_HEALTHY_LINES = (
    "{t} | INFO | step {n} loss {loss:.4f} lr 3.00e-04 grad_norm {g:.3f} tokens/s {s:.0f}",
    "{t} [trainer.py:212] iteration {n}/ 900000 | lm loss: {loss:.6E} | nan iterations: 0 |",
    "Epoch 3: 41%|####      | {n}/900000 [1:02:03<2:03:04, 3.41it/s, loss={loss:.3f}]",
    "{t} WARNING retrying failed request 1/5, error rate 0.00 (recovered)",
    "{t} INFO saved checkpoint step_{n}.pt, 0 errors, eval failed: 0, exceptions: none",
)


def healthy_log(size: int) -> bytes:
    rng, lines, length, number = random.Random(4), [], 0, 0
    while length < size:
        number += 1
        line = rng.choices(_HEALTHY_LINES, weights=(60, 20, 15, 1, 1))[0].format(
            t=f"2031-02-03 {number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}",
            n=number,
            loss=8 / (1 + number / 9000) + rng.random(),
            g=rng.random() * 2,
            s=1e5 * rng.random(),
        )
        lines.append(line)
        length += len(line) + 1
    return ("\n".join(lines) + "\n").encode()


@contextmanager
def padded(labelled: LabelledCase, healthy: bytes) -> Iterator[tuple[NamedLog, ...]]:
    """Share the healthy log among the case's logs, so that each has a part of it in front."""
    part = len(healthy) // max(1, len(labelled.logs))
    part = healthy.rfind(b"\n", 0, part) + 1
    with TemporaryDirectory(prefix="schedmate-padded-") as directory:
        logs = []
        for number, log in enumerate(labelled.logs):
            path = Path(directory) / str(number)
            with path.open("wb") as file:
                file.write(memoryview(healthy)[:part])
                file.write(log.read_bytes())
            logs.append(NamedLog(str(log), path))
        yield tuple(logs)
