"""What holds of every policy that gives jobs the GPUs they asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.runs import Row, rows, run
from schedmate.policies import POLICIES
from schedmate.policies.attained_service import Tiresias

FIXED = [name for name, each in POLICIES.items() if "throughput" not in each.asks_for]
"""Those that give jobs the GPUs they asked for."""
NEVER_STOP = [name for name in FIXED if not POLICIES[name].preempts]
STOP = [name for name in FIXED if POLICIES[name].preempts]
RESTART_S = 5.0

few = settings(max_examples=25)


def policy(name: str):
    return Tiresias(threshold=24.0) if name == "tiresias" else POLICIES[name]()


def spells(log, outcome) -> list[tuple[int, float, float]]:
    """Who held GPUs from when to when."""
    since: dict[int, float] = {}
    found = []
    for at, what, job, _ in log:
        if what == "start":
            since[job] = at
        else:
            found.append((job, since.pop(job), at))
    return found + [(job, at, float(outcome.end[job])) for job, at in since.items()]


@pytest.mark.parametrize("name", [*NEVER_STOP, *STOP])
@few
@given(jobs=rows())
def test_no_gpu_is_used_twice_and_work_done_is_work_due_and_the_restarts(name, jobs):
    outcome, log = run(policy(name), jobs, restart_s=RESTART_S)
    held = spells(log, outcome)

    for moment in {begin for _, begin, _ in held}:
        used = sum(jobs[job][2] for job, begin, end in held if begin <= moment < end)
        assert used <= 4
    for job, (submit, seconds, gpus) in enumerate(jobs):
        own = [(begin, end) for who, begin, end in held if who == job]
        assert min(begin for begin, _ in own) == outcome.start[job] >= submit
        assert len(own) == outcome.preemptions[job] + 1
        assert outcome.gpu_seconds[job] == gpus * sum(end - begin for begin, end in own)
        worked = sum(
            max(0.0, end - begin - (RESTART_S if number else 0.0))
            for number, (begin, end) in enumerate(own)
        )
        assert worked == seconds


@pytest.mark.parametrize("name", NEVER_STOP)
@few
@given(jobs=rows())
def test_who_is_never_stopped_runs_once_for_its_time(name, jobs):
    outcome, _ = run(policy(name), jobs, restart_s=RESTART_S)

    assert (outcome.end - outcome.start).tolist() == [seconds for _, seconds, _ in jobs]
    assert not outcome.preemptions.any()


@few
@given(jobs=rows())
def test_first_fit_leaves_no_gpus_idle_that_somebody_fits(jobs):
    outcome, _ = run(POLICIES["first-fit"](), jobs)
    moments = np.unique(np.concatenate([outcome.start, outcome.end]))

    for moment in moments:
        runs = (outcome.start <= moment) & (moment < outcome.end)
        free = 4 - sum(gpus for (_, _, gpus), yes in zip(jobs, runs, strict=True) if yes)
        waits = [
            gpus
            for (submit, _, gpus), start in zip(jobs, outcome.start, strict=True)
            if submit <= moment < start
        ]
        assert all(gpus > free for gpus in waits)


@pytest.mark.parametrize("name", [*NEVER_STOP, *STOP])
@few
@given(jobs=rows(), seed=st.integers(0, 9))
def test_jobs_of_other_names_in_another_order_of_the_trace_fare_the_same(name, jobs, seed):
    """Where no two are submitted at once, as equal times are in the order of the trace."""
    apart: list[Row] = [
        (submit * 16 + number, seconds, gpus) for number, (submit, seconds, gpus) in enumerate(jobs)
    ]
    order = np.random.default_rng(seed).permutation(len(apart))
    shuffled = [apart[number] for number in order]

    plain, _ = run(policy(name), apart, restart_s=RESTART_S)
    other, _ = run(policy(name), sorted(shuffled), restart_s=RESTART_S)

    assert plain.same_as(other)


@pytest.mark.parametrize("name", [*NEVER_STOP, *STOP])
@few
@given(jobs=rows())
def test_twice_the_same_run_gives_twice_the_same(name, jobs):
    first, _ = run(policy(name), jobs, restart_s=RESTART_S)
    second, _ = run(policy(name), jobs, restart_s=RESTART_S)

    assert first.same_as(second)
