from __future__ import annotations

import dataclasses

import jsonschema
import pytest

from schedmate.model import BadInput, JobState, wire
from schedmate.policies import ordering
from schedmate.simulator import Comparison, JobResult, Result, Trace, compare, simulate, synthetic
from schedmate.simulator.mind_cluster import Cluster
from schedmate.testing.builders import a_trace_job


def a_result(*spans: tuple[float, float, float], gpus: int = 1) -> Result:
    jobs = tuple(
        JobResult(
            job_id=str(number),
            gpus=1,
            submit_time=submit,
            start_time=start,
            end_time=end,
            status=JobState.COMPLETED,
        )
        for number, (submit, start, end) in enumerate(spans)
    )
    return Result(policy="fifo", gpus=gpus, jobs=jobs, wall_seconds=0.5)


def test_the_summary_is_what_one_works_out_on_paper():
    summary = a_result((0, 0, 10), (0, 10, 30), (10, 30, 40), gpus=2).summary

    assert dataclasses.asdict(summary) == {
        "avg_jct_s": pytest.approx((10 + 30 + 30) / 3),
        "p50_jct_s": 30,
        "p99_jct_s": 30,
        "avg_queue_s": pytest.approx((0 + 10 + 20) / 3),
        "makespan_s": 40,
        "gpu_utilization": 0.5,
        "preemptions": 0,
        "wall_seconds": 0.5,
    }


def test_quantiles_lie_between_the_nearest_values():
    summary = a_result(*[(0, 0, end) for end in range(1, 102)]).summary

    assert (summary.p50_jct_s, summary.p99_jct_s) == (51, 100)
    assert a_result((0, 0, 1), (0, 0, 2)).summary.p50_jct_s == 1.5


def test_jobs_that_take_no_time_use_no_gpu():
    assert a_result((5, 5, 5)).summary.gpu_utilization == 0


def test_a_cluster_never_hands_out_what_it_has_not():
    cluster = Cluster(4)
    cluster.start("a", 3)

    with pytest.raises(ValueError, match="cannot start"):
        cluster.start("b", 2)
    with pytest.raises(ValueError, match="cannot start"):
        cluster.start("a", 1)
    cluster.finish("a")
    assert cluster.free == 4


def test_a_synthetic_trace_is_the_same_for_the_same_seed_only():
    assert synthetic(50, gpus=8, seed=3) == synthetic(50, gpus=8, seed=3)
    assert synthetic(50, gpus=8, seed=3).jobs != synthetic(50, gpus=8, seed=4).jobs


@pytest.mark.parametrize("load", [0.5, 0.9, 2.0])
def test_a_synthetic_trace_has_the_load_that_was_asked_for(load):
    jobs = synthetic(4000, gpus=32, load=load, seed=1).jobs

    work = sum(job.gpus * job.duration for job in jobs)
    assert work / (32 * jobs[-1].submit_time) == pytest.approx(load, rel=0.1)
    assert {job.gpus for job in jobs} == {1, 2, 4, 8, 16, 32}
    assert [job.submit_time for job in jobs] == sorted(job.submit_time for job in jobs)


def test_a_synthetic_trace_fits_a_tiny_cluster():
    assert {job.gpus for job in synthetic(100, gpus=1).jobs} == {1}


def test_a_comparison_says_what_was_assumed_and_keeps_to_the_public_json():
    trace = Trace(name="t", jobs=(a_trace_job(), a_trace_job(job_id="2", gpus=9)))

    compared = compare(trace, policies=["fifo", "sjf"], gpus=4)

    written = wire.to_json(compared)
    jsonschema.validate(written, wire.json_schema(Comparison))
    assert list(written) == ["schema", "trace", "jobs", "gpus", "assumptions", "policies"]
    assert (compared.jobs, compared.gpus) == (1, 4)
    assert "sjf: knows every duration beforehand (oracle)" in compared.assumptions
    assert "1 jobs that ask for more than 4 GPUs are left out" in compared.assumptions


def test_a_cluster_of_no_size_is_made_busy_but_large_enough():
    jobs = [
        a_trace_job(job_id=str(number), submit_time=number * 10.0, duration=90.0, gpus=2)
        for number in range(101)
    ]

    assert compare(Trace(name="t", jobs=tuple(jobs)), policies=["fifo"]).gpus == 21
    assert compare(Trace(name="t", jobs=(a_trace_job(gpus=8),)), policies=["fifo"]).gpus == 8


def test_a_cluster_too_small_for_every_job_is_refused():
    with pytest.raises(BadInput, match="asks for more than the cluster's 4 GPUs"):
        compare(Trace(name="t", jobs=(a_trace_job(gpus=8),)), policies=["fifo"], gpus=4)


def test_results_are_equal_however_long_they_took():
    jobs = synthetic(200, gpus=8).jobs

    first, second = (simulate(jobs, gpus=8, ordering=ordering("fifo")) for _ in range(2))

    assert first == second
    assert first.summary == second.summary
