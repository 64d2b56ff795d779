"""What Slurm's model plans and queues with, checked against plain lists."""

from __future__ import annotations

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest

from schedmate.model import BadInput
from schedmate.policies.attained_service import Las, Tiresias
from schedmate.policies.base import Answers
from schedmate.policies.disciplines.planning import FreeProfile, PlannedEnds, _Blocks
from schedmate.policies.fifo import Fifo
from schedmate.policies.lucid import Lucid
from schedmate.policies.priority_queue import ScoredQueue
from schedmate.policies.slurm_backfill import NodePlan, first_of_shortest_run
from schedmate.policies.slurm_parameters import SlurmParameters

ALL = """\
PriorityType            = priority/multifactor
PriorityFavorSmall      = Yes
PriorityWeightAge       = 2
SchedulerParameters     = bf_max_job_start=4,bf_max_job_test=6,sched_interval=8
"""


def test_every_parameter_has_a_name_of_its_own():
    read = SlurmParameters.read(ALL)
    assert (read.favor_small, read.bf_max_job_start, read.bf_max_job_test) == (True, 4, 6)
    assert (read.sched_interval_s, read.over_time_limit_s) == (8.0, 0.0)


@pytest.mark.parametrize(
    "line", ["SchedulerType = sched/backfill", "SchedulerParameters = bf_continue"]
)
def test_one_line_of_a_configuration_is_enough_and_the_rest_is_standard(line):
    read, standard = SlurmParameters.read(line), SlurmParameters()
    assert (read.sched_interval_s, read.basic) == (standard.sched_interval_s, False)
    assert (read.bf_max_job_start, read.favor_small) == (standard.bf_max_job_start, False)


@pytest.mark.parametrize(
    ("nodes", "chosen"),
    [([3], 3), ([0, 1, 2, 5], 5), ([0, 1, 4, 5], 0), ([0, 2, 3], 0), ([0, 1, 2, 4, 5, 7], 7)],
)
def test_a_job_of_one_node_takes_the_smallest_group_of_neighbours(nodes, chosen):
    assert first_of_shortest_run(nodes) == chosen


def a_plan(*running, sizes=(4, 4, 4), now=100.0) -> NodePlan:
    return NodePlan(now, sizes, [(end, place) for end, *place in running])


def test_what_is_free_now_starts_now():
    plan = a_plan((400.0, (0, 4)), (700.0, (1, 2)))
    assert plan.earliest(2, 60) == (100.0, frozenset({1}))
    assert plan.earliest(4, 60) == (100.0, frozenset({2}))
    assert plan.earliest(8, 60) == (400.0, frozenset({0, 2}))
    assert plan.earliest(12, 60) == (700.0, frozenset({0, 1, 2}))
    assert plan.earliest(13, 60) == (math.inf, frozenset())


def test_a_node_of_another_size_is_no_whole_node():
    plan = a_plan(sizes=(4, 2, 4))
    assert plan.earliest(8, 60) == (100.0, frozenset({0, 2}))
    assert plan.earliest(10, 60) == (math.inf, frozenset())


def test_a_job_that_is_over_its_limit_ends_now():
    assert a_plan((40.0, (0, 4)), sizes=(4,)).earliest(4, 60) == (100.0, frozenset({0}))


def test_ends_within_one_window_count_as_the_last_of_them():
    """Windows of 30, 60, 120 s ... from the first multiple of 30 after the first end."""
    ends = [110.0, 125.0, 149.0, 151.0, 179.0, 181.0, 400.0]
    plan = a_plan(*((end, (node, 4)) for node, end in enumerate(ends)), sizes=(4,) * 7)
    assert plan.earliest(4, 60)[0] == 149.0
    assert plan.earliest(4 * 3, 60)[0] == 149.0
    assert plan.earliest(4 * 4, 60)[0] == 179.0
    assert plan.earliest(4 * 6, 60)[0] == 181.0
    assert plan.earliest(4 * 7, 60)[0] == 400.0


def test_a_reservation_closes_its_nodes_for_who_would_run_into_it():
    plan = a_plan()
    plan.reserve(8, frozenset({0, 1}), 200.0, 300.0)
    plan.reserve(4, frozenset({2}), 500.0, 600.0)
    assert plan.closed(99) == []
    assert plan.closed(100) == [0, 1]
    assert plan.closed(400) == [0, 1, 2]
    assert plan.earliest(4, 50) == (100.0, frozenset({0}))
    assert plan.earliest(4, 150) == (100.0, frozenset({2}))
    assert plan.earliest(8, 150)[1] == frozenset({0, 1})


def test_what_starts_within_a_cycle_is_not_free_any_more():
    plan = a_plan(sizes=(4, 4))
    plan.started(4, ((0, 4),), 900.0)
    assert plan.earliest(8, 60) == (900.0, frozenset({0, 1}))
    assert plan.earliest(4, 60) == (100.0, frozenset({1}))


def test_a_queue_of_scores_is_that_of_a_plain_list():
    rng = random.Random(4)
    jobs = 300
    gpus = [rng.choice([1, 2, 4, 8]) for _ in range(jobs)]
    planned = np.array([rng.uniform(10, 1000) for _ in range(jobs)])
    queue, plain = ScoredQueue(SimpleNamespace(gpus=gpus), planned), {}
    for job in range(jobs):
        queue.add(job, float(score := rng.random()))
        plain[job] = score
        if rng.random() < 0.3:
            gone = rng.choice(list(plain))
            queue.remove(gone)
            del plain[gone]
            assert gone not in queue
        if not plain:
            continue
        assert len(queue) == len(plain)
        assert set(queue.jobs.tolist()) == set(plain)
        assert queue.first() == max(plain, key=plain.__getitem__)
        assert queue.smallest == min(gpus[one] for one in plain)
        free, window, spare = rng.choice([2, 8]), rng.uniform(0, 500), rng.choice([0, 1])
        may = [
            one
            for one in plain
            if gpus[one] <= free and (planned[one] <= window or gpus[one] <= spare)
        ]
        assert queue.first_behind(free, window, spare) == max(
            may, key=plain.__getitem__, default=None
        )
    assert len(queue) > 128  # it has grown twice
    queue.rescore(-np.array([plain[one] for one in queue.jobs.tolist()]))
    assert queue.first() == min(plain, key=plain.__getitem__)
    assert all(queue.score(one) == -plain[one] for one in plain)


def test_blocks_of_keys_are_those_of_a_sorted_list():
    rng = random.Random(5)
    blocks, plain = _Blocks(), {}
    for job in range(2000):
        key, plan = (round(rng.random(), 3), job), rng.uniform(1, 100)
        blocks.add(key, plan)
        plain[key] = plan
        if rng.random() < 0.4:
            gone = rng.choice(list(plain))
            blocks.remove(gone)
            del plain[gone]
        if job % 50 == 0 and plain:
            by = rng.uniform(0, 60)
            fits = [key for key in sorted(plain) if plain[key] <= by]
            assert blocks.first(0.0, by) == (fits[0][1] if fits else None)
            shortest = min(plain.values())
            assert blocks.shortest()[0] == shortest
            assert len(blocks) == len(plain)


def freed_by(plain: dict[int, tuple[float, int]], now: float) -> list[tuple[float, int]]:
    """When and how many GPUs become free; those of jobs that are late now."""
    late = sum(gpus for end, gpus in plain.values() if end <= now)
    ahead = sorted((end, job, gpus) for job, (end, gpus) in plain.items() if end > now)
    some_late = any(end <= now for end, _ in plain.values())
    return [(now, late)] * some_late + [(end, gpus) for end, _, gpus in ahead]


def test_planned_ends_are_those_of_a_plain_list():
    rng = random.Random(6)
    ends, plain, now = PlannedEnds(), {}, 0.0
    for job in range(600):
        now += rng.choice([0.0, 1.0, 5.0])
        began, plan, gpus = (
            now - rng.choice([0, 30]),
            rng.choice([5, 20, 60]),
            rng.choice([1, 2, 8]),
        )
        ends.add(job, began, plan, gpus)
        plain[job] = (began + plan, gpus)
        if rng.random() < 0.5:
            gone = rng.choice(list(plain))
            ends.remove(gone)
            del plain[gone]
        if rng.random() < 0.3 and job in plain:
            ends.replan(job, other := rng.choice([1, 40]))
            plain[job] = (began + other, gpus)
        freed = freed_by(plain, now)
        assert ends.freed(now) == freed
        free, needed = rng.choice([0, 1, 4]), rng.choice([1, 8, 16, 400])
        room, when = free + sum(gpus for at, gpus in freed if at == now), now
        for at in sorted({at for at, _ in freed}):
            if room < needed:
                room, when = free + sum(gpus for end, gpus in freed if end <= at), at
        enough = room >= needed
        assert ends.reservation(needed, free, now) == (
            (when, room - needed) if enough else (math.inf, 0)
        )


def test_a_profile_of_free_gpus_is_that_of_every_second():
    rng = random.Random(7)
    for _ in range(200):
        freed = sorted((rng.randrange(60), rng.choice([1, 2])) for _ in range(5))
        free = rng.choice([0, 2])
        profile = FreeProfile(0, free, freed)
        seconds = [free + sum(gpus for at, gpus in freed if at <= now) for now in range(200)]
        for _ in range(4):
            gpus, plan = rng.choice([1, 2, 4]), rng.choice([1, 7, 30])
            first = next(
                (now for now in range(100) if min(seconds[now : now + plan]) >= gpus), math.inf
            )
            assert profile.earliest(gpus, plan) == first
            short = next((now for now in range(100) if seconds[now] < gpus), math.inf)
            assert profile.until_short_of(gpus) == short
            if first < math.inf:
                profile.reserve(gpus, first, first + plan)
                seconds[first : first + plan] = [n - gpus for n in seconds[first : first + plan]]


def test_values_behind_a_policy_are_its_first_parameters():
    assert Tiresias.tuned([0.0]).name == "tiresias"
    assert len(Tiresias.parameters) > 0
    with pytest.raises(BadInput, match=r"fifo takes no parameter, not 1 numbers behind @"):
        Fifo.tuned([1.0])
    with pytest.raises(BadInput, match="cannot be below 0"):
        Tiresias(threshold=-1.0)


def test_least_attained_service_has_queues_of_which_the_first_is_served_first():
    stages = Las().stages(SimpleNamespace(gpus=[1, 8, 2], queue_key=[0.0, 1.0, 2.0]))
    for stage in range(stages.keys.shape[1] - 1):
        assert stages.keys[:, stage].max() < stages.keys[:, stage + 1].min()


def test_lucid_profiles_no_long_job_that_is_known_well():
    sure, expected = np.array([True, True, False]), np.array([1e6, 1.0, 1e6])
    known = Lucid.answered(Answers(sure=sure, expected_s=expected))
    assert [known._skip(job) for job in range(3)] == [True, False, False]
    assert Lucid.answered(Answers())._skip is None
