"""Lucid: what profiling costs, who shares with whom, and what SchedMate can switch."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.runs import Shared, ends, rows, run, starts
from schedmate.model import BadInput
from schedmate.policies.lucid import Lucid
from schedmate.policies.lucid_parts import (
    JUMBO,
    MEDIUM,
    TINY,
    Hosts,
    Measured,
    Profiling,
    share_score,
)

SHORT = Profiling(seconds=10.0, share=0.25, most=0.25, most_gpus=1)
"""One GPU of four, for ten seconds."""


def everybody(_job: int) -> bool:
    return True


def lucid(**options) -> Lucid:
    """Without profiling unless asked for, and sharing from the first job on."""
    known = {"profiling": SHORT, "few_an_hour": 0, "skip_profiling": everybody}
    return Lucid(**{**known, **options})


def use(jobs, *, score=TINY, packed=0.9):
    level = {TINY: 0.1, MEDIUM: 0.5, JUMBO: 0.9}[score]
    return Shared([gpus for _, _, gpus in jobs], use=[level] * len(jobs), packed=packed)


def test_a_job_that_ends_while_it_is_profiled_is_done():
    outcome, log = run(lucid(skip_profiling=None), [(0, 10, 1)])

    assert outcome.end.tolist() == [10]
    assert [what for _, what, _, _ in log] == ["start"]


def test_profiling_is_charged_and_its_work_is_lost():
    outcome, log = run(lucid(skip_profiling=None), [(0, 25, 1)])

    assert outcome.end.tolist() == [10 + 25]
    assert outcome.gpu_seconds.tolist() == [35]
    assert log == [(0, "start", 0, 1), (10, "stop", 0, 0), (10, "start", 0, 1)]


def test_the_profiler_takes_few_gpus_and_the_small_first():
    two = Profiling(seconds=10.0, share=0.25, most=0.25, most_gpus=2)
    jobs = [(0, 300, 4), (1, 300, 2), (2, 300, 1)]
    _, log = run(lucid(profiling=two, skip_profiling=None), jobs, gpus=8)
    begun = [(at, job, gpus) for at, what, job, gpus in log if what == "start"]

    assert begun[0] == (0, 0, 2)
    assert (10, 2, 1) in begun
    assert (20, 1, 2) in begun


def test_the_profiler_borrows_what_is_free_up_to_a_share():
    some = Profiling(seconds=10.0, share=0.125, most=0.5, most_gpus=1)
    jobs = [(0, 300, 1)] * 5
    _, log = run(lucid(profiling=some, skip_profiling=None), jobs, gpus=8)

    assert [at for at, what, _, _ in log if what == "start"][:5] == [0, 0, 0, 0, 10]


def test_a_job_does_not_get_what_the_profiler_has_borrowed():
    some = Profiling(seconds=10.0, share=0.25, most=0.75, most_gpus=1)
    jobs = [(0, 300, 1), (0, 300, 1), (0, 300, 1), (1, 20, 3)]
    known = [False, False, False, True]

    assert starts(lucid(profiling=some, skip_profiling=known.__getitem__), jobs)[3] == 10


def test_a_job_that_is_known_is_not_profiled():
    assert ends(lucid(skip_profiling=lambda job: job == 0), [(0, 25, 1), (0, 25, 1)]) == [25, 35]


def test_the_shortest_expected_service_goes_first():
    jobs = [(0, 20, 3), (1, 30, 3), (2, 20, 3), (3, 40, 1)]

    assert starts(lucid(share_limit=0), jobs) == [0, 80, 60, 20]


def test_a_job_that_does_not_fit_joins_one_of_its_size():
    jobs = [(0, 90, 3), (10, 45, 3)]
    outcome, log = run(lucid(), jobs, physics=use(jobs))

    assert (10, "beside", 1, 0) in log
    assert outcome.end.tolist() == pytest.approx([10 + 50 + 35, 10 + 50])
    assert outcome.gpu_seconds.tolist() == pytest.approx([3 * (10 + 25 + 35), 3 * 25])


@pytest.mark.parametrize(
    ("score", "limit", "shared"),
    [(TINY, 2, True), (MEDIUM, 2, True), (MEDIUM, 1, False), (JUMBO, 2, False), (TINY, 0, False)],
)
def test_scores_must_be_within_the_limit_together(score, limit, shared):
    jobs = [(0, 90, 3), (10, 45, 3)]
    _, log = run(lucid(share_limit=limit), jobs, physics=use(jobs, score=score))

    assert any(what == "beside" for _, what, _, _ in log) is shared


def test_nobody_shares_where_a_gpu_is_free_or_the_size_differs_or_memory_is_short():
    free = [(0, 90, 1), (10, 45, 1)]
    assert starts(lucid(), free, physics=use(free)) == [0, 10]
    other = [(0, 90, 3), (10, 45, 2)]
    assert starts(lucid(), other, physics=use(other)) == [0, 90]
    full = [(0, 90, 3), (10, 45, 3)]
    tight = Shared([3, 3], use=[0.1, 0.1], memory=[0.4, 0.7])
    assert starts(lucid(), full, physics=tight) == [0, 90]


def test_nobody_joins_a_host_that_is_much_shorter_or_larger_than_a_node():
    jobs = [(0, 20, 3), (10, 45, 3)]
    assert starts(lucid(), jobs, physics=use(jobs)) == [0, 20]
    wide = [(0, 90, 3), (10, 45, 3)]
    assert starts(lucid(largest_shared=2), wide, physics=use(wide)) == [0, 90]


def test_where_few_jobs_come_nobody_shares():
    jobs = [(0, 90, 3), (10, 45, 3)]

    assert starts(lucid(few_an_hour=2), jobs, physics=use(jobs)) == [0, 90]


def test_a_slow_pair_is_undone_when_somebody_watches():
    jobs = [(0, 900, 3), (10, 450, 3)]
    slow = use(jobs, packed=0.3)
    outcome, log = run(lucid(unpack_below=1.0, watch_s=100.0), jobs, physics=slow)

    assert (110, "stop", 1, 0) in log
    assert outcome.end.tolist() == [110 + 900 - 10 - 30, 110 + 900 - 10 - 30 + 450]
    _, unwatched = run(lucid(), jobs, physics=slow)
    assert not any(what == "stop" for _, what, _, _ in unwatched)


def test_a_pair_that_gets_more_done_together_stays_together():
    """Each at 0.55: slower than alone, and still faster than one after the other."""
    jobs = [(0, 900, 3), (10, 450, 3)]

    _, log = run(lucid(unpack_below=1.0, watch_s=100.0), jobs, physics=use(jobs, packed=0.55))

    assert any(what == "beside" for _, what, _, _ in log)
    assert not any(what == "stop" for _, what, _, _ in log)


def test_a_job_as_large_as_the_cluster_gets_the_profilers_gpus_too():
    jobs = [(0, 15, 1), (0, 20, 4), (1, 15, 1), (2, 15, 1)]

    assert max(ends(lucid(skip_profiling=None), jobs)) < math.inf


@settings(max_examples=60, deadline=None)
@given(
    jobs=rows(most=16),
    levels=st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=16, max_size=16),
    profiled=st.booleans(),
    below=st.sampled_from([None, 1.7]),
)
def test_gpus_are_shared_by_pairs_only_and_all_work_is_done(jobs, levels, profiled, below):
    physics = Shared([gpus for _, _, gpus in jobs], use=levels, packed=0.8)
    skip = None if profiled else everybody
    policy = lucid(skip_profiling=skip, unpack_below=below, watch_s=5.0)
    outcome, log = run(policy, jobs, physics=physics)
    again, same = run(policy, jobs, physics=physics)

    check_seats(jobs, outcome, log)
    for number, (submit, seconds, _) in enumerate(jobs):
        assert outcome.end[number] >= submit + seconds - 1e-9
    assert outcome.same_as(again)
    assert log == same


def check_seats(jobs, outcome, log) -> None:
    """Follow the log: four GPUs at most, and two at most on each, of the same size."""
    seats: list[tuple[int, list[int]]] = []
    for at, what, job, detail in log:
        for _, members in seats:
            members[:] = [one for one in members if outcome.end[one] > at and one != job]
        if what == "start":
            seats.append((detail, [job]))
        elif what == "beside":
            [(gpus, members)] = [seat for seat in seats if detail in seat[1]]
            assert (gpus, len(members)) == (jobs[job][2], 1)
            members.append(job)
        assert sum(gpus for gpus, members in seats if members) <= 4


def test_scores_by_use_and_memory():
    assert share_score(0.1, 0.1) == TINY
    assert share_score(0.25, 0.45) == MEDIUM
    assert share_score(0.6, 0.1) == JUMBO
    assert share_score(0.1, 0.46) == JUMBO
    assert share_score(math.nan, 0.1) == JUMBO
    assert share_score(0.1, math.nan) == JUMBO


def test_the_host_in_the_way_least_is_taken_then_the_longest():
    hosts = Hosts()
    for job, (score, service) in enumerate([(MEDIUM, 900.0), (TINY, 100.0), (TINY, 200.0)]):
        hosts.add(job, Measured(2, score, 0.3, service))
    guest = Measured(2, MEDIUM, 0.3, 150.0)

    assert hosts.for_(guest, 2) == 2
    hosts.discard(2)
    assert hosts.for_(guest, 2) == 1
    hosts.discard(1)
    assert hosts.for_(guest, 2) == 0
    assert hosts.for_(guest, 1) is None
    hosts.discard(5)


@pytest.mark.parametrize(
    "bad", [{"seconds": 0.0}, {"share": 1.0}, {"share": 0.0}, {"most_gpus": 0}, {"most": 0.01}]
)
def test_profiling_needs_time_and_gpus(bad):
    with pytest.raises(BadInput, match="profile"):
        Profiling(**bad)


@pytest.mark.parametrize("bad", [{"share_limit": -1}, {"watch_s": 0.0}])
def test_limits_must_make_sense(bad):
    with pytest.raises(BadInput, match="lucid"):
        Lucid(**bad)
