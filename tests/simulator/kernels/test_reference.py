"""Engine and kernels against the slow reference: the same starts, ends and stops."""

from __future__ import annotations

import numpy as np
import pytest

from schedmate.simulator.engine.outcome import SimulationOutcome
from schedmate.simulator.kernels import available, run_kernel
from simulator.kernels.cases import CHECKED, THRESHOLD, Case, columns, on_engine, seen
from simulator.reference import RULES, RefJob, play

SEEDS = 250
RESTART = 3


def trace(seed: int) -> Case:
    draw = np.random.default_rng([7, seed])
    count, gpus = int(draw.integers(1, 12)), int(draw.integers(1, 9))
    submit = np.sort(draw.integers(0, 4 * count, count)).astype(np.float64)
    duration = draw.integers(1, 25, count).astype(np.float64)
    asked = draw.choice([size for size in (1, 1, 2, 3, 4, 6, 8) if size <= gpus], count)
    wrong = np.floor(duration * draw.choice([1, 1, 1, 0.5, 2], count))
    table = columns(submit, duration, asked)
    return Case(table, seen(table, expected=wrong, planned=wrong), gpus, None, RESTART)


def reference(name: str, case: Case) -> list[RefJob]:
    rows = zip(
        case.columns.submit, case.columns.duration, case.seen.gpus, case.seen.expected, strict=True
    )
    jobs = [
        RefJob(number, int(submit), int(duration), gpus, int(said), int(said))
        for number, (submit, duration, gpus, said) in enumerate(rows)
    ]
    threshold = THRESHOLD if name == "tiresias" else 0
    play(jobs, case.gpus, RULES[name], restart=RESTART, threshold=threshold)
    return jobs


def agree(outcome: SimulationOutcome, jobs: list[RefJob]) -> bool:
    return (
        outcome.start.tolist() == [job.first_start for job in jobs]
        and outcome.end.tolist() == [job.end for job in jobs]
        and outcome.preemptions.tolist() == [job.stops for job in jobs]
        and outcome.gpu_seconds.tolist() == [job.served * job.gpus for job in jobs]
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_engine_and_kernel_do_what_the_slow_reference_does(name):
    make = CHECKED[name]
    for seed in range(SEEDS):
        case = trace(seed)
        jobs = reference(name, case)

        assert agree(on_engine(make(), case), jobs), f"seed {seed}"
        if make().kernel and available():
            fast = run_kernel(make(), case.columns, case.seen, case.gpus, None, RESTART)
            assert agree(fast, jobs), f"seed {seed}, compiled"
