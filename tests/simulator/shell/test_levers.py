"""Runs that make way, share GPUs or are stopped, in traces so small that a hand can follow them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from schedmate.core import DecisionEngine, DecisionLimits, PreemptionLimits, SharingLimits
from schedmate.core.doomed_limits import DoomedLimits
from schedmate.model import JobState
from schedmate.policies import POLICIES, ordering
from schedmate.simulator import columns_of
from schedmate.simulator.engine.cluster import GpuPool, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.estimators.base import oracle
from schedmate.simulator.estimators.predictor import Fixed
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.experiments.recovery import Owners
from schedmate.simulator.shell.levering import LeverSide
from schedmate.simulator.shell.shell import SimulatedDaemon
from schedmate.simulator.synthetic import JobLevers, Levers, draw_levers
from schedmate.simulator.synthetic.interference import SharedPaces
from schedmate.simulator.traces.columns import STATES
from schedmate.testing.builders import a_trace_job

HOUR = 3600.0
RESTART_S = 120.0
SCHEDULERS = ("easy", "multifactor")


def trace(*rows):
    """Rows of submission and duration, a GPU each."""
    return columns_of(
        [
            a_trace_job(job_id=str(n), submit_time=at, duration=s, gpus=1, time_limit=100 * HOUR)
            for n, (at, s) in enumerate(rows)
        ]
    )


def job_levers(jobs, **parts):
    """Of jobs of codes of their own, of which all is known."""
    no, yes = np.zeros(jobs, dtype=bool), np.ones(jobs, dtype=bool)
    values = {
        "code": np.arange(jobs),
        "resumable": no,
        "every_s": np.full(jobs, HOUR),
        "shareable": no,
        "memory": np.full(jobs, 0.3),
        "utilization": np.full(jobs, 0.3),
        "sign_s": np.full(jobs, np.inf),
        "consents": yes,
        "proves": no,
        "seen": Counter(range(jobs)),
        "measured": frozenset(range(jobs)),
        "seed": 0,
    }
    return JobLevers(**(values | parts))


def simulate(columns, policy, jobs, levers):
    everywhere = frozenset(columns.group.words)
    limits = DecisionLimits(
        preemption=PreemptionLimits(partitions=everywhere, widest=1.0),
        sharing=SharingLimits(partitions=everywhere),
        doomed=DoomedLimits(stop=frozenset({"nan"})),
    )
    shell = SimulatedDaemon(
        DecisionEngine(ordering("ssf"), limits),
        columns,
        predictor=Fixed(oracle(columns)),
        levers=LeverSide(levers, jobs, look_s=30.0),
    )
    outcome = SimulationEngine(
        columns,
        job_columns(columns, oracle(columns)),
        POLICIES[policy](),
        GpuPool(1),
        physics=SharedPaces(Plain(columns.gpus.tolist()), jobs),
        restart_s=RESTART_S,
        recovery=Owners(columns, None, jobs, seed=0),
        beside=shell,
    ).run()
    return outcome, shell.actions


@pytest.mark.parametrize("policy", SCHEDULERS)
def test_a_long_run_makes_way_at_its_checkpoint_and_goes_on_from_there(policy):
    columns = trace((0, 20 * HOUR), (1.5 * HOUR, 600))
    jobs = job_levers(2, resumable=np.array([True, False]))

    outcome, actions = simulate(columns, policy, jobs, Levers(resumable=0.5))

    # its second checkpoint is at 7200, the next poll at 7230; nothing since is kept
    assert outcome.start.tolist() == [0.0, 7230.0]
    assert outcome.end.tolist() == [7830 + RESTART_S + 20 * HOUR - 7200, 7830.0]
    assert (actions["preempt"], actions["release"]) == (1, 1)
    assert outcome.requeues.tolist() == [1, 0]


@pytest.mark.parametrize(
    "parts",
    [{"seen": Counter()}, {"resumable": np.zeros(2, dtype=bool)}],
    ids=["never seen to resume", "does not resume"],
)
def test_without_proof_it_runs_on(parts):
    columns = trace((0, 20 * HOUR), (1.5 * HOUR, 600))
    jobs = job_levers(2, **({"resumable": np.array([True, False])} | parts))

    outcome, actions = simulate(columns, "easy", jobs, Levers(resumable=0.5))

    assert outcome.end.tolist() == [20 * HOUR, 20 * HOUR + 600]
    assert not actions["preempt"]


def test_a_code_is_proven_by_a_run_that_another_one_went_on_from():
    columns = trace((0, 2 * HOUR), (2 * HOUR + 60, 20 * HOUR), (4 * HOUR, 600))
    code, saved = np.array([0, 0, 1]), np.array([True, False, False])
    parts = {"code": code, "resumable": code == 0, "seen": Counter()}

    _, proven = simulate(
        columns, "easy", job_levers(3, proves=saved, **parts), Levers(resumable=0.6)
    )
    _, unseen = simulate(columns, "easy", job_levers(3, **parts), Levers(resumable=0.6))

    assert (proven["preempt"], unseen["preempt"]) == (1, 0)


def test_at_a_blind_moment_the_work_since_the_checkpoint_is_lost():
    columns = trace((0, 20 * HOUR), (1.5 * HOUR, 600))
    jobs = job_levers(2, resumable=np.array([True, False]))

    sighted, _ = simulate(columns, "easy", jobs, Levers(resumable=0.5))
    blind, actions = simulate(columns, "easy", jobs, Levers(resumable=0.5, blind=True))

    assert actions["preempt"] == 1
    lost = blind.gpu_seconds.sum() - sighted.gpu_seconds.sum()
    assert lost == pytest.approx((blind.start[1] - 30) % HOUR, abs=60)
    assert lost > 120


@pytest.mark.parametrize("policy", SCHEDULERS)
def test_two_that_leave_room_share_a_gpu(policy):
    columns = trace((0, 10 * HOUR), (100, HOUR))
    jobs = job_levers(2, shareable=np.ones(2, dtype=bool), seed=3)
    pace = jobs.pace(0, 1)

    outcome, actions = simulate(columns, policy, jobs, Levers(shareable=1.0))

    assert 0.7 < pace < 1.0
    assert actions["share"] == 1
    assert outcome.start.tolist() == [0.0, 120.0]
    both = HOUR / pace
    assert outcome.end == pytest.approx([120 + both + 10 * HOUR - 120 - HOUR, 120 + both])


@pytest.mark.parametrize("policy", SCHEDULERS)
def test_the_gpu_is_free_when_both_have_left(policy):
    columns = trace((0, 600), (100, HOUR), (200, 60))
    shares = np.array([True, True, False])
    jobs = job_levers(3, shareable=shares, seed=3)
    pace = jobs.pace(0, 1)

    outcome, _ = simulate(columns, policy, jobs, Levers(shareable=0.6))

    first = 120 + 480 / pace
    second = first + HOUR - 480
    assert outcome.end[:2] == pytest.approx([first, second])
    assert outcome.start[2] == pytest.approx(second)


def test_two_that_slow_each_other_down_are_parted():
    columns = trace((0, 10 * HOUR), (100, HOUR))
    jobs = job_levers(2, shareable=np.ones(2, dtype=bool))
    slow = next(seed for seed in range(200) if replace(jobs, seed=seed).pace(0, 1) == 0.5)

    outcome, actions = simulate(columns, "easy", replace(jobs, seed=slow), Levers(shareable=1.0))

    # together from 120 to 420, and the younger one waits then until the GPU is free
    assert (actions["share"], actions["requeue"]) == (1, 1)
    assert outcome.end[0] == pytest.approx(10 * HOUR + 150)
    assert outcome.end[1] == pytest.approx(10 * HOUR + 150 + RESTART_S + HOUR)


def test_a_doomed_run_is_ended_at_its_first_sure_sign():
    columns = trace((0, 10 * HOUR), (100, HOUR))
    jobs = job_levers(2, sign_s=np.array([2 * HOUR, np.inf]))

    outcome, actions = simulate(columns, "easy", jobs, Levers(doomed=0.5))

    # ten minutes after the first sign, which must stand until then
    assert outcome.end.tolist() == [2 * HOUR + 600, 3 * HOUR + 600]
    assert STATES[outcome.status[0]] is JobState.CANCELLED
    assert actions["cancel"] == 1


def test_shares_are_of_jobs_and_drawn_by_code():
    users = [f"u{number % 40}" for number in range(2000)]
    columns = columns_of(
        [
            a_trace_job(job_id=str(n), submit_time=n, duration=HOUR, gpus=1, user=user)
            for n, user in enumerate(users)
        ]
    )
    asked = Levers(resumable=0.6, shareable=0.2, doomed=0.05, opted_in=0.5)

    drawn = draw_levers(asked, columns, None, None, seed=0)

    assert drawn.resumable.mean() == pytest.approx(0.6, abs=0.03)
    assert drawn.shareable.mean() == pytest.approx(0.2, abs=0.03)
    assert np.isfinite(drawn.sign_s).mean() == pytest.approx(0.05, abs=0.02)
    assert drawn.consents.mean() == pytest.approx(0.5, abs=0.03)
    for code in range(40):
        assert len(set(drawn.resumable[drawn.code == code].tolist())) == 1
