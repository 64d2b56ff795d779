"""How fast the nearest past runs are found among a million, and which are missed.

    python -m bench.speed.neighbours                              # makes a million runs first
    python -m bench.speed.neighbours --runs 20000                 # quicker
    python -m bench.speed.neighbours --store /tmp/million.sqlite3 # keeps them for the next time

Runs are made up, but shaped as on a site: few users submit most jobs, users have projects with code
of their own, projects share models and data, and most runs are repetitions of earlier ones with
another number. Times are of the processor. A given store is used as it is when it has runs already.
"""

from __future__ import annotations

import random
import resource
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median, quantiles

import numpy as np

from bench.command import command_line
from schedmate.advisor import Target
from schedmate.advisor.predict.jobs import sketch_of_target
from schedmate.advisor.predict.neighbours import comparable, distances, find_neighbours
from schedmate.advisor.predict.prediction import predict
from schedmate.advisor.predict.runs import columns_of, query_of, rows_of
from schedmate.advisor.predict.site_model import SiteModel
from schedmate.model import Finding, Fingerprint, Job, JobState, PastRun, Request, Workload
from schedmate.store.sqlite import SqliteStore

_TOP = 20
_CHUNK = 5000
_CHANGED = 0.1
"""Of the runs are the first of changed code."""
_AS_GOOD = 0.01
"""A run less similar by no more than this is as good as the one that was missed."""


class Site:
    """Made-up users, projects and jobs; the same every time."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._users = [f"user{number}" for number in range(400)]
        self._weights = [1 / (place + 1) for place in range(len(self._users))]
        self._projects = {user: self._some_projects(user) for user in self._users}
        self._number = 0

    def _some_projects(self, user: str) -> list[dict[str, object]]:
        pick = self._random
        return [
            {
                "name": f"{user}-exp{place}",
                "model": f"model{int(pick.paretovariate(0.7)) % 300}",
                "dataset": f"data{int(pick.paretovariate(0.7)) % 200}",
                "framework": pick.choice(("pytorch", "lightning", "transformers", "jax")),
                "optimizer": pick.choice(("adamw", "adam", "sgd")),
                "entry_point": pick.choice(("train.py", "main.py", "run.py", "finetune.py")),
                "base": pick.lognormvariate(8, 1.5),
                "code": 0,
            }
            for place in range(pick.randint(1, 30))
        ]

    def runs(self) -> Iterator[PastRun]:
        while True:
            yield self.run()

    def run(self) -> PastRun:
        pick = self._random
        user = pick.choices(self._users, self._weights)[0]
        project = pick.choice(self._projects[user])
        if pick.random() < _CHANGED:
            project["code"] = self._number
        gpus, epochs = pick.choice((1, 1, 2, 4, 8)), float(pick.choice((1, 3, 10, 30, 90)))
        rate = pick.choice((1e-4, 3e-4, 1e-3, 0.1))
        seconds = project["base"] * epochs / 10 / gpus**0.8 * pick.lognormvariate(0, 0.1)  # type: ignore[operator]
        return self._ended(user, project, seconds, gpus=gpus, epochs=epochs, learning_rate=rate)

    def _ended(
        self, user: str, project: dict[str, object], seconds: float, **values: float
    ) -> PastRun:
        self._number += 1
        stated = {key: project[key] for key in ("model", "dataset", "framework", "optimizer")}
        stated |= {"entry_point": project["entry_point"], "batch_size": 32, **values}
        start = 1.6e9 + 60.0 * self._number
        job = Job(
            id=str(self._number),
            name=str(project["name"]),
            user=user,
            state=self._random.choices((JobState.COMPLETED, JobState.FAILED), (8, 2))[0],
            workdir="/",
            request=Request(gpus=int(values["gpus"])),
            submit_time=start,
            start_time=start,
            end_time=start + seconds,
        )
        return PastRun(
            job=job,
            fingerprint=Fingerprint(
                code=f"{project['name']}/{project['code']}", arguments=repr(sorted(values.items()))
            ),
            workload=Workload(
                **{key: Finding(value=value, source="code") for key, value in stated.items()}  # type: ignore[arg-type]
            ),
        )


def target_of(run: PastRun) -> Target:
    job = run.job
    return Target(
        workdir=Path("/"), command=("x",), request=job.request, user=job.user, name=job.name
    )


def fill(store: SqliteStore, site: Site, count: int) -> None:
    began, made = time.process_time(), 0.0
    for _ in range(0, count, _CHUNK):
        start = time.process_time()
        chunk = list(islice(site.runs(), _CHUNK))
        made += time.process_time() - start
        store.keep_runs(chunk)
    took = time.process_time() - began - made
    print(f"kept {count:,} runs in {took:.0f} s, {took / count * 1e6:.0f} us each")


def ask(store: SqliteStore, asked: list[PastRun]) -> None:
    found, predicted = [], []
    for run in asked:
        target = target_of(run)
        start = time.process_time()
        sketch = sketch_of_target(target, run.fingerprint, run.workload)
        find_neighbours(store, sketch)
        found.append(time.process_time() - start)
        start = time.process_time()
        predict(store, target, run.fingerprint, run.workload, site_model=SiteModel())
        predicted.append(time.process_time() - start)
    for name, times in (("find", found), ("find and predict", predicted)):
        high = quantiles(times, n=20)[-1]
        print(f"{name}: p50 {median(times) * 1e3:.1f} ms, p95 {high * 1e3:.1f} ms")


def recall(store: SqliteStore, asked: list[PastRun], count: int) -> None:
    """Of the 20 most similar of all, by brute force, how many are found as similar ones."""
    everything = columns_of(rows_of(store.newest_sketches(count)))
    shares, times = [], []
    for run in asked:
        sketch = sketch_of_target(target_of(run), run.fingerprint, run.workload)
        query = query_of(sketch, float(everything.rows["end"].max()))
        start = time.process_time()
        alike = np.exp(-np.sum(distances(query, everything), axis=0)[0])
        alike = np.where(comparable(query, everything), alike, 0.0)
        times.append(time.process_time() - start)
        best = np.sort(alike)[-_TOP:]
        neighbours = find_neighbours(store, sketch)
        got = np.zeros(0) if neighbours is None else np.sort(neighbours.similarity)[-_TOP:]
        got = np.pad(got, (_TOP - len(got), 0))
        shares.append(float((got >= best - _AS_GOOD).mean()))
    print(
        f"recall at {_TOP}: {np.mean(shares):.3f}; brute force takes {median(times) * 1e3:.0f} ms"
    )


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--asked", type=int, default=200, help="so many jobs are predicted")
    parser.add_argument("--store", type=Path, help="a store to make or to use")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = chosen.store or Path(folder) / "store.db"
        fresh, site = not path.exists(), Site()
        store = SqliteStore(path)
        if fresh:
            fill(store, site, chosen.runs)
        print(f"the store has {path.stat().st_size / 1e6:.0f} MB")
        asked = list(islice(Site().runs(), chosen.asked))
        ask(store, asked)
        print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB of memory")
        recall(store, asked[:20], chosen.runs)
        store.close()


if __name__ == "__main__":
    main()
