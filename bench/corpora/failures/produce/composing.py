"""Cases that need GPUs, fabrics or clouds: a public report's message in surroundings of our own."""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

import argparse
import json
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.corpora.failures.produce.making import CASES, RETRY


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    name: str
    reason: str
    after: str
    """The public report whose message it is."""
    cause: tuple[str, ...]
    text: str
    accept: tuple[str, ...] = ()
    state: str = "FAILED"
    exit_code: str = "1:0"
    nodes: tuple[str, ...] = ("n1",)
    ranks: tuple[int, ...] = ()
    hung: bool = False
    noise: str = "steps"
    others: dict[str, str] = field(default_factory=dict)
    """More logs of the same job by name."""


def _steps(chance: random.Random) -> list[str]:
    first = chance.randrange(100, 9000)
    return [
        f"[2031-03-0{chance.randrange(1, 9)} 11:{n:02}:07] step {first + n * 10} | loss "
        f"{2.9 - n / 40 + chance.random() / 9:.4f} | lr 2.4e-04 | {chance.randrange(300, 420)} ms/step"
        for n in range(14)
    ]


def _megatron(chance: random.Random) -> list[str]:
    return [
        f" iteration {n * 10:8}/   50000 | consumed samples: {n * 5120:12} | elapsed time per iteration "
        f"(ms): {chance.uniform(800, 900):.1f} | learning rate: 1.2E-04 | global batch size:   512 | "
        f"lm loss: {chance.uniform(2, 3):.6E} | loss scale: 65536.0 | number of nan iterations:   0 |"
        for n in range(1, 12)
    ]


def _bars(chance: random.Random) -> list[str]:
    return ["Loading checkpoint shards: 100%|##########| 4/4 [00:09<00:00,  2.31s/it]"] + [
        f"{{'loss': {chance.uniform(0.9, 1.4):.4f}, 'grad_norm': {chance.uniform(0.4, 2):.3f}, "
        f"'learning_rate': 1.9e-05, 'epoch': {n / 10}}}"
        for n in range(1, 12)
    ]


def _started(chance: random.Random) -> list[str]:
    return [
        f"Job {chance.randrange(1000, 9999)} starts on n1, 8 GPUs",
        "NCCL version 2.21.5+cuda12.4",
        "WARNING: flash attention is not installed, using the slow path",
        "loading tokenizer ... ok",
        "building model ... 6.74B parameters, 0 errors",
    ]


_NOISE = {"steps": _steps, "megatron": _megatron, "bars": _bars, "start": _started}


def write(case: Composed, out: Path) -> None:
    target = out / case.name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    chance = random.Random(case.name)
    before = "\n".join(_started(chance)[:3] + _NOISE[case.noise](chance))
    (target / "job.out").write_text(f"{before}\n{case.text.strip(chr(10))}\n")
    for name, text in case.others.items():
        noise = "\n".join(_NOISE[case.noise](chance))
        (target / name).write_text(f"{noise}\n{text.strip(chr(10))}\n")
    (target / "case.toml").write_text(_toml(case))


def _toml(case: Composed) -> str:
    values = {
        "reason": case.reason,
        "accept": list(case.accept),
        "retry": RETRY.get(case.reason, "no"),
        "cause": list(case.cause),
        "origin": "composed",
        "made_by": f"after {case.after}",
        "state": case.state,
        "exit_code": case.exit_code,
        "nodes": list(case.nodes),
        "ranks": list(case.ranks),
        "hung": case.hung,
    }
    optional = {"state", "exit_code", "nodes", "ranks", "hung"}
    shown = {name: value for name, value in values.items() if value or name not in optional}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in shown.items())


def main(cases: Sequence[Composed]) -> None:
    parser = argparse.ArgumentParser(description="Write composed cases")
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--out", type=Path, default=CASES)
    arguments = parser.parse_args()
    for case in cases:
        if not arguments.names or case.name in arguments.names:
            write(case, arguments.out)
    print(len(cases), "composed cases")
