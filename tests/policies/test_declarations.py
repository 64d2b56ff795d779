"""Every policy does what it declares: the rest of the program goes by the declaration alone."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

import numpy as np
import pytest

from policies.runs import Row, Shared, Watched, columns, run, seen
from schedmate.policies import (
    POLICIES,
    Answers,
    JobColumns,
    PredictedGittins,
    SiteParameters,
    Tracked,
)
from schedmate.policies.slurm_parameters import SlurmParameters
from schedmate.simulator.engine.cluster import GpuPool

TRACES = 12
GPUS = 8
BESIDE = {name for name, policy in POLICIES.items() if policy.kind == "beside"}
ORACLES = sorted(name for name, policy in POLICIES.items() if policy.kind == "oracle")
LIMITS = {"planned", "limit"}
SOLVING = {"pollux", "sia"}
"""They search for a plan in every round."""
each = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SOLVING)) for name in POLICIES],
)


def trace(seed: int) -> list[Row]:
    """Contended, with jobs of very different lengths, and long enough for every round and for the
    second queue of Tiresias."""
    rng = np.random.default_rng(seed)
    submits = np.sort(rng.integers(0, 4000, 40))
    seconds = np.round(np.exp(rng.uniform(3, 9.5, 40)))
    return [
        (float(at), float(long), int(gpus))
        for at, long, gpus in zip(submits, seconds, rng.choice([1, 1, 2, 4, 8], 40), strict=True)
    ]


class Noting(JobColumns):
    """Columns that note which of them were read."""

    __slots__ = ("read",)

    @classmethod
    def of(cls, jobs: JobColumns) -> Noting:
        noting = cls(**{each.name: getattr(jobs, each.name) for each in fields(jobs)})
        object.__setattr__(noting, "read", set())
        return noting

    def __getattribute__(self, name: str):
        if name in JobColumns.__slots__:
            object.__getattribute__(self, "read").add(name)
        return object.__getattribute__(self, name)


class Spied(Watched):
    """Notes what the policy asks for beyond the columns."""

    def __init__(self, *parts, **named):
        super().__init__(*parts, **named)
        self.asked: set[str] = set()

    def remaining(self, job):
        self.asked.add("progress")
        return super().remaining(job)

    def pace(self, job):
        self.asked.add("throughput")
        return super().pace(job)

    def utilization(self, job):
        self.asked.add("throughput")
        return super().utilization(job)

    def memory_share(self, job):
        self.asked.add("throughput")
        return super().memory_share(job)


@cache
def asked_for(policy) -> tuple[set[str], set[str]]:
    """What it asked for in some runs, and which columns it read."""
    asked: set[str] = set()
    read: set[str] = set()
    for seed in range(TRACES):
        table = columns(trace(seed))
        physics = Shared(table.gpus.tolist())
        engine = Spied(table, seen(table), policy(), GpuPool(GPUS), physics=physics, restart_s=5.0)
        jobs = engine.jobs = Noting.of(engine.jobs)
        jobs.read.clear()
        engine.run()
        asked |= engine.asked
        read |= jobs.read
    return asked | ({"duration"} if "expected" in read and _uses(policy) else set()), read


def _uses(policy) -> bool:
    """A queue holds the expected run times though it may not go by them: whether it does shows in
    what other expectations change."""
    for seed in range(TRACES):
        jobs = trace(seed)
        wrong = np.random.default_rng([1, seed]).permutation([row[1] for row in jobs])
        physics = Shared([gpus for _, _, gpus in jobs])
        plain, _ = run(policy(), jobs, gpus=GPUS, physics=physics)
        other, _ = run(policy(), jobs, gpus=GPUS, physics=physics, expected=wrong)
        if not plain.same_as(other):
            return True
    return False


@each
def test_a_policy_asks_for_what_it_declares_and_nothing_else(name):
    asked, _ = asked_for(POLICIES[name])

    assert asked == POLICIES[name].asks_for


@each
def test_a_policy_reads_plans_exactly_where_it_needs_limits(name):
    _, read = asked_for(POLICIES[name])

    assert bool(read & LIMITS) == POLICIES[name].needs_limits


@each
def test_a_policy_stops_jobs_exactly_where_it_preempts(name):
    stops = 0
    for seed in range(TRACES):
        jobs = trace(seed)
        physics = Shared([gpus for _, _, gpus in jobs])
        outcome, log = run(POLICIES[name](), jobs, gpus=GPUS, physics=physics, restart_s=5.0)
        stops += sum(what == "stop" for _, what, _, _ in log)
        assert outcome.preemptions.sum() == sum(what == "stop" for _, what, _, _ in log)

    assert bool(stops) == POLICIES[name].preempts


@pytest.mark.parametrize("name", POLICIES)
def test_the_source_says_who_predicts(name):
    policy = POLICIES[name]

    assert (policy.source == "oracle") == (policy.kind == "oracle")
    assert ("duration" in policy.asks_for) <= (policy.source is not None)


def test_which_stand_beside_an_unmodified_scheduler():
    """What the live adapters can reach: nothing that preempts, nothing that asks."""
    assert {"fifo", "first-fit", "easy", "conservative", "multifactor"} <= BESIDE
    for name in BESIDE:
        assert not POLICIES[name].preempts
        assert not POLICIES[name].asks_for


@pytest.mark.parametrize("name", sorted(BESIDE))
def test_answers_do_not_change_a_policy_beside_which_only_nice_numbers_work(name):
    answers = Answers(sure=np.ones(3, bool), expected_s=np.ones(3))

    assert type(POLICIES[name].answered(answers)) is POLICIES[name]


@pytest.mark.parametrize("name", ["srtf", "srsf", "tiresias", "las", "gittins"])
def test_predictions_replace_an_order_by_service_with_their_index(name):
    tracked = Tracked(np.ones(3), np.ones(3))

    assert isinstance(POLICIES[name].answered(Answers(sure=np.ones(3, bool))), PredictedGittins)
    assert type(POLICIES[name].answered(Answers(tracked=tracked))) is POLICIES[name]


@pytest.mark.parametrize(
    ("oracle", "predicted"),
    [(name, name[:-7]) for name in ORACLES],
)
def test_an_oracle_is_its_policy_by_the_truth(oracle, predicted):
    assert issubclass(POLICIES[oracle], POLICIES[predicted])
    assert POLICIES[predicted].source == "history"
    for seed in range(4):
        jobs = trace(seed)
        one, _ = run(POLICIES[oracle](), jobs, gpus=GPUS)
        other, _ = run(POLICIES[predicted](), jobs, gpus=GPUS)
        assert one.same_as(other)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_takes_of_a_site_what_it_knows(name):
    """What it goes by, the range of nice numbers included, follows the site; else nothing does."""
    weighed = SlurmParameters(weight_age=50_000.0, max_age_s=86_400.0)
    policy = POLICIES[name]()
    there = policy.at_site(SiteParameters(slurm=weighed))

    assert type(there) is POLICIES[name]
    assert policy.at_site(SiteParameters()) is policy
    if policy.goes_by:
        assert "PriorityWeightAge=50000" in there.goes_by
        assert there.nice_range > policy.nice_range
    else:
        assert there is policy
