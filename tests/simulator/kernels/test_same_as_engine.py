"""The compiled kernels and the general engine give the same, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from schedmate.policies import POLICIES, Fifo
from schedmate.simulator.engine.engine import StuckError
from schedmate.simulator.kernels import run_kernel
from simulator.kernels.cases import COMPILED, Case, awkward, columns, on_engine, seen

pytestmark = pytest.mark.slow

pytest.importorskip("numba")
SEEDS = 120


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [awkward(seed) for seed in range(SEEDS)]


@pytest.mark.parametrize("name", COMPILED)
def test_a_kernel_gives_bit_by_bit_what_the_engine_gives(name, cases):
    make = COMPILED[name]
    for seed, case in enumerate(cases):
        compiled = run_kernel(
            make(), case.columns, case.seen, case.gpus, case.eligible, case.restart_s
        )

        assert compiled.same_as(on_engine(make(), case)), f"seed {seed}"


def test_the_cases_stop_jobs(cases):
    """Else the tests above would say little of preemption."""
    stops = [on_engine(COMPILED[name](), case).preemptions.sum() for case in cases[:40]
             for name in ("srtf", "srsf")]  # fmt: skip
    assert np.count_nonzero(stops) > len(stops) / 3


def test_every_policy_with_a_kernel_is_checked_here():
    def how(policy):
        return policy.orders_by, policy.kernel

    checked = {how(make()) for make in COMPILED.values()}

    assert {how(make()) for make in POLICIES.values() if make().kernel} <= checked


def test_kernels_are_kept_only_where_they_pay():
    compiled = {name for name, make in POLICIES.items() if make().kernel}

    assert {name.removesuffix("-oracle") for name in compiled} == {
        *("fifo", "first-fit", "easy", "sjf", "ssf", "qssf", "srtf", "srsf")
    }


def test_a_policy_without_a_kernel_is_refused():
    table = columns(np.zeros(1), np.ones(1), np.ones(1))

    with pytest.raises(ValueError, match="las has no kernel"):
        run_kernel(POLICIES["las"](), table, seen(table), 4)


@pytest.mark.parametrize("name", COMPILED)
def test_no_jobs_give_no_outcome(name):
    table = columns(np.empty(0), np.empty(0), np.empty(0))

    assert len(run_kernel(COMPILED[name](), table, seen(table), 4).start) == 0


def test_a_job_larger_than_the_cluster_is_refused_as_the_engine_refuses_it():
    table = columns(np.zeros(2), np.ones(2), np.array([1, 5]))

    with pytest.raises(StuckError):
        run_kernel(Fifo(), table, seen(table), 4)


@pytest.mark.parametrize("name", COMPILED)
def test_times_since_the_epoch_with_fractions_are_the_same_too(name):
    for seed in range(20):
        draw = np.random.default_rng(seed)
        submit = 1.7e9 + np.sort(draw.uniform(0, 500, 40))
        duration = draw.exponential(60, 40)
        table = columns(submit, duration, draw.choice([1, 2, 4], 40))
        guessed = duration * np.exp(draw.normal(0, 0.7, 40))
        case = Case(table, seen(table, expected=guessed, planned=guessed), 6, None, 5.5)
        make = COMPILED[name]

        compiled = run_kernel(make(), table, case.seen, case.gpus, None, case.restart_s)

        assert compiled.same_as(on_engine(make(), case)), f"seed {seed}"
