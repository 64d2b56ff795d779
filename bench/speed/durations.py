"""What learning a site's past costs, and how long a prediction takes.

    python -m bench.speed.durations                # 100,000 jobs
    python -m bench.speed.durations --jobs 10000   # fewer

The jobs are made up: 300 users with a few recurring names each, bursts, limits. CPU time is given
beside wall time, since other programs may be running.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable

import numpy as np

from bench.command import command_line, machine
from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.jobs import EndedJob, Facts
from schedmate.model import JobState

ASKED = 1000


def made_up(count: int) -> list[EndedJob]:
    rng = random.Random(1)
    at, runs, user, burst = 0.0, [], 0, 0
    for number in range(count):
        if burst == 0:
            user, burst = min(299, int(rng.expovariate(0.02))), rng.choice([1, 1, 3, 20])
            at += rng.expovariate(1 / 200)
        burst -= 1
        kind = rng.randrange(5)
        facts = Facts(
            job_id=str(number),
            user=f"user{user}",
            name=f"job{kind}-{number}",
            command=f"train{kind}.sh --seed {number}",
            gpus=2**kind,
            cpus=8,
            limit_s=3600.0 * 4**kind,
            partition="gpu",
            submitted_at=at,
        )
        seconds = min(3600.0 * 4**kind, rng.lognormvariate(5 + kind, 1.0))
        started = at + rng.expovariate(1 / 600)
        runs.append(EndedJob(facts, started, started + seconds, JobState.COMPLETED))
    return runs


def timed(what: str, work: Callable[[], object]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{what:34}{wall:8.2f} s wall {cpu:8.2f} s CPU")


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=100_000)
    count = parser.parse_args().jobs
    runs, model = made_up(count), CohortModel()
    timed(f"learning from {count:,} jobs", lambda: model.learn(runs))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'peak memory, the jobs included':34}{peak:8.0f} MB")
    took = []
    for run in runs[-ASKED:]:
        started = time.perf_counter()
        model.predict(run.facts)
        took.append(1000 * (time.perf_counter() - started))
    p50, p99 = np.quantile(took, [0.5, 0.99])
    print(f"{'a prediction':34}{p50:8.2f} ms p50, {p99:.2f} ms p99")
    stored = model.dump()
    timed(f"storing it ({len(stored) / 1e6:.1f} MB)", model.dump)
    timed("taking it up again", lambda: CohortModel.load(stored))
    print(machine())


if __name__ == "__main__":
    main()
