"""What it is worth to read the code of imported runs: a made-up site with real files.

    python -m bench.accuracy.imported_code               # 1,000 rows
    python -m bench.accuracy.imported_code --rows 200    # fewer

Projects of several small training programs are written to a temporary directory, with runs whose
durations follow their epochs, batch size and model and scatter by a tenth. The history is imported
without and with code; then the next jobs are advised: repeats of a run, and runs with another
number of epochs. Prints the seconds of each import, how many predictions rest on which basis, the
median factor by which p50 is off, how often the truth lies between p10 and p90, and the median of
p90 over p10.
"""

from __future__ import annotations

import csv
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.command import command_line, console, table
from schedmate.advisor import Advisor, Target
from schedmate.model import Spread
from schedmate.model.account import account_name
from schedmate.store.sqlite import SqliteStore

SCATTER = 0.1
MODELS = {"resnet18": 4.0, "resnet50": 11.0, "vit_b_16": 23.0}
HOUR = 3600.0

TRAIN = '''\
"""Project {number}."""
import argparse

import torch
from torchvision import datasets, models

from data import loader_{number}

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--batch-size", type=int, default=64)
args = parser.parse_args()
model = models.{model}()
optimizer = torch.optim.SGD(model.parameters(), lr=0.{number:03})
for epoch in range(args.epochs):
    for images, labels in loader_{number}(datasets.CIFAR10("."), args.batch_size):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), "last.pt")
'''
DATA = """\
from torch.utils.data import DataLoader


def loader_{number}(data, batch_size):
    return DataLoader(data, batch_size=batch_size, shuffle=True, num_workers={workers})
"""


@dataclass(frozen=True, slots=True)
class Project:
    place: Path
    model: str
    slowness: float

    def seconds(self, epochs: int, batch: int, rng: random.Random) -> float:
        per_epoch = MODELS[self.model] * self.slowness * (1 + 16 / batch)
        return (30 + epochs * per_epoch) * rng.lognormvariate(0, SCATTER)

    def script(self, epochs: int, batch: int) -> Path:
        path = self.place / f"run_{epochs}_{batch}.sh"
        if not path.exists():
            path.write_text(
                "#!/bin/bash\n#SBATCH --gpus=1\n"
                f"python train.py --epochs {epochs} --batch-size {batch}\n"
            )
        return path


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--projects", type=int, default=40)
    parser.add_argument("--asked", type=int, default=60)
    wanted = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        projects = [_project(Path(folder, f"p{n}"), n, rng) for n in range(wanted.projects)]
        rows = Path(folder, "rows.csv")
        known = _write_rows(rows, projects, wanted.rows, rng)
        asked = _asked(projects, known, wanted.asked, rng)
        shown = table(
            f"{wanted.rows} rows, {wanted.projects} programs",
            ("import", "s", "next job", "basis", "off by", "in p10-p90", "p90/p10"),
        )
        for name, flags in (("without code", ["--no-code"]), ("with code", [])):
            state = Path(folder, name.replace(" ", "_"))
            took = _import(rows, state, flags)
            for kind, jobs in asked.items():
                shown.add_row(name, f"{took:.1f}", kind, *_scores(state, jobs))
    console().print(shown)


def _project(place: Path, number: int, rng: random.Random) -> Project:
    place.mkdir()
    model = rng.choice(sorted(MODELS))
    (place / "train.py").write_text(TRAIN.format(number=number, model=model))
    (place / "data.py").write_text(DATA.format(number=number, workers=rng.randint(1, 8)))
    for path in place.iterdir():
        os.utime(path, (0, 0))
    return Project(place, model, rng.lognormvariate(1.5, 1.0))


def _write_rows(
    path: Path, projects: list[Project], count: int, rng: random.Random
) -> list[tuple[Project, int, int]]:
    known = []
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            ("job_id", "user", "submit_time", "duration", "gpus", "name", "script", "workdir")
        )
        for number in range(count):
            project = rng.choice(projects)
            epochs, batch = rng.choice((5, 10, 20, 40)), rng.choice((32, 64, 128))
            script = project.script(epochs, batch)
            os.utime(script, (0, 0))
            took = project.seconds(epochs, batch, rng)
            at = 1.7e9 + number * HOUR / 4
            rows.writerow((number, account_name(), at, took, 1, "job", script.name, project.place))
            known.append((project, epochs, batch))
    return known


def _asked(
    projects: list[Project], known: list[tuple[Project, int, int]], count: int, rng: random.Random
) -> dict[str, list[tuple[Target, float]]]:
    def job(project: Project, epochs: int, batch: int) -> tuple[Target, float]:
        script = project.script(epochs, batch)
        return Target.from_script(project.place, script.name, ()), project.seconds(
            epochs, batch, rng
        )

    return {
        "a repeat": [job(*rng.choice(known)) for _ in range(count)],
        "other epochs": [
            job(rng.choice(projects), rng.choice((15, 30, 80)), 64) for _ in range(count)
        ],
    }


def _import(rows: Path, state: Path, flags: list[str]) -> float:
    started = time.perf_counter()
    env = {**os.environ, "SCHEDMATE_STATE_DIR": str(state), "SCHEDMATE_CONFIG": "/dev/null"}
    command = [sys.executable, "-m", "schedmate", "history", "import", str(rows), *flags]
    subprocess.run(command, env=env, check=True)
    return time.perf_counter() - started


def _scores(state: Path, jobs: list[tuple[Target, float]]) -> tuple[str, ...]:
    with closing(SqliteStore(state / "schedmate.sqlite3")) as store:
        advisor = Advisor(store, store)
        found = [(advisor.advise(target).advice.prediction, truth) for target, truth in jobs]
    bases = Counter(prediction.basis for prediction, _ in found)
    spreads: list[tuple[Spread, float]] = [
        (prediction.duration_s, truth) for prediction, truth in found if prediction.duration_s
    ]
    off = statistics.median(max(s.p50 / t, t / max(s.p50, 1e-9)) for s, t in spreads)
    inside = sum(s.p10 <= t <= s.p90 for s, t in spreads) / len(spreads)
    width = statistics.median(s.p90 / max(s.p10, 1e-9) for s, _ in spreads)
    basis = ", ".join(f"{name} {count}" for name, count in bases.most_common())
    return basis, f"{off:.2f}x", f"{inside:.0%}", f"{width:.1f}"


if __name__ == "__main__":
    main()
