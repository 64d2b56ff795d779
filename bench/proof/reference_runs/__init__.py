"""The traces of public simulators, each as it was run there, and our policies on them.

Tiresias' simulator: its own 60 jobs (Apache-2.0) on fewer GPUs than they ask for at times, and 600
jobs of Philly; no cost of a restart, one threshold. The others': see the modules.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.datasets import rows
from bench.proof.reference_runs.gavel import gavels
from bench.proof.reference_runs.lucid import lucids
from bench.proof.reference_runs.running import KEPT, Average, on_pool, philly
from bench.proof.reference_runs.sia import sias


def tiresias(gpus: int) -> Average:
    jobs = [
        (float(row["submit_time"]), float(row["duration"]), int(row["num_gpu"]))
        for row in rows(KEPT / "tiresias_jobs.csv")
    ]
    return on_pool(jobs, gpus)


TRACES: dict[str, Callable[[], Average]] = {
    "tiresias-16": lambda: tiresias(16),
    "tiresias-12": lambda: tiresias(12),
    "philly-pool": lambda: on_pool(philly("6c71a0", 2400), 40),
    "philly-a": lambda: lucids("6c71a0", 2400, 5),
    "philly-b": lambda: lucids("103959", 1200, 4),
    "philly-c": lambda: lucids("6c71a0", 0, 8),
    "gavel-single": lambda: gavels("ed69ec", [36]),
    "gavel-multiple": lambda: gavels("0e4a51", [72]),
    "gavel-kinds": lambda: gavels("ed69ec", [20, 20, 20]),
    "sia": lambda: sias(64),
    "sia-24": lambda: sias(24, jobs=24),
    "sia-11": lambda: sias(16, jobs=11),
}
"""By the name of its reference figures: the average completion time under a policy."""
