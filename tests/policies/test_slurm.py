"""The simulator's Slurm, by hand: small cases whose outcome follows from Slurm's documentation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.runs import Watched, columns, most_held, rows, run, seen, starts
from schedmate.model import BadInput
from schedmate.model.priority import room_beyond
from schedmate.policies.backfill import Conservative
from schedmate.policies.base import PLENTY
from schedmate.policies.priority_queue import FairShare
from schedmate.policies.slurm import Slurm
from schedmate.policies.slurm_backfill import first_of_shortest_run
from schedmate.policies.slurm_parameters import SlurmParameters
from schedmate.policies.slurm_priority import SlurmPriority, ranked
from schedmate.simulator.engine.cluster import Nodes, Plain
from schedmate.testing.builders import a_job

BY_SUBMISSION = {"weight_age": 0, "weight_fairshare": 0, "weight_job_size": 0}
CONFIG = """\
Configuration data as of 2026-01-01T10:00:00
PriorityCalcPeriod      = 00:01:00
PriorityDecayHalfLife   = 14-00:00:00
PriorityFavorSmall      = No
PriorityFlags           = NO_FAIR_TREE
PriorityMaxAge          = 1-12:00:00
PriorityType            = priority/multifactor
PriorityWeightAge       = 2000
PriorityWeightFairShare = 30000
PriorityWeightJobSize   = 500
PriorityWeightPartition = 7
PriorityWeightQOS       = 9
OverTimeLimit           = 5 min
SchedulerParameters     = bf_interval=10,bf_continue,bf_window=60,bf_resolution=5,\
default_queue_depth=7,bf_max_job_user=3,sched_interval=15,batch_sched_delay=1
SchedulerType           = sched/backfill
"""


def parameters(**changes) -> SlurmParameters:
    return SlurmParameters(**{**BY_SUBMISSION, **changes})


def test_parameters_are_read_from_the_configuration():
    assert SlurmParameters.read(CONFIG) == SlurmParameters(
        weight_age=2000,
        weight_fairshare=30_000,
        weight_job_size=500,
        weight_partition=7,
        weight_qos=9,
        max_age_s=36 * 3600.0,
        decay_half_life_s=14 * 86_400.0,
        calc_period_s=60.0,
        fair_tree=False,
        sched_interval_s=15.0,
        batch_sched_delay_s=1.0,
        default_queue_depth=7,
        bf_interval_s=10.0,
        bf_window_s=3600.0,
        bf_resolution_s=5.0,
        bf_max_job_user=3,
        over_time_limit_s=300.0,
    )


def test_what_the_configuration_leaves_out_is_slurms_default():
    read = SlurmParameters.read("PriorityType = priority/multifactor\n")

    assert (read.weight_age, read.weight_fairshare, read.weight_job_size) == (0, 0, 0)
    assert (read.bf_interval_s, read.bf_window_s, read.bf_resolution_s) == (30.0, 86_400.0, 60.0)
    assert (read.default_queue_depth, read.bf_max_job_test) == (100, 500)


def test_usage_does_not_decay_where_its_half_life_is_zero():
    """A user who used GPUs months ago ranks behind one who did not."""
    read = SlurmParameters.read("PriorityType = x/multifactor\nPriorityDecayHalfLife = 00:00:00\n")

    usage = FairShare(2, read.decay_half_life_s)
    usage.change(0, 4, 0.0)
    usage.change(0, -4, 100.0)

    assert usage.used(1e9).tolist() == [400.0, 0.0]


def test_an_age_that_counts_in_full_at_once_is_read():
    read = SlurmParameters.read("PriorityType = x/multifactor\nPriorityMaxAge = 00:00:00\n")

    assert 0 < read.max_age_s <= 1


def test_a_scheduler_that_is_off_never_runs():
    read = SlurmParameters.read("SchedulerParameters = bf_interval=-1,sched_interval=-1\n")

    assert (read.bf_interval_s, read.sched_interval_s) == (math.inf, math.inf)


@pytest.mark.parametrize("wrong", ["bf_max_job_test=-5", "bf_interval=-7", "bf_window=0"])
def test_a_number_that_slurm_refuses_is_refused(wrong):
    with pytest.raises(BadInput, match=wrong):
        SlurmParameters.read(f"SchedulerParameters = bf_continue,{wrong}\n")


def test_what_is_no_configuration_is_refused():
    with pytest.raises(BadInput, match="scontrol show config"):
        SlurmParameters.read("job_id,user\n1,ann\n")


def test_without_the_plugin_nothing_has_a_weight():
    read = SlurmParameters.read("PriorityType = priority/basic\nPriorityWeightAge = 1000\n")

    assert read.weight_age == 0
    assert str(read).startswith("PriorityType=priority/basic, bf_interval=")


def test_with_priority_basic_each_later_job_starts_one_lower_and_nice_numbers_count():
    jobs = seen(columns([(0, 9, 1), (0, 9, 4), (5, 9, 1)]))
    jobs.queue_key[0] += 2
    by_place = SlurmPriority(parameters(basic=True), jobs, [4])

    assert [by_place.of(job, 1e6) - PLENTY for job in range(3)] == [-2, -1, -2]
    assert by_place.of_all([2, 0, 1], 1e6) == [by_place.of(job, 1e6) for job in (2, 0, 1)]


class Columns:
    """What a priority depends on."""

    def __init__(self, *, nice=(0, 0), gpus=(1, 1), user=(0, 0), submit=(0.0, 0.0)):
        self.nice, self.gpus, self.user, self.submit = (
            list(nice),
            list(gpus),
            list(user),
            list(submit),
        )


def test_a_priority_is_cut_to_a_whole_number():
    weights = parameters(weight_age=1000, max_age_s=3600.0)

    # 1000 * 100 / 3600 = 27.8
    assert SlurmPriority(weights, Columns(), [8]).of(0, 100.0) == 27


def test_age_stops_at_its_maximum():
    weights = parameters(weight_age=1000, max_age_s=3600.0)

    assert SlurmPriority(weights, Columns(), [8]).of(0, 7200.0) == 1000


@pytest.mark.parametrize(("nice", "expected"), [(0, 500), (100, 400), (-100, 600), (499, 1)])
def test_the_nice_number_is_subtracted(nice, expected):
    weights = parameters(weight_partition=500)

    assert SlurmPriority(weights, Columns(nice=(nice,)), [8]).of(0, 0.0) == expected


def test_no_priority_is_below_one():
    weights = parameters(weight_partition=500)
    priority = SlurmPriority(weights, Columns(nice=(600, 9000)), [8])

    assert (priority.of(0, 0.0), priority.of(1, 0.0)) == (1, 1)


def test_many_priorities_are_those_of_each():
    columns = Columns(gpus=(1, 8, 4), nice=(0, 70, -30), user=(0, 1, 0), submit=(0.0, 1800.0, 9e9))
    weights = parameters(weight_age=1000, weight_fairshare=100, weight_job_size=50, max_age_s=3600)
    priority = SlurmPriority(weights, columns, [8, 8])
    priority.holds(0, 1, 0.0)
    priority.recalculate(2000.0)

    assert priority.of_all([2, 0, 1], 2000.0) == [priority.of(job, 2000.0) for job in (2, 0, 1)]


def test_size_counts_half_by_nodes_and_half_by_gpus():
    columns = Columns(gpus=(4, 16), nice=(0, 0), user=(0, 0), submit=(0.0, 0.0))
    priority = SlurmPriority(parameters(weight_job_size=1000), columns, [8, 8, 8, 8])

    # (1/4 + 4/32) / 2 and (2/4 + 16/32) / 2
    assert (priority.of(0, 0.0), priority.of(1, 0.0)) == (187, 500)


def test_small_jobs_are_favoured_where_the_site_wants_it():
    weights = parameters(weight_job_size=1000, favor_small=True)

    assert SlurmPriority(weights, Columns(gpus=(8,)), [8, 8]).of(0, 0.0) == 500


def test_fair_tree_ranks_users_and_ties_share_a_rank():
    assert ranked([5.0, 0.0, 9.0, 0.0]) == [2 / 4, 4 / 4, 1 / 4, 4 / 4]
    assert ranked([5.0, 1.0], idle_users=1) == [1 / 3, 2 / 3]


def test_usage_counts_from_the_next_calculation_on():
    columns = Columns(gpus=(1, 1), nice=(0, 0), user=(0, 1), submit=(0.0, 0.0))
    priority = SlurmPriority(parameters(weight_fairshare=1000), columns, [8])
    priority.holds(0, 1, 0.0)
    before = priority.of(0, 50.0)
    priority.recalculate(50.0)

    assert (before, priority.of(0, 50.0), priority.of(1, 50.0)) == (1000, 500, 1000)


def test_a_job_that_none_precedes_starts_when_it_is_submitted():
    assert starts(Slurm(parameters()), [(0.0, 10.0, 4)]) == [0.0]


def test_the_main_scheduler_stops_at_the_first_that_does_not_fit():
    """The third would fit beside the first, but only backfill, here every hour, may start it."""
    slurm = Slurm(parameters(bf_interval_s=3600.0, calc_period_s=1e6))
    jobs = [(0.0, 100.0, 3), (1.0, 100.0, 4), (2.0, 10.0, 1)]

    assert starts(slurm, jobs, planned=[100.0] * 3) == [0.0, 100.0, 200.0]


def test_backfill_starts_what_ends_before_the_reservation():
    slurm = Slurm(parameters(bf_interval_s=30.0, bf_resolution_s=1.0))
    jobs = [(0.0, 100.0, 3), (1.0, 100.0, 4), (2.0, 10.0, 1), (3.0, 10.0, 1)]
    limits = [100.0, 100.0, 200.0, 60.0]

    # the third's limit reaches into the reservation at 100 s; backfill runs 30 s after its first
    assert starts(slurm, jobs, planned=limits) == [0.0, 100.0, 200.0, 30.0]


def test_backfill_plans_by_limits_and_not_by_run_times():
    slurm = Slurm(parameters(bf_interval_s=10.0, bf_resolution_s=1.0))
    jobs = [(0.0, 100.0, 3), (1.0, 100.0, 4), (2.0, 10.0, 1)]

    assert starts(slurm, jobs, planned=[500.0, 100.0, 300.0])[2] < 100.0
    assert starts(Slurm(parameters()), jobs, planned=[100.0, 100.0, 300.0])[2] >= 200.0


def test_a_reservation_takes_whole_nodes():
    """Two nodes of 4: the second job waits for the node of the first, so the third, whose limit is
    long, may not use what is left of that node, though the second needs only 2 of its 4 GPUs."""
    slurm = Slurm(parameters(bf_interval_s=10.0, bf_resolution_s=1.0))
    jobs = [(0.0, 100.0, 3), (0.0, 300.0, 3), (1.0, 50.0, 2), (2.0, 20.0, 1)]
    limits = [100.0, 300.0, 50.0, 1000.0]
    ends = starts(slurm, jobs, cluster=Nodes([4, 4]), planned=limits)

    assert ends[2] == 100.0
    assert ends[3] == 10.0  # on the other node


def test_no_more_jobs_of_a_user_are_tested_than_allowed():
    slurm = Slurm(parameters(bf_interval_s=10.0, bf_resolution_s=1.0, bf_max_job_user=1))
    jobs = [(0.0, 100.0, 3), (1.0, 100.0, 4), (2.0, 10.0, 1), (3.0, 10.0, 1)]
    told = {"planned": [100.0, 100.0, 50.0, 50.0], "users": ["a", "b", "b", "c"]}

    begun = starts(slurm, jobs, **told)

    assert begun[2] >= 100.0
    assert begun[3] < 100.0


def test_priority_decides_and_equal_ones_go_by_submission():
    slurm = Slurm(parameters(weight_partition=1000))
    jobs = [(0.0, 50.0, 4), (1.0, 50.0, 4), (2.0, 50.0, 4), (3.0, 50.0, 4)]

    assert starts(slurm, jobs, planned=[50.0] * 4, nice=[0, 900, 0, 0]) == [0, 150, 50, 100]


def test_at_the_floor_nice_numbers_no_longer_order():
    slurm = Slurm(parameters(weight_partition=100))
    jobs = [(0.0, 50.0, 4), (1.0, 50.0, 4), (2.0, 50.0, 4)]

    # both are at 1, so the one that came first goes first, whatever its number
    assert starts(slurm, jobs, planned=[50.0] * 3, nice=[0, 900, 400]) == [0, 50, 100]


def test_submissions_are_batched():
    """The second is not the first in line, so it waits for the main scheduler."""
    slurm = Slurm(parameters(weight_job_size=1000, batch_sched_delay_s=3.0, bf_interval_s=1e5))
    jobs = [(0.0, 500.0, 2), (10.0, 500.0, 4), (11.0, 10.0, 2)]

    assert starts(slurm, jobs, planned=[500.0] * 3)[2] == 1000.0


@pytest.mark.parametrize(
    ("nodes", "taken"),
    [([0, 1, 2, 3], 0), ([0, 1, 3], 3), ([0, 3], 0), ([1, 2, 4, 5], 1), ([0, 1], 0)],
)
def test_a_node_is_chosen_as_a_real_slurm_chose_it(nodes, taken):
    """Observed on a private cluster of four nodes with cons_tres."""
    assert first_of_shortest_run(nodes) == taken


@given(jobs=rows(), slack=st.lists(st.integers(0, 20), min_size=12, max_size=12))
@settings(deadline=None, max_examples=60)
def test_without_intervals_it_is_conservative_backfill(jobs, slack):
    """Without weights, delays and nodes nothing is left of Slurm but its plan."""
    slurm = Slurm(parameters(bf_interval_s=0.0, batch_sched_delay_s=0.0, bf_resolution_s=1.0))
    limits = [seconds + slack[number] for number, (_, seconds, _) in enumerate(jobs)]

    assert starts(slurm, jobs, planned=limits) == starts(Conservative(), jobs, planned=limits)


@given(jobs=rows(most=20, gpus=8), limits=st.lists(st.integers(30, 90), min_size=20, max_size=20))
@settings(deadline=None, max_examples=40)
def test_every_job_ends_and_no_gpu_is_given_twice(jobs, limits):
    planned = limits[: len(jobs)]
    outcome, _ = run(Slurm(), jobs, cluster=Nodes([4, 4]), planned=planned)

    assert most_held(outcome, jobs) <= 8
    assert (outcome.end - outcome.start).tolist() == [seconds for _, seconds, _ in jobs]


@pytest.mark.parametrize(("weight", "room"), [(5000, 1000), (100, 97), (5, None)])
def test_schedmate_sets_no_job_back_below_the_floor(weight, room):
    """By no more than a week's age, and so far only that it stays above the lowest."""
    table = columns([(0.0, 50.0, 4), (0.0, 50.0, 4)])
    slurm = Slurm(parameters(weight_age=1000, weight_partition=weight))
    engine = Watched(
        table, seen(table), slurm, Nodes([4]), physics=Plain(table.gpus.tolist()), restart_s=0.0
    )
    engine.now = 0.0
    slurm.begin(engine)

    job = a_job(most_nice=engine.most_nice, priority=engine.priority(0))
    assert room_beyond(job, 0) == room
