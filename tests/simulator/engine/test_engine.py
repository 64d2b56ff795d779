"""The general engine: gangs, packing, elastic GPUs, stops, nodes that fail."""

from __future__ import annotations

import math

import numpy as np
import pytest

from schedmate.model import JobState
from schedmate.policies import Fifo, FirstFit
from schedmate.simulator.engine.cluster import GpuPool, Kinds, Nodes, Plain
from schedmate.simulator.engine.engine import SimulationEngine, StuckError
from schedmate.simulator.engine.faults import Fault, draw_faults
from schedmate.simulator.engine.limits import ended_at_limits
from schedmate.simulator.estimators.base import oracle
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.traces.columns import STATES, columns_of
from schedmate.testing.builders import a_trace_job


class Scripted:
    """Does what it is told, when it is told."""

    name = "scripted"
    source = None

    def __init__(self, *steps):
        self._steps = list(steps)
        self.told = []

    def begin(self, cluster):
        self.cluster = cluster
        for at, _ in self._steps:
            cluster.wake_at(at)

    def arrived(self, job):
        self.told.append(("arrived", job, self.cluster.now))

    def ended(self, job):
        self.told.append(("ended", job, self.cluster.now))

    def evicted(self, job):
        self.told.append(("evicted", job, self.cluster.now))

    def decide(self):
        while self._steps and self._steps[0][0] <= self.cluster.now:
            self._steps.pop(0)[1](self.cluster)


def trace(*rows):
    """Rows of submission, duration, GPUs."""
    return columns_of(
        [
            a_trace_job(job_id=str(number), submit_time=submit, duration=duration, gpus=gpus)
            for number, (submit, duration, gpus) in enumerate(rows)
        ]
    )


def engine(columns, policy, cluster, **options):
    options = {"physics": Plain(columns.gpus.tolist()), "restart_s": 10.0, **options}
    return SimulationEngine(
        columns, job_columns(columns, oracle(columns)), policy, cluster, **options
    )


def test_a_stopped_job_goes_on_where_it_was_after_the_cost_of_a_restart():
    columns = trace((0, 100, 2))
    policy = Scripted(
        (0, lambda cluster: cluster.start(0)),
        (30, lambda cluster: cluster.stop(0)),
        (50, lambda cluster: cluster.start(0)),
    )
    outcome = engine(columns, policy, GpuPool(2)).run()
    assert outcome.start.tolist() == [0]
    assert outcome.end.tolist() == [50 + 10 + 70]
    assert outcome.gpu_seconds.tolist() == [2 * (30 + 80)]
    assert outcome.preemptions.tolist() == [1]


def test_a_restart_that_was_not_paid_is_paid_anew():
    columns = trace((0, 100, 1))
    policy = Scripted(
        (0, lambda cluster: cluster.start(0)),
        (40, lambda cluster: cluster.stop(0)),
        (50, lambda cluster: cluster.start(0)),
        (55, lambda cluster: cluster.stop(0)),
        (60, lambda cluster: cluster.start(0)),
    )
    outcome = engine(columns, policy, GpuPool(1)).run()
    assert outcome.end.tolist() == [60 + 10 + 60]


def test_work_can_be_thrown_away():
    columns = trace((0, 100, 1))
    policy = Scripted(
        (0, lambda cluster: cluster.start(0)),
        (40, lambda cluster: cluster.stop(0, keep_work=False)),
        (40, lambda cluster: cluster.start(0)),
    )
    outcome = engine(columns, policy, GpuPool(1)).run()
    assert outcome.end.tolist() == [40 + 100], "who begins anew has no checkpoint to load"
    assert outcome.start.tolist() == [0]


def test_two_on_the_same_gpus_slow_each_other_down_until_one_has_ended():
    columns = trace((0, 100, 2), (0, 100, 2))
    policy = Scripted(
        (0, lambda cluster: cluster.start(0)), (20, lambda cluster: cluster.start_beside(1, 0))
    )
    outcome = engine(columns, policy, GpuPool(2)).run()
    assert outcome.end[0] == 20 + 80 / 0.5
    done_by_then = (outcome.end[0] - 20) * 0.5
    assert outcome.end[1] == outcome.end[0] + (100 - done_by_then)
    assert outcome.gpu_seconds.sum() == pytest.approx(2 * outcome.end[1]), "no GPU counted twice"


def test_a_third_does_not_sit_down_and_nobody_sits_beside_who_waits():
    columns = trace((0, 9, 1), (0, 9, 1), (0, 9, 1))
    said = []
    policy = Scripted(
        (
            0,
            lambda cluster: said.extend(
                [
                    cluster.start_beside(1, 0),
                    cluster.start(0),
                    cluster.start_beside(1, 0),
                    cluster.start_beside(2, 0),
                    cluster.start(2),
                ]
            ),
        )
    )
    engine(columns, policy, GpuPool(2)).run()
    assert said == [False, True, True, False, True]


def test_who_is_left_alone_holds_the_gpus_until_the_end():
    columns = trace((0, 10, 2), (0, 10, 2))
    frees = []
    policy = Scripted(
        (0, lambda cluster: (cluster.start(0), cluster.start_beside(1, 0))),
        (5, lambda cluster: (cluster.stop(0), frees.append(cluster.free))),
        (6, lambda cluster: frees.append(cluster.start(0))),
        (100, lambda cluster: (frees.append(cluster.free), cluster.start(0))),
    )
    engine(columns, policy, GpuPool(2)).run()
    assert frees == [0, False, 2]


def test_more_or_fewer_gpus_than_asked_for_change_the_pace():
    columns = trace((0, 100, 4))
    for given in (2, 8):
        policy = Scripted((0, lambda cluster, given=given: cluster.start(0, given)))
        outcome = engine(columns, policy, GpuPool(8)).run()
        assert outcome.end[0] == pytest.approx(100 / (given / 4) ** 0.9)
        assert outcome.gpu_seconds[0] == pytest.approx(given * outcome.end[0])


def test_remaining_served_and_pace_are_what_a_policy_may_know():
    columns = trace((0, 100, 1))
    seen = []
    policy = Scripted(
        (0, lambda cluster: cluster.start(0)),
        (
            30,
            lambda cluster: seen.extend([cluster.remaining(0), cluster.served(0), cluster.pace(0)]),
        ),
    )
    engine(columns, policy, GpuPool(1)).run()
    assert seen == [70, 30, 1]


def test_a_policy_that_forgets_a_job_is_found_out():
    with pytest.raises(StuckError, match="scripted lets 1 jobs wait for ever"):
        engine(trace((0, 1, 1)), Scripted(), GpuPool(1)).run()


def test_ends_are_told_before_arrivals_and_both_before_the_decision():
    columns = trace((0, 10, 1), (10, 5, 1))
    policy = Scripted(
        (0, lambda cluster: cluster.start(0)),
        (10, lambda cluster: policy.told.append(("decides", cluster.free, cluster.now))),
        (10, lambda cluster: cluster.start(1)),
    )
    engine(columns, policy, GpuPool(1)).run()
    assert policy.told[1:4] == [("ended", 0, 10), ("arrived", 1, 10), ("decides", 1, 10)]


class Lasting:
    """Every twentieth second is kept; a job that is hit comes back after five seconds."""

    def restarts_with(self, job, done_s):
        return 100.0, done_s // 20 * 20

    def by_hand_s(self, job):
        return 5.0


def test_a_node_takes_its_jobs_with_it_and_they_come_back_from_their_checkpoint():
    columns = trace((0, 100, 2), (0, 100, 2))
    outcome = engine(
        columns, FirstFit(), Nodes([2, 2]), faults=[Fault(0, 50, 1000)], recovery=Lasting()
    ).run()
    assert outcome.end[1] == 100, "on the other node"
    assert outcome.start[0] == 0
    assert outcome.end[0] == 100 + 10 + (100 - 40), "waits for the only node that is left"
    assert outcome.requeues.tolist() == [1, 0]
    assert not outcome.preemptions.any()


def test_a_repaired_node_is_used_again():
    columns = trace((0, 10, 2), (60, 10, 2))
    outcome = engine(columns, Fifo(), Nodes([2]), faults=[Fault(0, 20, 80)]).run()
    assert outcome.end.tolist() == [10, 90]


def test_faults_are_drawn_by_seed_and_at_the_published_rate():
    year = 365 * 86_400.0
    faults = draw_faults(400, 0.0, year, seed=1)
    assert faults == draw_faults(400, 0.0, year, seed=1) != draw_faults(400, 0.0, year, seed=2)
    assert 0.85 < len(faults) / (400 * 365 / 239) < 1.15
    repairs = np.array([fault.until - fault.at for fault in faults]) / 3600
    assert 15 < np.median(repairs) < 27
    assert all(fault.until > fault.at for fault in faults)


def test_zero_seconds_are_a_run_too():
    outcome = engine(trace((3, 0, 1), (3, 0, 1)), Fifo(), GpuPool(1)).run()
    assert outcome.end.tolist() == [3, 3]
    assert not any(math.isnan(start) for start in outcome.start)


def test_it_is_written_down_when_gpus_were_taken_and_given_back():
    columns = trace((0, 100, 2), (0, 100, 2))
    policy = Scripted(
        (0, lambda cluster: cluster.start(0)),
        (10, lambda cluster: cluster.start_beside(1, 0)),
        (20, lambda cluster: cluster.stop(0)),
        (30, lambda cluster: cluster.start(0)),
    )
    changes = engine(columns, policy, GpuPool(4)).run().changes
    assert np.cumsum(changes.more).tolist()[:3] == [2, 4, 2]
    assert changes.at.tolist()[:2] == [0, 30], "who shares takes nothing, who is left keeps all"
    assert changes.more.sum() == 0


def test_a_job_runs_on_the_kind_of_gpu_it_is_given_at_that_speed():
    columns = trace((0, 100, 2), (0, 100, 2), (0, 100, 2))
    said = []
    policy = Scripted(
        (
            0,
            lambda cluster: said.extend(
                [
                    cluster.start(0, kind=1),
                    cluster.fits(1, kind=1),
                    cluster.start(1),
                    cluster.start(2),
                    tuple(cluster.kinds()),
                    cluster.speed(0, 1),
                ]
            ),
        ),
        (50, lambda cluster: said.append(cluster.start(2))),
    )
    cluster = Kinds([(GpuPool(2), 1), (GpuPool(2), 1)])
    outcome = engine(columns, policy, cluster, speeds=(1.0, 2.0)).run()
    assert said == [True, False, True, False, (2, 2), 2.0, True]
    assert outcome.end.tolist() == [50, 100, 100]


def test_a_node_of_a_kind_fails_alone():
    columns = trace((0, 100, 2), (0, 100, 2))
    cluster = Kinds([(Nodes([2]), 1), (Nodes([2, 2]), 2)])
    outcome = engine(
        columns, FirstFit(), cluster, speeds=(1.0, 1.0), faults=[Fault(1, 50, 60)]
    ).run()
    assert outcome.end.tolist() == [100, 50 + 10 + 50]
    assert (cluster.gpus, cluster.free) == (6, 6)


def test_a_job_that_its_owner_brings_back_waits_as_a_new_one_and_runs_again():
    columns = trace((0, 100, 2))
    policy = Scripted(
        (0, lambda cluster: cluster.start(0)),
        (40, lambda cluster: cluster.resubmit(0, 25.0)),
        (65, lambda cluster: cluster.start(0)),
    )
    run = engine(columns, policy, GpuPool(4), restart_s=0.0)
    outcome = run.run()

    assert policy.told[:3] == [("arrived", 0, 0), ("evicted", 0, 40), ("arrived", 0, 65)]
    assert run.jobs.submit == [65]
    assert outcome.requeues.tolist() == [1]
    assert outcome.end.tolist() == [65 + 60]


def test_a_policy_sees_where_jobs_are_and_may_keep_them_from_nodes():
    columns = trace((0, 100, 1), (0, 100, 1), (0, 100, 1))
    seen = []

    def begin(cluster):
        seen.append(cluster.node_gpus())
        cluster.start(0, excluded=[0])
        cluster.start(1)
        seen.append([cluster.place_of(job) for job in (0, 1)])
        seen.append(cluster.start(2, excluded=[0, 1]))
        cluster.start(2)

    engine(columns, Scripted((0, begin)), Nodes([2, 2])).run()

    assert seen == [[2, 2], [((1, 1),), ((1, 1),)], False]


def test_a_run_beyond_its_limit_is_ended_there():
    rows = [("a", 100.0, 60.0), ("b", 100.0, 100.0), ("c", 100.0, None), ("d", 75.0, 60.0)]
    columns = columns_of(
        [
            a_trace_job(job_id=name, submit_time=0.0, duration=lasts, time_limit=limit)
            for name, lasts, limit in rows
        ]
    )
    ended = ended_at_limits(columns, 20.0)

    assert ended.duration.tolist() == [80.0, 100.0, 100.0, 75.0]
    states = [STATES[status] for status in ended.status.tolist()]
    assert states == [JobState.TIMEOUT, *[JobState.COMPLETED] * 3]
