"""What is plotted is what happened."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.simulator.engine.outcome import (
    GpuChanges,
    PolicyComparison,
    SimulationOutcome,
    Summary,
    quantiles,
    summary_of,
    waited_s,
)
from schedmate.simulator.report.digest import (
    cdf,
    is_smoothed,
    queue_length,
    time_bins,
    utilisation,
)
from schedmate.simulator.report.gains import by_gpus, by_group, by_length, by_user, gains, ratio
from schedmate.simulator.report.sensitivity import geometric_mean, interval, sensitivities
from schedmate.simulator.traces.columns import columns_of
from schedmate.testing.builders import a_trace_job
from simulator.report.runs import Ran, listed, runs_of, some_columns


def test_a_distribution_of_few_is_drawn_whole():
    curve = cdf("fifo", np.array([3.0, 1.0, 2.0, 2.0]))

    assert curve.x == (1, 2, 2, 3)
    assert curve.y == (0.25, 0.5, 0.75, 1.0)


@settings(deadline=None, max_examples=25)  # busy machines are slow, not wrong
@given(st.integers(361, 5000), st.integers(0, 9))
def test_a_distribution_of_many_is_exact_where_it_is_drawn_and_reaches_both_ends(jobs, seed):
    values = np.random.default_rng(seed).lognormal(7, 2, jobs)

    curve = cdf("fifo", values)

    assert len(curve.x) <= 360
    assert (curve.x[0], curve.x[-1], curve.y[-1]) == (values.min(), values.max(), 1.0)
    ordered = np.sort(values)
    for x, y in zip(curve.x, curve.y, strict=True):
        assert np.searchsorted(ordered, x, side="right") == round(y * jobs)
    assert np.diff([0, *curve.y]).max() < 0.01


@pytest.mark.parametrize("seed", range(5))
def test_curves_over_time_hold_all_the_work_and_all_the_waiting(seed):
    columns = some_columns(300, seed=seed)
    outcome = listed(columns, columns.duration, gpus=16)
    edges = np.linspace(columns.submit[0], outcome.end.max(), 241)
    width = edges[1] - edges[0]

    held = utilisation("sjf", columns, outcome, gpus=16, edges=edges)
    waiting = queue_length("sjf", columns, outcome, edges=edges)

    assert sum(held.y) * width * 16 == pytest.approx(outcome.gpu_seconds.sum())
    assert sum(waiting.y) * width == pytest.approx((outcome.start - columns.submit).sum())
    assert max(held.y) <= 1 + 1e-9
    assert held.x[0] == 0


def test_jobs_that_were_stopped_wait_too():
    columns = some_columns(100)
    outcome = listed(columns, columns.duration, gpus=16)
    stopped = replace(
        outcome,
        end=outcome.end + 5000.0,
        preemptions=np.ones(100, dtype=np.int64),
    )
    edges = np.linspace(float(columns.submit[0]), float(stopped.end.max()), 241)

    waiting = queue_length("srtf", columns, stopped, edges=edges)

    waited = (outcome.start - columns.submit).sum() + 100 * 5000.0
    assert sum(waiting.y) * (edges[1] - edges[0]) == pytest.approx(waited)


def test_what_was_written_down_of_gpus_is_what_is_drawn():
    columns = some_columns(300)
    outcome = listed(columns, columns.duration, gpus=16)
    at = np.concatenate([outcome.start, outcome.end])
    more = np.concatenate([columns.gpus, -columns.gpus])
    order = np.argsort(at, kind="stable")
    written = replace(outcome, changes=GpuChanges(at[order], more[order]))
    interrupted = replace(outcome, preemptions=np.ones(300, dtype=np.int64))
    edges = time_bins(columns, float(outcome.end.max()))

    drawn = utilisation("sjf", columns, written, gpus=16, edges=edges)

    assert drawn.y == pytest.approx(
        utilisation("sjf", columns, outcome, gpus=16, edges=edges).y, abs=1e-9
    )
    assert [is_smoothed(each) for each in (outcome, written, interrupted)] == [False, False, True]


def test_a_level_is_the_one_that_a_slow_scan_finds():
    columns = some_columns(60, seed=3)
    outcome = listed(columns, columns.submit, gpus=16)
    edges = time_bins(columns, float(outcome.end.max()))

    waiting = queue_length("fifo", columns, outcome, edges=edges).y

    for place in (0, 7, 120, 239):
        moments = np.linspace(edges[place], edges[place + 1], 20001)
        scanned = ((columns.submit <= moments[:, None]) & (moments[:, None] < outcome.start)).sum(1)
        assert waiting[place] == pytest.approx(scanned.mean(), abs=0.01)


def test_a_long_drain_is_cut_off_and_jobs_that_come_at_once_are_shown_to_the_end():
    columns = some_columns(50)

    assert time_bins(columns, 1e12)[-1] == pytest.approx(columns.submit[-1] + 0.25 * columns.span_s)
    at_once = columns.take(np.array([4]))
    assert time_bins(at_once, at_once.submit[0] + 500)[-1] == at_once.submit[0] + 500


def test_classes_hold_every_job_once():
    columns = some_columns(400, users=tuple(f"user{number}" for number in range(30)))

    for classes in (by_gpus(columns), by_length(columns), by_group(columns), by_user(columns)):
        assert sorted(job for each in classes for job in each.jobs) == list(range(400))
    assert [each.label for each in by_gpus(columns)] == [
        *("1 GPU", "2 GPUs", "3 to 4 GPUs", "5 to 8 GPUs"),
    ]
    assert by_user(columns)[-1].label == "18 other users"


def test_one_user_is_no_class():
    assert by_user(some_columns(9, users=("ada",))) == []


def test_gains_are_those_one_works_out_on_paper():
    columns = some_columns(4, users=("ada",))
    old, new = np.array([100.0, 100, 100, 100]), np.array([50.0, 100.5, 110, 130])

    [found] = gains(columns, {"fifo": old, "fifo+schedmate": new})

    everybody = found.rows[0]
    assert (found.before, found.after) == ("fifo", "fifo+schedmate")
    assert everybody.ratio == pytest.approx(400 / 390.5)
    assert (found.faster, everybody.slower, everybody.slower_by_s) == (0.25, 0.5, 20)
    assert (found.users, found.users_better_off) == (1, 1)


def test_each_policy_is_held_against_itself_without_schedmate_or_against_the_first():
    columns = some_columns(5)
    jct = columns.duration

    aided = gains(columns, {"fifo": jct, "easy": jct, "easy+schedmate": jct, "sjf+schedmate": jct})
    plain = gains(columns, {"fifo": jct, "easy": jct, "sjf": jct})

    assert [(each.before, each.after) for each in aided] == [("easy", "easy+schedmate")]
    assert [(each.before, each.after) for each in plain] == [("fifo", "easy"), ("fifo", "sjf")]
    assert gains(columns, {"fifo": jct}) == ()


def test_ratios_of_nothing_are_said_plainly():
    assert (ratio(0, 0), ratio(2, 1)) == (1, 2)
    assert ratio(1, 0) == float("inf")
    assert geometric_mean([0.5, 2]) == pytest.approx(1)


@pytest.mark.parametrize(("preempted", "requeued"), [(1, 0), (0, 1)])
def test_an_interrupted_job_waits_after_its_start_too(preempted, requeued):
    columns = some_columns(2)
    start = columns.submit + 10
    outcome = SimulationOutcome(
        start=start,
        end=columns.submit + 500,
        gpu_seconds=np.array([490.0, 200.0]) * columns.gpus,
        preemptions=np.array([0, preempted]),
        requeues=np.array([0, requeued]),
        status=columns.status,
    )

    assert waited_s(columns, outcome).tolist() == pytest.approx([10, 300])
    summary = summary_of(columns, outcome, gpus=16)
    assert (summary.preemptions, summary.requeues) == (preempted, requeued)


def test_a_summary_is_what_a_slow_count_gives():
    columns = some_columns(200)
    outcome = listed(columns, columns.submit, gpus=16)
    jct = sorted((outcome.end - columns.submit).tolist())

    summary = summary_of(columns, outcome, gpus=16, wall_seconds=0.5)

    makespan = max(outcome.end) - columns.submit[0]
    assert summary.avg_jct_s == pytest.approx(sum(jct) / 200)
    assert summary.p50_jct_s == pytest.approx((jct[99] + jct[100]) / 2)
    assert summary.p99_jct_s == pytest.approx(jct[197] + 0.01 * (jct[198] - jct[197]))
    assert summary.gpu_utilization == pytest.approx(columns.gpu_seconds / makespan / 16)
    assert (summary.makespan_s, summary.preemptions, summary.wall_seconds) == (makespan, 0, 0.5)


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40),
    st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_quantiles_are_those_of_numpy(values, shares):
    expected = np.quantile(np.array(values), shares)

    assert quantiles(np.array(values), *shares) == pytest.approx(expected.tolist(), abs=1e-5)


def a_comparison(ratio_to_fifo: float, **setting: float) -> PolicyComparison:
    def summary(average: float) -> Summary:
        return Summary(
            avg_jct_s=average,
            p50_jct_s=1,
            p99_jct_s=1,
            avg_queue_s=1,
            makespan_s=1,
            gpu_utilization=1,
            preemptions=0,
            wall_seconds=0,
        )

    policies = {"fifo": summary(100 * ratio_to_fifo), "sjf": summary(100)}
    return PolicyComparison(
        trace="t", jobs=1, gpus=1, assumptions=(), policies=policies, setting=setting
    )


def test_a_sweep_is_seen_per_thing_varied_with_its_spread_over_the_rest():
    rows = [
        a_comparison(4, error=0, seed=0, load=0.9),
        a_comparison(1, error=0, seed=1, load=0.9),
        a_comparison(1, error=2, seed=0, load=0.9),
        a_comparison(1, error=2, seed=1, load=0.9),
    ]

    [found] = sensitivities("philly", rows)

    assert (found.trace, found.varied, found.first, found.runs) == ("philly", "error", "fifo", 4)
    [spread] = found.spreads
    assert (spread.policy, spread.x) == ("sjf", (0, 2))
    assert spread.mean == pytest.approx((2, 1))
    assert (spread.least, spread.most) == ((1, 1), (4, 1))


def test_the_list_scheduler_of_these_tests_hands_out_no_gpu_twice():
    columns = some_columns(200, seed=9)
    for run in runs_of(columns):
        assert isinstance(run, Ran)
        for moment in run.outcome.start:
            running = (run.outcome.start <= moment) & (moment < run.outcome.end)
            assert columns.gpus[running].sum() <= 16


def test_the_worst_stands_beside_the_average():
    """On one GPU, in order: bob's second job waits for 300 s of others."""
    columns = columns_of(
        [
            a_trace_job(job_id="1", user="ann", submit_time=0, duration=200, gpus=1),
            a_trace_job(job_id="2", user="bob", submit_time=0, duration=100, gpus=1),
            a_trace_job(job_id="3", user="bob", submit_time=0, duration=10, gpus=1),
        ]
    )
    start = np.array([0.0, 200.0, 300.0])

    found = summary_of(
        columns, SimulationOutcome.unbroken(columns, start, start + columns.duration), gpus=1
    )

    slowdowns = [200 / 200, 300 / 100, 310 / 60]  # a minute counts at least
    assert found.worst_wait_s == 300
    assert found.avg_slowdown == pytest.approx(np.mean(slowdowns))
    assert found.worst_user_slowdown == pytest.approx(np.mean(slowdowns[1:]))


def test_the_interval_over_seeds_is_students():
    """Logarithms 0, 1 and 2: mean 1, standard deviation 1, of three."""
    found = interval([1.0, math.e, math.e**2])

    assert math.log(found.mean) == pytest.approx(1.0)
    assert math.log(found.high) == pytest.approx(1.0 + 4.303 / math.sqrt(3))
    assert math.log(found.low) == pytest.approx(1.0 - 4.303 / math.sqrt(3))
