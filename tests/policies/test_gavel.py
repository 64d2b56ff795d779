"""Gavel: fair shares by hand, and rounds that give them out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.runs import rows, run
from schedmate.model import BadInput
from schedmate.policies import highs
from schedmate.policies.gavel import Gavel, fair_times, fair_times_by_kind


def by_hand(gpus, capacity):
    return fair_times(np.array(gpus), capacity).tolist()


def test_equal_gpu_seconds_but_nobody_more_than_all_the_time():
    assert by_hand([1, 1], 4) == [1, 1]
    assert by_hand([4, 4], 4) == [0.5, 0.5]
    assert by_hand([1, 4], 4) == [1, 0.75]
    assert by_hand([1, 2, 4], 4) == pytest.approx([1, 0.75, 0.375])
    assert by_hand([8, 8, 8, 8], 4) == pytest.approx([0.125] * 4)


@given(gpus=st.lists(st.integers(1, 8), min_size=1, max_size=12), capacity=st.integers(1, 16))
def test_the_cluster_is_used_up_and_only_who_runs_all_the_time_has_less(gpus, capacity):
    times = fair_times(np.array(gpus), capacity)
    held = times * gpus

    assert held.sum() == pytest.approx(min(capacity, sum(gpus)))
    assert all(
        time == 1.0 or amount == pytest.approx(held.max())
        for time, amount in zip(times, held, strict=True)
    )


def test_who_gains_most_by_the_fast_type_gets_it():
    # Two jobs, a GPU of each type. The first is 4 times as fast on the second type, the other as
    # fast on both: so the first gets all of the fast one and the other all of the slow one.
    times = fair_times_by_kind(
        np.array([1, 1]), np.array([[1.0, 4.0], [1.0, 1.0]]), np.array([1, 1])
    )

    assert times == pytest.approx(np.array([[0.0, 1.0], [1.0, 0.0]]), abs=1e-6)


def test_with_types_that_are_alike_it_is_what_one_type_gives():
    gpus = np.array([1, 2, 4])
    times = fair_times_by_kind(gpus, np.ones((3, 2)), np.array([2, 2]))

    assert (times.sum(axis=1) * gpus).min() >= by_hand([1, 2, 4], 4)[0] - 1e-6
    assert (times * gpus[:, np.newaxis]).sum(axis=0) == pytest.approx([2, 2])


def test_a_solver_that_is_not_there_is_asked_for(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(highs, "import_module", absent)
    with pytest.raises(BadInput, match="pip install"):
        highs.optimizer()


def test_two_jobs_take_turns_in_rounds():
    outcome, log = run(Gavel(round_s=10.0), [(0, 20, 4), (0, 20, 4)])

    assert [(at, what, job) for at, what, job, _ in log] == [
        (0, "start", 0),
        (10, "stop", 0),
        (10, "start", 1),
        (20, "stop", 1),
        (20, "start", 0),
        (30, "start", 1),
    ]
    assert outcome.end.tolist() == [30, 40]


def test_nobody_starts_within_a_round_unless_all_is_idle():
    assert run(Gavel(round_s=10.0), [(0, 3, 1), (1, 3, 1), (50, 3, 1)])[0].start.tolist() == [
        0,
        3,
        50,
    ]
    jobs = [(0, 12, 1), (1, 3, 1), (14, 30, 1), (31, 3, 1)]
    assert run(Gavel(round_s=10.0), jobs)[0].start.tolist() == [0, 10, 14, 34]


class TwoTypes:
    """A cluster with one GPU of each of two types, without time."""

    def __init__(self, speeds, gpus=(1, 1)):
        self.jobs = type("Jobs", (), {"gpus": [1] * len(speeds)})
        self.now, self._speeds, self._gpus = 0.0, speeds, gpus
        self.on: dict[int, int] = {}

    def kinds(self):
        return self._gpus

    def speed(self, job, kind):
        return self._speeds[job][kind]

    def start(self, job, gpus=None, kind=None):
        self.on[job] = kind
        return True

    def stop(self, job, *, keep_work=True):
        del self.on[job]

    def wake_at(self, time):
        self.woken = time


def test_types_are_given_out_by_what_jobs_do_on_them():
    cluster = TwoTypes([[1.0, 1.0], [1.0, 4.0], [1.0, 1.0]])
    gavel = Gavel(round_s=10.0)
    gavel.begin(cluster)
    gavel.arrived(0)
    gavel.arrived(1)
    gavel.decide()
    assert cluster.on == {0: 0, 1: 1}

    gavel.arrived(2)
    turns = []
    for _ in range(60):
        cluster.now += 10.0
        gavel.decide()
        turns.append(dict(cluster.on))
    had = [sum(job in on for on in turns) for job in range(3)]
    # The second runs on the fast one for a share x, at 1.6 times what it is worth on average; the
    # others have what is left, 2 - x, between them: all equal at x = 0.476, 0.762 for the others.
    assert had == pytest.approx([45.7, 28.6, 45.7], abs=1.0)
    assert all(on.get(1, 1) == 1 for on in turns)


def test_a_job_moves_to_a_faster_type_that_became_idle():
    cluster = TwoTypes([[4.0, 1.0], [4.0, 1.0]])
    gavel = Gavel(round_s=10.0)
    gavel.begin(cluster)
    gavel.arrived(0)
    gavel.arrived(1)
    gavel.decide()
    fast, slow = sorted(cluster.on, key=cluster.on.__getitem__)

    cluster.now = 5.0
    del cluster.on[fast]
    gavel.ended(fast)
    gavel.decide()
    assert (cluster.on, cluster.woken) == ({slow: 1}, 10.0)
    cluster.now = 10.0
    gavel.decide()
    assert cluster.on == {slow: 0}


def test_no_type_stays_idle_where_a_job_waits():
    """Two jobs that gain nothing from the fast type, and one of each."""
    cluster = TwoTypes([[1.0, 1.0], [1.0, 1.0], [8.0, 0.1]])
    gavel = Gavel(round_s=10.0)
    gavel.begin(cluster)
    for job in range(3):
        gavel.arrived(job)
    for number in range(30):
        cluster.now = 10.0 * number
        gavel.decide()
        assert sorted(cluster.on.values()) == [0, 1]


@settings(max_examples=60, deadline=None)
@given(jobs=rows())
def test_all_work_is_done_once_and_the_same_each_time(jobs):
    outcome, _ = run(Gavel(round_s=4.0), jobs)
    again, _ = run(Gavel(round_s=4.0), jobs)

    assert outcome.gpu_seconds.sum() == pytest.approx(sum(s * g for _, s, g in jobs))
    assert outcome.same_as(again)


def test_a_round_must_take_time():
    with pytest.raises(BadInput, match="round"):
        Gavel(round_s=0.0)
