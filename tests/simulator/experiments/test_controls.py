"""Controls: other predictors through the same ordering."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.estimators.controls import CONTROLS, constant, last_two, permuted
from schedmate.simulator.experiments.compare import assumptions, compare, comparison
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.experiments.plan import plan
from schedmate.simulator.experiments.run import run
from schedmate.simulator.experiments.setting import Past, Setting
from schedmate.simulator.sweeps import SimulationTask, expected_s, run_task
from schedmate.simulator.sweeps.pools import run_pools
from schedmate.simulator.synthetic import Levers, draw_workload
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.columns import columns_of
from schedmate.simulator.traces.synthetic import synthetic

WANTED = {"constant", "permuted", "last_two", "history", "qssf", "semantic", "oracle"}


def trace(jobs=200, seed=0):
    return columns_of(synthetic(jobs, gpus=16, load=1.2, seed=seed).jobs)


def setting(jobs=200, **assumed):
    columns = trace(jobs)
    workload = draw_workload(columns, seed=0, **assumed)
    return Setting(
        name="test", columns=workload.visible_columns(columns), gpus=16, workload=workload
    )


@pytest.mark.slow
def test_every_policy_with_an_advisor_is_run_by_every_predictor():
    here = setting(120)

    runs = compare(here, ["fifo", "fifo+advisor", "qssf+schedmate", "fifo+handler"], controls=True)

    by_name = {each.policy: each for each in runs}
    assert not by_name["fifo"].controls
    assert not by_name["fifo+handler"].controls
    for name in ("fifo+advisor", "qssf+schedmate"):
        assert set(by_name[name].controls) == set(CONTROLS) >= WANTED
        assert by_name[name].controls["semantic"].outcome is by_name[name].outcome
    qssf, own = by_name["qssf+schedmate"].controls["qssf"], run(here, plan("qssf"), Knowledge(here))
    assert qssf.summary.avg_jct_s == pytest.approx(own.summary.avg_jct_s, rel=0.01)


def test_controls_stand_under_their_policy_in_the_json():
    runs = compare(here := setting(80), ["easy", "easy+advisor"], controls=True)

    public = comparison(here, runs).as_json()

    assert "controls" not in public["policies"]["easy"]
    controls = public["policies"]["easy+advisor"]["controls"]
    assert list(controls) == list(CONTROLS)
    usual = set(public["policies"]["easy"])
    assert all(set(each) == usual for each in controls.values())
    assert "controls" not in public


@pytest.mark.slow
def test_an_oracle_orders_better_than_noise():
    here = setting(400)
    knowledge = Knowledge(here)

    average = {
        name: run(here, plan("fifo+advisor"), knowledge, predictor=name).summary.avg_jct_s
        for name in ("permuted", "oracle")
    }

    assert average["oracle"] < average["permuted"]


@pytest.mark.slow
def test_what_had_ended_before_is_known_to_every_predictor_from_the_first_job_on():
    columns = trace(200)
    workload = draw_workload(columns, seed=0)
    seen, own = workload.visible_columns(columns), np.arange(150, 200)
    ended = np.full(150, float(columns.submit[150]) - 1.0)
    without = Setting(name="test", columns=seen.take(own), gpus=16, workload=workload.take(own))
    knows = Knowledge(replace(without, past=Past(seen, ended, workload)))

    for name in ("last_two", "history", "qssf", "site_model", "semantic"):
        begins_anew, predicted = Knowledge(without).of(name).p50, knows.of(name).p50
        assert len(predicted) == 50
        assert not np.isnan(predicted).any()
        assert np.isnan(begins_anew[0]) or begins_anew[0] != predicted[0]


def test_pools_of_groups_have_controls_too():
    jobs = [
        TraceJob(
            job_id=str(n), user="u", submit_time=60.0 * n, duration=600.0, gpus=1, group="ab"[n % 2]
        )
        for n in range(30)
    ]
    pools = run_pools(
        columns_of(jobs),
        ["fifo", "fifo+advisor"],
        lambda name, columns: Setting(
            name=name, columns=columns, gpus=2, workload=draw_workload(columns, seed=0)
        ),
        controls=True,
    )

    assert set(pools.runs[1].controls) == set(CONTROLS)
    assert len(pools.runs[1].controls["oracle"].outcome.end) == 30


def test_a_task_with_controls_has_them_in_its_result():
    task = SimulationTask(
        source="synthetic", policies=("fifo", "fifo+advisor"), jobs=60, controls=True
    )

    assert set(run_task(task).compared.controls["fifo+advisor"]) == set(CONTROLS)


def test_a_constant_tells_nothing_of_a_job():
    columns = trace(50)

    same = constant(columns)

    assert len(set(same.p50.tolist())) == 1
    assert same.p10[0] <= same.p50[0] == np.median(columns.duration) <= same.p90[0]


def test_permuted_are_the_same_predictions_of_other_jobs():
    seconds = np.arange(1.0, 201.0)

    other = permuted(Estimates.exactly(seconds, "x"), seed=3)

    assert sorted(other.p50.tolist()) == seconds.tolist()
    assert abs(np.corrcoef(other.p50, seconds)[0, 1]) < 0.2
    assert np.array_equal(other.p50, other.p90)


def test_the_last_two_runs_that_had_ended_are_averaged():
    ended = [(0, 100), (1000, 200), (2000, 600), (2100, 50), (5000, 1)]
    jobs = [
        TraceJob(job_id=str(n), user="u", submit_time=float(at), duration=float(took), gpus=1)
        for n, (at, took) in enumerate(ended)
    ]
    columns = columns_of(jobs)

    said = last_two(columns, columns.submit + columns.duration)

    assert np.isnan(said.p50[0])
    assert said.p50[1:].tolist() == [100.0, 150.0, 150.0, (50 + 600) / 2]


def test_a_new_users_job_is_predicted_by_the_last_two_of_anyone():
    jobs = [
        TraceJob(job_id=str(n), user=user, submit_time=1000.0 * n, duration=took, gpus=1)
        for n, (user, took) in enumerate([("a", 100.0), ("b", 300.0), ("c", 5.0)])
    ]
    columns = columns_of(jobs)

    assert last_two(columns, columns.submit + columns.duration).p50[2] == 200.0


def test_error_leaves_the_constant_and_the_oracle_as_they_are():
    here = replace(setting(50), error=1.0)
    knowledge = Knowledge(here)

    assert np.array_equal(knowledge.of("oracle").p50, here.columns.duration)
    assert len(set(knowledge.of("constant").p50.tolist())) == 1


@pytest.mark.parametrize("name", ["las+tracker", "easy+tracker", "sia+tracker"])
def test_a_tracker_that_changes_nothing_is_named(name):
    lines = assumptions(setting(20), [plan(name)])

    assert any(line.startswith(f"{name}: the tracker alone changes nothing") for line in lines)


@pytest.mark.parametrize("name", ["lucid+tracker", "las+advisor+tracker", "easy+tracker+handler"])
def test_a_tracker_that_something_makes_use_of_is_not(name):
    assert not any(
        "the tracker alone changes nothing" in line
        for line in assumptions(setting(20), [plan(name)])
    )


def test_hours_of_work_are_expected_before_they_begin():
    task = SimulationTask(source="synthetic", policies=("easy", "easy+schedmate"), jobs=1_000_000)

    plain, controlled = expected_s([task]), expected_s([replace(task, controls=True)])

    assert 3600 < plain < controlled < 24 * 3600
    assert expected_s([replace(task, jobs=1000)]) < 60
    assert expected_s([task, replace(task, seed=1)], workers=2) == pytest.approx(plain)
    assert expected_s([replace(task, policies=("fifo",))]) < 1800


def test_hours_are_expected_of_several_traces_together(tmp_path):
    """The first is read, the others count by their size."""
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    rows = [f"{n:04},ada,{n:04},100,1\n" for n in range(900)]
    one.write_text("job_id,user,submit_time,duration,gpus\n" + "".join(rows[:300]))
    other.write_text("job_id,user,submit_time,duration,gpus\n" + "".join(rows))
    task = SimulationTask(source=str(one), policies=("easy", "easy+schedmate"))
    drawn = replace(task, source="synthetic", jobs=300)

    alone = expected_s([task], workers=1)

    assert alone > 0
    together = expected_s([task, replace(task, source=str(other))], workers=1)
    assert together == pytest.approx(4 * alone, rel=0.05)
    assert expected_s([drawn, task], workers=1) == pytest.approx(2 * alone)
    assert expected_s([task, replace(task, source=str(tmp_path / "none"))], workers=1) >= alone


def test_runs_that_make_way_have_controls_of_their_own():
    here = replace(setting(60), levers=Levers(resumable=0.6))

    [one] = compare(here, ["easy+advisor"], controls=True)

    assert set(one.controls) == {*CONTROLS, "las", "blind"}
    public = comparison(here, [one]).as_json()
    assert {"las", "blind"} <= set(public["policies"]["easy+advisor"]["controls"])
