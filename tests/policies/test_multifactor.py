"""Slurm's multifactor priority, by hand and against one that calculates everything every time."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.runs import most_held, rows, run, starts
from schedmate.model import BadInput
from schedmate.policies.base import SiteParameters
from schedmate.policies.multifactor import Multifactor, Weights
from schedmate.policies.priority_queue import FairShare
from schedmate.policies.slurm import Slurm
from schedmate.policies.slurm_parameters import SlurmParameters
from schedmate.simulator.engine.cluster import Nodes

BY_AGE = Weights(age=1e6, fair_share=0, size=0)
BY_SHARE = Weights(age=0, fair_share=1000, size=0)


class Plainly:
    """The same rules with nothing remembered: sorts, plans and weighs anew at every decision."""

    name = "plainly"
    source = None

    def __init__(self, weights: Weights, period_s: float, half_life_s: float) -> None:
        self.weights, self.period_s, self.half_life_s = weights, period_s, half_life_s

    def begin(self, cluster) -> None:
        self.cluster = cluster
        self.waiting: dict[int, float] = {}
        self.fresh: list[int] = []
        self.spans: list[list[float]] = []
        self.since: dict[int, list[float]] = {}
        self.users = max(cluster.jobs.user) + 1
        self.calculated, self.fair = -math.inf, [1.0] * self.users

    def arrived(self, job) -> None:
        self.fresh.append(job)

    def ended(self, job) -> None:
        self.since.pop(job)[2] = self.cluster.now

    evicted = ended

    def usage(self, user: int) -> float:
        rate, total = math.log(2) / self.half_life_s, 0.0
        for job, start, end in self.spans:
            if self.cluster.jobs.user[job] == user:
                last = min(end, self.cluster.now)
                ages = [math.exp(-rate * (self.cluster.now - at)) for at in (last, start)]
                total += self.cluster.jobs.gpus[job] * (ages[0] - ages[1]) / rate
        return total

    def weigh(self, job: int) -> int:
        jobs = self.cluster.jobs
        age = min(1.0, max(0.0, (self.cluster.now - jobs.submit[job]) / (7 * 86400.0)))
        fair = self.fair[jobs.user[job]]
        size = jobs.gpus[job] / self.cluster.gpus
        parts = self.weights.age * age + self.weights.fair_share * fair
        return math.floor(parts + self.weights.size * size)

    def decide(self) -> None:
        cluster = self.cluster
        alone = len(self.fresh) == 1 and not self.waiting and cluster.fits(self.fresh[0])
        if not alone and cluster.now - self.calculated >= self.period_s:
            self.calculated = cluster.now
            used = [self.usage(user) for user in range(self.users)]
            total = sum(used)
            if total > 0:
                self.fair = [2 ** (-one / total * self.users) for one in used]
            self.waiting = {job: self.weigh(job) for job in self.waiting}
        for job in self.fresh:
            self.waiting[job] = self.weigh(job)
        self.fresh.clear()
        order = sorted(self.waiting, key=lambda job: (-self.waiting[job], job))
        while order and self.start(order[0]):
            order.pop(0)
        if order:
            self.backfill(order)
        if any(cluster.jobs.gpus[job] <= cluster.free for job in self.waiting):
            cluster.wake_at(self.calculated + self.period_s)

    def backfill(self, order) -> None:
        cluster, head = self.cluster, self.cluster.jobs.gpus[order[0]]
        plans = sorted(
            (max(cluster.now, start + cluster.jobs.planned[job]), job)
            for job, start, _ in self.since.values()
        )
        shadow, free = cluster.now, cluster.free
        for end, job in plans:
            if free < head:
                shadow, free = end, free + cluster.jobs.gpus[job]
        spare = cluster.free - head + sum(cluster.jobs.gpus[j] for end, j in plans if end <= shadow)
        for job in order[1:]:
            gpus = cluster.jobs.gpus[job]
            in_time = cluster.jobs.planned[job] <= shadow - cluster.now
            if (in_time or gpus <= spare) and self.start(job) and not in_time:
                spare -= gpus

    def start(self, job: int) -> bool:
        if not self.cluster.start(job):
            return False
        self.waiting.pop(job)
        self.since[job] = [job, self.cluster.now, math.inf]
        self.spans.append(self.since[job])
        return True


@settings(max_examples=150, deadline=None)
@given(
    jobs=rows(),
    users=st.lists(st.sampled_from("ab"), min_size=12, max_size=12),
    over=st.lists(st.sampled_from([1.0, 1.5, 3.0, 0.5]), min_size=12, max_size=12),
    weights=st.sampled_from([BY_AGE, BY_SHARE, Weights(100, 100, 50)]),
)
def test_it_starts_everybody_when_one_that_remembers_nothing_does(jobs, users, over, weights):
    plans = [seconds * factor for (_, seconds, _), factor in zip(jobs, over, strict=False)]
    periods = {"period_s": 7.0, "half_life_s": 20.0}
    asked = {"users": users, "planned": plans}

    ours, _ = run(Multifactor(weights=weights, **periods), jobs, **asked)
    plain, _ = run(Plainly(weights, **periods), jobs, **asked)

    assert ours.start.tolist() == plain.start.tolist()
    assert most_held(ours, jobs) <= 4
    assert ours.gpu_seconds.sum() == pytest.approx(sum(s * g for _, s, g in jobs))


def test_who_used_less_goes_first():
    jobs = [(0, 100, 1), (1, 10, 1), (2, 10, 1)]

    assert starts(Multifactor(weights=BY_SHARE), jobs, gpus=1, users=["a", "a", "b"]) == [
        0,
        110,
        100,
    ]


def test_use_is_forgotten_by_halves():
    share = FairShare(2, half_life_s=10.0)
    share.change(0, 4, now=0.0)
    share.change(0, -4, now=10.0)
    held = 4 * 10 * 0.5 / math.log(2)

    assert share.used(10.0).tolist() == pytest.approx([held, 0.0])
    assert share.used(20.0).tolist() == pytest.approx([held / 2, 0.0])
    assert share.factors(10.0).tolist() == pytest.approx([0.25, 1.0])
    assert FairShare(2, 10.0).factors(5.0).tolist() == [1.0, 1.0]


def test_the_old_go_before_the_large_and_nice_ones_last():
    jobs = [(0, 10, 4), (1, 10, 1), (2, 10, 4), (3, 10, 1)]

    assert starts(Multifactor(weights=BY_AGE), jobs) == [0, 10, 20, 10]
    by_size = Multifactor(weights=Weights(0, 0, 1000))
    assert starts(by_size, jobs) == [0, 20, 10, 20]
    queue, by_size = [(0, 10, 4), (1, 10, 4), (2, 10, 4)], Weights(0, 0, 1000)
    assert starts(Multifactor(weights=by_size), queue, nice=[0, 500, 0]) == [0, 20, 10]


def test_a_short_job_passes_a_gang_that_waits_and_a_long_one_does_not():
    jobs = [(0, 100, 3), (1, 10, 4), (2, 99, 1), (3, 97, 1)]

    assert starts(Multifactor(weights=BY_AGE), jobs) == [0, 100, 110, 3]


def test_a_job_without_a_limit_is_planned_with_a_year():
    jobs = [(0, 10, 3), (1, 10, 4), (2, 5, 1)]

    assert starts(Multifactor(weights=BY_AGE), jobs, planned=[math.inf] * 3) == [0, 10, 20]


def test_a_gang_waits_while_the_free_gpus_are_on_two_nodes():
    jobs = [(0, 10, 2), (0, 30, 2), (1, 10, 2), (2, 5, 1)]

    assert starts(Multifactor(weights=BY_AGE), jobs, cluster=Nodes([3, 3])) == [0, 0, 10, 10]


@pytest.mark.parametrize("bad", [{"half_life_s": 0.0}, {"max_age_s": -1.0}, {"period_s": 0.0}])
def test_times_must_be_above_zero(bad):
    with pytest.raises(BadInput, match="above 0"):
        Multifactor(**bad)


class Changing(Multifactor):
    """Somebody changes a column of one job, once the clock has come so far."""

    change: tuple[float, str, int, float] | None = None

    def decide(self) -> None:
        if self.change is not None and self._cluster.now >= self.change[0]:
            _, column, job, value = self.change
            getattr(self._cluster.jobs, column)[job] = value
            self.change = None
            self.changed(job)
        super().decide()


def changed(jobs, *change, **options):
    policy = Changing(weights=Weights(age=1e6, fair_share=0, size=10_000))
    policy.change = change or None
    return starts(policy, jobs, **options)


def test_a_nice_number_counts_from_when_it_is_changed():
    jobs = [(0, 100, 1), (1, 10, 1), (2, 10, 1)]
    assert changed(jobs, gpus=1) == [0, 100, 110]
    assert changed(jobs, 2, "nice", 1, 5000, gpus=1) == [0, 110, 100]


def test_a_limit_of_a_running_job_counts_from_when_it_is_changed():
    jobs = [(0, 100, 1), (1, 10, 2), (60, 50, 1)]
    assert changed(jobs, gpus=2) == [0, 100, 110]
    assert changed(jobs, 60, "planned", 0, 200.0, gpus=2) == [0, 110, 60]


def test_nice_numbers_count_at_every_calculation():
    jobs = [(0, 1000, 1), (1, 10, 1), (2, 10, 1), (400, 10, 1)]
    assert starts(Multifactor(weights=BY_AGE), jobs, gpus=1, nice=[0, 5000, 0, 0])[1:] == [
        *(1020, 1000, 1010),
    ]


@pytest.mark.parametrize(("favor_small", "first"), [(False, 1), (True, 2)])
def test_large_jobs_go_first_unless_small_ones_are_favoured(favor_small, first):
    policy = Multifactor(weights=Weights(age=0, fair_share=0, size=1000), favor_small=favor_small)
    begins = starts(policy, [(0, 100, 4), (1, 10, 4), (2, 10, 1)])
    assert begins[first] == 100
    assert begins[3 - first] == 110


def test_a_site_s_parameters_are_its_own():
    of = SlurmParameters(
        weight_age=50, weight_fairshare=60, weight_job_size=70, decay_half_life_s=1000.0,
        max_age_s=36_000.0, calc_period_s=30.0, favor_small=True,
    )  # fmt: skip
    ours = Multifactor().at_site(SiteParameters(slurm=of))
    assert isinstance(ours, Multifactor)
    assert ours._weights == Weights(50, 60, 70)
    assert (ours._half_life_s, ours._max_age_s, ours._period_s) == (1000.0, 36_000.0, 30.0)
    assert (ours._favor_small, ours._basic, ours.nice_an_hour) == (True, False, 5.0)
    assert Slurm(of).nice_an_hour == 5.0
    assert Slurm(SlurmParameters(weight_age=0)).nice_an_hour is None
