"""How many jobs a second the simulator's general path gets through.

    python bench/simulator.py [JOBS]

Philly's jobs are added where SCHEDMATE_DATA, or ../shared/data, holds traces/philly_2017_jobs.
"""

from __future__ import annotations

import csv
import gzip
import os
import platform
import sys
from pathlib import Path

from schedmate.policies import ordering
from schedmate.simulator import Trace, TraceJob, oracle, simulate, synthetic
from schedmate.simulator.traces.table import from_rows

PHILLY_GPUS = 416
"""A load of 0.9; the 2,490 GPUs it ran on were a load of 0.15 for one common pool."""
SYNTHETIC_GPUS = 512


def philly() -> Trace | None:
    """The CSV cut of Philly under the names of the plain trace table."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    data = Path(os.environ.get("SCHEDMATE_DATA", beside))
    path = data / "traces" / "philly_2017_jobs.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [
            {
                "job_id": str(number),
                "user": "",
                "submit_time": row["timestamp"],
                "duration": row["duration"],
                "gpus": row["num_gpus"],
                "group": row["cluster"],
            }
            for number, row in enumerate(csv.DictReader(file), start=1)
        ]
    return from_rows("philly_2017_jobs", enumerate(rows, start=2))


def measure(name: str, jobs: tuple[TraceJob, ...], gpus: int) -> None:
    for policy, advise in (("fifo", None), ("sjf", oracle)):
        for backfill in (False, True):
            result = simulate(
                jobs, gpus=gpus, ordering=ordering(policy), advise=advise, backfill=backfill
            )
            seconds = result.wall_seconds
            label = f"{policy} {'first-fit' if backfill else 'strict'}"
            print(
                f"{name:20} {label:15} {len(jobs):>9} jobs {seconds:7.2f} s "
                f"{len(jobs) / seconds:>9,.0f} jobs/s   "
                f"average completion {result.summary.avg_jct_s:,.0f} s"
            )


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    print(f"Python {platform.python_version()}, {platform.machine()}, one core")
    measure("synthetic", synthetic(jobs, gpus=SYNTHETIC_GPUS, seed=0).jobs, SYNTHETIC_GPUS)
    trace = philly()
    if trace is None:
        print("philly_2017_jobs: not here, see SCHEDMATE_DATA")
    else:
        print(f"{trace.name}: {len(trace.bad_rows)} rows left out")
        measure(trace.name, trace.jobs, PHILLY_GPUS)


if __name__ == "__main__":
    main()
