"""Small trees of files and what a job in them should be understood as."""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path

from schedmate.advisor import Advisor, Target
from schedmate.testing.history import MemoryHistory

TRAIN = """\
import argparse
import torch

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--config")
    parser.add_argument("--name")
    args = parser.parse_args()
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = model(torch.rand(4)).sum()
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""
PREPARE = "import json\n\nwith open('data.json', 'w') as file:\n    json.dump([1], file)\n"
EVALUATE = "import torch\n\nmodel = torch.load('model.pt')\nprint(model(torch.rand(4)))\n"


@dataclass(frozen=True)
class Tree:
    """Files in one text, each behind a line `=== path`; `command` is `SCRIPT ARGS` or `-- WORDS`.

    `train.py`, which takes `--epochs` and `--lr`, is in each, or in `at`.
    """

    name: str
    files: str
    command: str
    entry: str = "train.py"
    epochs: float | None = 9
    at: str = "train.py"
    more: tuple[tuple[str, object], ...] = ()
    """Other fields and their values."""

    def written(self, place: Path) -> Path:
        texts: dict[str, list[str]] = {self.at: TRAIN.splitlines()}
        lines: list[str] = []
        for line in textwrap.dedent(self.files).splitlines():
            if line.startswith("=== "):
                lines = texts.setdefault(line.removeprefix("=== "), [])
            else:
                lines.append(line)
        for path, body in texts.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text("\n".join(body) + "\n")
        return place

    def target(self, place: Path) -> Target:
        words = shlex.split(self.command)
        if words[0] == "--":
            return Target.from_command(place, words[1:])
        return Target.from_script(place, words[0], words[1:])


def advised(tree: Tree, place: Path):
    memory = MemoryHistory()
    return Advisor(memory, memory).advise(tree.target(tree.written(place))).advice


def value(workload, field):
    finding = getattr(workload, field)
    return None if finding is None else finding.value


def assert_found(tree: Tree, place: Path) -> None:
    workload = advised(tree, place).workload
    assert value(workload, "entry_point") == tree.entry
    assert value(workload, "epochs") == tree.epochs
    assert {name: value(workload, name) for name, _ in tree.more} == dict(tree.more)
