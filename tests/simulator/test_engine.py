"""Small cases, worked out by hand."""

from __future__ import annotations

import pytest

from schedmate.model import BadInput, JobState
from schedmate.policies import ordering
from schedmate.simulator import oracle, simulate
from schedmate.testing.builders import a_prediction, a_trace_job


def trace(*rows: tuple[str, float, float, int]):
    return [
        a_trace_job(job_id=name, submit_time=submit, duration=duration, gpus=gpus)
        for name, submit, duration, gpus in rows
    ]


def starts(jobs, *, gpus=1, policy="fifo", **options) -> dict[str, float]:
    result = simulate(jobs, gpus=gpus, ordering=ordering(policy), **options)
    return {job.job_id: job.start_time for job in result.jobs}


def test_fifo_runs_one_after_the_other():
    jobs = trace(("a", 0, 10, 1), ("b", 1, 5, 1), ("c", 2, 1, 1), ("d", 100, 1, 1))

    assert starts(jobs) == {"a": 0, "b": 10, "c": 15, "d": 100}


def test_sjf_lets_the_short_go_first_but_interrupts_nobody():
    jobs = trace(("a", 0, 10, 1), ("b", 1, 5, 1), ("c", 2, 1, 1))

    assert starts(jobs, policy="sjf", advise=oracle) == {"a": 0, "c": 10, "b": 11}


def test_equally_long_jobs_keep_their_order():
    jobs = trace(("a", 0, 5, 1), ("b", 0, 5, 1), ("c", 0, 5, 1))

    assert starts(jobs, policy="sjf", advise=oracle) == {"a": 0, "b": 5, "c": 10}


def test_the_order_of_the_rows_does_not_matter_but_for_ties():
    jobs = trace(("late", 5, 1, 1), ("early", 0, 10, 1), ("tie1", 5, 1, 1))

    assert starts(jobs) == {"early": 0, "late": 10, "tie1": 11}


def test_a_gang_waits_for_all_its_gpus_and_strictly_blocks_those_behind():
    jobs = trace(("a", 0, 10, 1), ("gang", 1, 5, 2), ("small", 2, 1, 1))

    assert starts(jobs, gpus=2) == {"a": 0, "gang": 10, "small": 15}


def test_first_fit_lets_the_small_overtake_the_gang():
    jobs = trace(("a", 0, 10, 1), ("gang", 1, 5, 2), ("small", 2, 1, 1), ("last", 2, 20, 1))

    assert starts(jobs, gpus=2, backfill=True) == {"a": 0, "small": 2, "last": 3, "gang": 23}


def test_a_gpu_that_becomes_free_is_handed_on_in_the_same_second():
    jobs = trace(("a", 0, 10, 1), ("b", 10, 5, 1), ("c", 10, 1, 1))

    assert starts(jobs, policy="sjf", advise=oracle) == {"a": 0, "c": 10, "b": 11}


def test_a_job_that_takes_no_time_takes_no_time():
    jobs = trace(("a", 0, 0, 1), ("b", 0, 0, 1), ("c", 0, 3, 1))

    assert starts(jobs) == {"a": 0, "b": 0, "c": 0}


def test_what_is_predicted_counts_and_not_what_is_true():
    jobs = trace(("running", 0, 10, 1), ("short", 1, 1, 1), ("long", 1, 9, 1))
    wrong = {"running": 1.0, "short": 500.0, "long": 5.0}

    told = starts(jobs, policy="sjf", advise=lambda job: a_prediction(wrong[job.job_id]))

    assert told == {"running": 0, "long": 10, "short": 19}


def test_a_job_that_nothing_is_said_of_stays_where_it_was_submitted():
    jobs = trace(("a", 0, 10, 1), ("b", 1, 5, 1), ("c", 2, 1, 1))

    assert starts(jobs, policy="sjf", advise=lambda job: None) == starts(jobs)
    assert starts(jobs, policy="sjf") == starts(jobs)


def test_advice_that_costs_time_comes_too_late_for_who_could_start_at_once():
    jobs = trace(("long", 0, 10, 1), ("a", 1, 5, 1), ("b", 2, 1, 1))

    assert starts(jobs, policy="sjf", advise=oracle, advice_cost_s=3)["long"] == 0


@pytest.mark.parametrize(("cost", "first"), [(0, "short"), (8, "short"), (10, "long")])
def test_advice_orders_a_job_only_once_it_was_paid_for(cost, first):
    """At 10 the GPU is free: advice of 8 seconds came just in time, of 10 seconds too late."""
    jobs = trace(("running", 0, 10, 1), ("long", 1, 5, 1), ("short", 2, 1, 1))

    begun = starts(jobs, policy="sjf", advise=oracle, advice_cost_s=cost)

    assert begun[first] == 10


def test_every_job_ends_as_it_did_in_the_trace():
    jobs = [a_trace_job(job_id=state, status=state) for state in JobState if state.ended]

    result = simulate(jobs, gpus=1, ordering=ordering("fifo"))

    assert {job.job_id: job.status for job in result.jobs} == {
        job.job_id: job.status for job in jobs
    }


def test_progress_is_told_and_ends_with_all():
    told: list[tuple[int, int]] = []
    jobs = [a_trace_job(job_id=str(number)) for number in range(1000)]

    simulate(
        jobs,
        gpus=8,
        ordering=ordering("fifo"),
        on_progress=lambda done, total: told.append((done, total)),
    )

    assert told[-1] == (1000, 1000)
    assert told == sorted(told)
    assert len(told) <= 200


@pytest.mark.parametrize(
    ("jobs", "options", "sentence"),
    [
        ([], {}, "there are no jobs to simulate"),
        ([a_trace_job(gpus=8)], {}, "job 1 asks for 8 GPUs and the cluster has 4"),
        ([a_trace_job(), a_trace_job()], {}, "two jobs of the trace have the same id"),
        ([a_trace_job()], {"advice_cost_s": -1.0}, "advice cannot take -1.0 seconds"),
        ([a_trace_job()], {"advice_cost_s": float("nan")}, "advice cannot take nan seconds"),
    ],
)
def test_what_cannot_be_simulated_is_said_in_a_sentence(jobs, options, sentence):
    with pytest.raises(BadInput, match=f"^{sentence}$"):
        simulate(jobs, gpus=4, ordering=ordering("fifo"), **options)
