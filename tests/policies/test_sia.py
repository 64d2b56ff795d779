"""Pollux and Sia: goodput fitted to what was seen, and GPUs where they do the most good."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.runs import rows, run
from schedmate.model import BadInput
from schedmate.policies.goodput import Goodputs, Offers, allocate, fill_kinds, fill_one_kind
from schedmate.policies.highs import quietly
from schedmate.policies.sia import Pollux, Sia
from schedmate.simulator.engine.cluster import Plain

SIA = {"power": -0.5, "nothing": 1.1}


def counts(*gpus: int):
    return np.array(gpus)


def test_what_was_never_tried_is_taken_to_scale_perfectly():
    goodputs = Goodputs([4])

    assert goodputs.of(0, counts(1, 4, 8)).tolist() == [0.25, 1.0, 2.0]
    assert goodputs.observe(0, 2, 0.3)
    assert goodputs.of(0, counts(1, 4)).tolist() == pytest.approx([0.15, 0.6])
    assert not goodputs.observe(0, 2, 0.3)


def test_two_numbers_of_gpus_show_what_does_not_scale():
    goodputs = Goodputs([1])
    for gpus in (1, 2):
        goodputs.observe(0, gpus, 1 / (3 / gpus + 1))

    assert goodputs.of(0, counts(3, 6)).tolist() == pytest.approx([1 / 2, 1 / 1.5])
    goodputs.forget(0)
    assert goodputs.of(0, counts(3)).tolist() == [3.0]


def test_a_fit_never_says_that_gpus_do_harm_or_more_than_their_share():
    worse, wonder = Goodputs([1]), Goodputs([1])
    for gpus, slow, fast in ((1, 1.0, 1.0), (2, 0.5, 4.0)):
        worse.observe(0, gpus, slow)
        wonder.observe(0, gpus, fast)

    assert worse.of(0, counts(1, 4)).tolist() == pytest.approx([2 / 3, 2 / 3])
    assert wonder.of(0, counts(4))[0] == pytest.approx(4 * wonder.of(0, counts(1))[0])


def test_predicted_paces_count_until_two_numbers_were_tried():
    goodputs = Goodputs([1, 1], lambda job, gpus: gpus**0.5 if job == 0 else math.nan)

    assert goodputs.predicted(0)
    assert not goodputs.predicted(1)
    assert goodputs.of(0, counts(4)).tolist() == [2.0]
    assert goodputs.of(1, counts(4)).tolist() == [4.0]


def offers(*told: tuple[int, int, int, float]) -> Offers:
    job, gpus, kind, worth = zip(*told, strict=True)
    return Offers(np.array(job), np.array(gpus), np.array(kind), np.array(worth))


def test_the_fairer_gives_everybody_something_before_anybody_more():
    two = offers((0, 1, 0, 1.0), (0, 2, 0, 2.0), (1, 1, 0, 1.0), (1, 2, 0, 2.0))

    fair = {"power": -1.0, "nothing": 100.0}

    assert allocate(two, np.array([2]), **fair) == [0, 2]
    assert allocate(two, np.array([3]), **fair) == [1, 2]
    assert allocate(two, np.array([1]), **fair) == [0]
    assert allocate(two, np.array([0]), **fair) == []
    # As Sia weighs it: 0.71 for two GPUs and 1.1 for none is less than 1 for each of both.
    assert allocate(two, np.array([2]), **SIA) == [1]
    nobody = np.zeros(0, dtype=np.int64)
    assert allocate(Offers(nobody, nobody, nobody, np.zeros(0)), np.array([4]), **SIA) == []


def test_the_type_goes_to_who_gains_by_it():
    both = offers((0, 1, 0, 1.0), (0, 1, 1, 1.1), (1, 1, 0, 1.0), (1, 1, 1, 4.0))

    assert allocate(both, np.array([1, 1]), **SIA) == [0, 3]


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(
        st.lists(
            st.tuples(st.sampled_from([1, 2, 4, 8]), st.floats(0.5, 8.0)), min_size=1, max_size=4
        ),
        min_size=1,
        max_size=8,
    ),
    capacity=st.integers(0, 16),
    nothing=st.sampled_from([1.1, 100.0]),
)
def test_the_solver_finds_nothing_better_for_one_type(sizes, capacity, nothing):
    told = offers(*((job, gpus, 0, worth) for job, row in enumerate(sizes) for gpus, worth in row))
    gains = told.gains(-0.5, nothing)

    ours = fill_one_kind(told, gains, capacity)
    solved = fill_kinds(told, gains, np.array([capacity]))

    assert gains[ours].sum() >= gains[solved].sum()
    assert gains[ours].sum() == pytest.approx(gains[solved].sum(), rel=2e-4)
    assert told.gpus[ours].sum() <= capacity
    assert len(set(told.job[ours].tolist())) == len(ours)


def test_the_solver_is_not_heard(capfd):
    with quietly():
        os.write(1, b"HighsMipSolverData")
    os.write(1, b"ours")

    assert capfd.readouterr().out == "ours"


def test_a_job_alone_doubles_its_gpus_round_by_round_up_to_its_most():
    _, log = run(Sia(round_s=10.0, restart_s=1.0), [(0, 200, 4)], gpus=16)
    given_ = [(at, gpus) for at, what, _, gpus in log if what == "start"]

    assert given_ == [(0, 1), (10, 2), (20, 4), (30, 8)]


def test_who_is_foretold_need_not_explore():
    seeded = Sia(round_s=10.0, restart_s=1.0, paces=lambda _, gpus: gpus / 4)
    outcome, log = run(seeded, [(0, 200, 4)], gpus=16)

    assert [(at, what, gpus) for at, what, _, gpus in log] == [(0, "start", 8)]
    assert outcome.end.tolist() == [100]


def test_gpus_that_do_no_good_are_not_asked_for():
    flat = Plain([1], scaling=0.0)
    _, log = run(Pollux(round_s=10.0, span=(1.0, 8.0)), [(0, 2000, 1)], gpus=16, physics=flat)

    assert max(gpus for _, what, _, gpus in log if what == "start") <= 2


def test_all_get_their_least_when_many_come():
    _, log = run(Pollux(round_s=10.0), [(0, 50, 4)] * 4, gpus=4)

    assert [(at, job, gpus) for at, what, job, gpus in log if what == "start"][:4] == [
        (0, 0, 1),
        (0, 1, 1),
        (0, 2, 1),
        (0, 3, 1),
    ]


@pytest.mark.parametrize("policy", [Sia, Pollux])
@settings(max_examples=25, deadline=None)
@given(jobs=rows(most=8))
def test_nobody_has_more_than_there_is_and_all_work_is_done_the_same_each_time(policy, jobs):
    outcome, log = run(policy(round_s=5.0), jobs)
    again, same = run(policy(round_s=5.0), jobs)

    held: dict[int, int] = {}
    for at, what, job, gpus in log:
        held = {one: count for one, count in held.items() if outcome.end[one] > at and one != job}
        if what == "start":
            held[job] = gpus
        assert sum(held.values()) <= 4
    assert outcome.gpu_seconds.sum() == pytest.approx(sum(s * g for _, s, g in jobs))
    assert outcome.same_as(again)
    assert log == same


class TwoTypes:
    """Four GPUs of each of two types, the second twice as fast for the second job only."""

    gpus = 8

    def __init__(self):
        self.jobs = type("Jobs", (), {"gpus": [4, 4], "submit": [0.0, 0.0]})
        self.now = 0.0
        self.on: dict[int, tuple[int, int]] = {}

    def kinds(self):
        return [4, 4]

    def speed(self, job, kind):
        return 2.0 if (job, kind) == (1, 1) else 1.0

    def pace(self, job):
        gpus, kind = self.on[job]
        return gpus / 4 * self.speed(job, kind)

    def start(self, job, gpus=None, kind=None, excluded=()):
        self.on[job] = (gpus, kind)
        return True

    def stop(self, job, *, keep_work=True):
        del self.on[job]

    def wake_at(self, time):
        self.woken = time


def test_sia_sends_each_to_its_type():
    cluster = TwoTypes()
    sia = Sia(round_s=10.0, restart_s=0.0, span=(0.25, 1.0))
    sia.begin(cluster)
    sia.arrived(0)
    sia.arrived(1)
    for cluster.now in (0.0, 10.0, 20.0, 30.0):
        sia.decide()

    assert cluster.on == {0: (4, 0), 1: (4, 1)}


@pytest.mark.parametrize(
    "bad",
    [
        {"power": 0.0},
        {"round_s": 0.0},
        {"restart_s": -1.0},
        {"node_gpus": 0},
        {"span": (0.0, 1.0)},
        {"span": (0.5, 0.9)},
    ],
)
def test_parameters_must_make_sense(bad):
    with pytest.raises(BadInput, match="sia"):
        Sia(**bad)
