"""What a site's past says of a job, from what its scheduler knows when it is submitted."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.cohorts import KEPT
from schedmate.advisor.predict.jobs import EndedJob, Facts, ended_job, facts_of, replay
from schedmate.model import BadInput, JobState, PastRun, Request
from schedmate.testing.builders import a_job

DAY = 86_400.0
ids = itertools.count()


def facts(at: float, user: str = "ada", **more) -> Facts:
    return Facts(job_id=f"j{next(ids)}", user=user, submitted_at=at, **more)


def a_run(at: float, seconds: float, state: JobState = JobState.COMPLETED, **more) -> EndedJob:
    return EndedJob(facts(at, **more), at, at + seconds, state)


def within_twice(said: float, real: float) -> bool:
    return real / 2 <= said <= real * 2


def test_a_user_s_jobs_go_on_as_they_went():
    model = CohortModel()
    model.learn(a_run(n * 1000, 300 if n % 2 else 290) for n in range(40))
    assert within_twice(model.predict(facts(DAY)).duration_s.p50, 300)


def test_the_request_tells_one_user_s_jobs_apart():
    model = CohortModel()
    runs = [a_run(n * 2000, 50, gpus=1) for n in range(60)]
    runs += [a_run(n * 2000 + 900, 50_000, gpus=8) for n in range(60)]
    model.learn(runs)
    assert within_twice(model.predict(facts(5 * DAY, gpus=1)).duration_s.p50, 50)
    assert within_twice(model.predict(facts(5 * DAY, gpus=8)).duration_s.p50, 50_000)


def test_the_name_tells_them_apart_whatever_number_is_in_it():
    model = CohortModel()
    runs = [a_run(n * 2000, 60, name=f"eval-{n}") for n in range(60)]
    runs += [a_run(n * 2000 + 900, 30_000, name=f"train-{n}") for n in range(60)]
    model.learn(runs)
    assert within_twice(model.predict(facts(5 * DAY, name="eval-999")).duration_s.p50, 60)
    assert within_twice(model.predict(facts(5 * DAY, name="train-999")).duration_s.p50, 30_000)


def test_a_name_never_seen_goes_by_those_that_begin_like_it():
    model = CohortModel()
    runs = [a_run(n * 2000, 60, name=f"Eval{n}-{'abcdefgh'[n % 8]}") for n in range(60)]
    runs += [a_run(n * 2000 + 900, 30_000, name=f"Agent{n}-{'abcdefgh'[n % 8]}") for n in range(60)]
    model.learn(runs)
    assert within_twice(model.predict(facts(5 * DAY, name="Eval7-new")).duration_s.p50, 60)
    assert within_twice(model.predict(facts(5 * DAY, name="Agent7-new")).duration_s.p50, 30_000)


@pytest.mark.parametrize(
    ("name", "word"), [("NNAgent7-lr", "nnagent"), ("train_2", "train"), ("7up", ""), ("", "")]
)
def test_the_first_word_of_a_name(name, word):
    assert facts(0, name=name).first_word == word


def test_a_new_user_is_taken_for_one_who_uses_as_much_of_the_limit_as_all_do():
    model = CohortModel()
    rng = random.Random(3)
    for n in range(300):
        limit = rng.choice([600, 3600, 36_000, 86_400])
        model.learn([a_run(n * 2 * DAY, limit, user=f"u{n}", limit_s=limit)])
    said = model.predict(facts(700 * DAY, user="newcomer", limit_s=12_000)).duration_s
    assert within_twice(said.p50, 12_000)


def test_siblings_that_run_for_hours_are_not_followed_by_one_that_takes_a_minute():
    model = CohortModel()
    model.learn(a_run(n * 40_000, 30_000 if n % 2 else 60) for n in range(40))
    siblings = [facts(30 * DAY + n) for n in range(20)]
    for sibling in siblings:
        model.submitted(sibling)
    now = 30 * DAY + 20_000
    before = model.predict(facts(now)).duration_s
    for sibling in siblings:
        model.started(sibling.job_id, sibling.submitted_at)
    after = model.predict(facts(now)).duration_s
    assert within_twice(after.p50, 30_000)
    assert after.p10 > before.p10


def test_asking_changes_nothing():
    model = CohortModel()
    model.learn(a_run(n * 1000, 100 + n) for n in range(30))
    asked = facts(DAY)
    first = model.predict(asked)
    assert [model.predict(asked) for _ in range(5)] == [first] * 5


def test_says_how_it_will_end_and_whose_runs_it_goes_by():
    model = CohortModel()
    model.learn(
        a_run(n * 1000, 100, JobState.FAILED if n % 4 == 0 else JobState.COMPLETED, gpus=2)
        for n in range(100)
    )
    forecast = model.predict(facts(2 * DAY, gpus=2))
    assert forecast.outcome.failed == pytest.approx(0.25, abs=0.08)
    assert forecast.outcome.completed == pytest.approx(0.75, abs=0.08)
    assert f"{KEPT} runs" in forecast.rests_on


def test_an_empty_past_is_said_to_be_one():
    forecast = CohortModel().predict(facts(0.0))
    assert forecast.rests_on == "nothing has run here yet"
    assert forecast.duration_s.p90 > 1000 * forecast.duration_s.p10


@pytest.mark.slow
def test_spreads_cover_what_they_say_on_users_of_many_kinds():
    rng = random.Random(5)
    runs = []
    for n in range(3000):
        user = rng.randrange(6)
        usual = 20 * 3**user if rng.random() < 0.8 else 15
        runs.append(a_run(n * 500, rng.lognormvariate(0, 0.4) * usual, user=f"u{user}"))
    said = list(CohortModel().replayed(runs))[1000:]
    covered = sum(run.duration_s <= spread.p90 for run, spread in said) / len(said)
    too_long = sum(run.duration_s < spread.p10 for run, spread in said) / len(said)
    near = sum(within_twice(spread.p50, run.duration_s) for run, spread in said) / len(said)
    assert covered == pytest.approx(0.9, abs=0.025)
    assert too_long == pytest.approx(0.1, abs=0.035)
    assert near > 0.65


def test_the_future_says_nothing_of_the_past():
    rng = random.Random(7)
    runs = [a_run(n * 60, rng.uniform(10, 5000), user=f"u{n % 3}") for n in range(80)]
    half = runs[40].facts.submitted_at
    later = [
        run if run.ended_at <= half else EndedJob(run.facts, run.started_at, half + DAY, run.state)
        for run in runs
    ]
    one = [said for run, said in CohortModel().replayed(runs) if run.facts.submitted_at < half]
    other = [said for run, said in CohortModel().replayed(later) if run.facts.submitted_at < half]
    assert one == other


def test_comes_back_from_the_store_with_what_it_knows():
    model = CohortModel()
    model.learn(a_run(n * 5000, 100 + n, gpus=n % 3, name=f"a{n}") for n in range(200))
    again = CohortModel.load(model.dump())
    asked = facts(100 * DAY, user="eve", gpus=1)
    mine, theirs = model.predict(asked), again.predict(asked)
    assert theirs.duration_s.p50 == pytest.approx(mine.duration_s.p50, rel=0.02)
    assert theirs.duration_s.p90 == pytest.approx(mine.duration_s.p90, rel=0.02)
    assert theirs.outcome == mine.outcome


@pytest.mark.parametrize("data", [b"", b"nonsense", CohortModel().dump()[:-20]])
def test_says_so_when_what_is_stored_is_damaged(data):
    with pytest.raises(BadInput):
        CohortModel.load(data)


def test_of_a_long_past_the_older_part_still_counts():
    model = CohortModel()
    model.learn(
        [a_run(n * 1000, 40_000, name="rare") for n in range(5)]
        + [a_run(DAY + n * 1000, 30, name="daily") for n in range(20)],
        closely=10,
    )
    assert within_twice(model.predict(facts(3 * DAY, name="rare")).duration_s.p50, 40_000)


def test_whom_to_believe_is_learnt_of_each_user_and_kept():
    """The one's jobs go by their name, the other's by nothing but the user."""
    rng, model = random.Random(2), CohortModel()
    for n in range(200):
        takes = (60, 30_000)[n % 2]
        model.learn([a_run(n * 2000, takes, user="ada", name=f"{'ab'[n % 2]}x")])
        at = n * 2000 + 900
        model.learn([a_run(at, rng.choice((60, 30_000)), user="bob", name=f"{'ab'[n % 2]}x")])
    for each in (model, CohortModel.load(model.dump())):
        sure, unsure = (
            each.predict(facts(9 * DAY, user=user, name="ax")).duration_s for user in ("ada", "bob")
        )
        assert within_twice(sure.p50, 60)
        assert sure.p90 < unsure.p90


def test_learns_the_time_of_a_job_whose_submission_nobody_told():
    model = CohortModel()
    for n in range(20):
        model.ended(a_run(n * 1000, 700))
    assert within_twice(model.predict(facts(DAY)).duration_s.p50, 700)


times = st.floats(0, 1e10, allow_nan=False)


@settings(max_examples=30)
@given(
    st.lists(
        st.builds(
            lambda at, wait, seconds, user, limit: EndedJob(
                facts(at, user=user, limit_s=limit), at + wait, at + wait + seconds, JobState.FAILED
            ),
            times, times, times, st.sampled_from("ab"), st.none() | times,
        ),
        max_size=12,
    )
)  # fmt: skip
def test_says_something_of_every_job_whatever_it_is_told(runs):
    model = CohortModel()
    assert len(list(model.replayed(runs))) == len(runs)
    CohortModel.load(model.dump())


@given(st.lists(st.tuples(times, times, times), max_size=10))
def test_a_replay_keeps_each_job_s_order_and_all_in_time(three):
    runs = [EndedJob(facts(at), at + w, at + w + s, JobState.COMPLETED) for at, w, s in three]
    events = list(replay(runs))
    assert [event.at for event in events] == sorted(event.at for event in events)
    for run in runs:
        mine = [event.kind for event in events if event.run is run]
        assert mine == ["submit", "start", "end"]


def test_facts_of_a_remembered_run():
    request = Request(gpus=2, nodes=1, cpus=8, time_limit_s=60, partition="gpu")
    job = a_job(
        user="ada", name="t-1", command=("python", "t.py"), request=request, state=JobState.FAILED,
        submit_time=5, start_time=10, end_time=40,
    )  # fmt: skip
    run = ended_job(PastRun(job=job))
    assert run == EndedJob(facts_of(job), 10, 40, JobState.FAILED)
    assert run.facts.request == (2, 8, 1, 60, "gpu")
    assert run.facts.command == "python t.py"
    assert run.facts.stem == "t-# python t.py"
    assert run.duration_s == 30


def test_a_job_that_never_ran_teaches_nothing():
    job = a_job(state=JobState.CANCELLED, submit_time=5, start_time=None, end_time=40)
    assert ended_job(PastRun(job=job)) is None


@settings(max_examples=60, deadline=None)
@given(
    times=st.lists(st.floats(1.0, 1e6), min_size=1, max_size=60),
    name=st.sampled_from(["run", "other", "new"]),
)
def test_nothing_is_predicted_far_beyond_what_the_site_has_seen(times, name):
    model = CohortModel()
    model.learn(a_run(n * 1000, each, name="run") for n, each in enumerate(times))
    found = model.predict(facts(10 * DAY, name=name)).duration_s
    beyond = math.exp(0.1 * (2 + 30 / math.sqrt(len(times))))
    assert found.p90 <= (1 + max(times)) * beyond
    assert found.p10 >= min(times) / beyond - 1


def test_a_few_runs_with_an_outlier_do_not_predict_years():
    """As a site imports its first month: a few lengths, and the longest five times the same."""
    model = CohortModel()
    times = [*([1000.0, 2000.0, 4000.0, 8300.0] * 6), *([70_000.0] * 5), 100.0]
    model.learn(a_run(n * 1000, each, name=f"t{each:.0f}") for n, each in enumerate(times))
    for user in ("ada", "new"):
        found = model.predict(facts(10 * DAY, user=user)).duration_s
        assert found.p90 < 3 * 70_000
        assert found.p10 > 10


@pytest.mark.slow
def test_a_job_that_has_run_longer_than_any_before_leaves_predictions_finite():
    """In a long history what was believed before it has faded to nothing when it is stored."""
    trained = CohortModel()
    trained.learn(a_run(n * 100, 60) for n in range(6000))
    model = CohortModel.load(trained.dump())
    running = facts(0.0)
    model.submitted(running)
    model.started(running.job_id, 0.0)
    later = model.submitted(facts(300 * DAY))
    assert math.isfinite(later.p90)
    assert np.isfinite(model.predict(facts(300 * DAY)).mass).all()


def test_a_job_of_which_no_end_is_known_is_not_taken_for_one_that_runs():
    """Those whose ends were missed would look like jobs that take longer and longer."""
    model = CohortModel()
    model.learn(a_run(n * 1000, 300 + n % 7) for n in range(40))
    new = facts(DAY + 2 * 3600)
    before = model.predict(new)
    vanished = [facts(DAY) for _ in range(20)]
    for one in vanished:
        model.submitted(one)
        model.started(one.job_id, DAY)
    assert "20 that still run" in model.predict(new).rests_on
    for one in vanished:
        model.forget(one.job_id)

    after = model.predict(new)

    assert "still run" not in after.rests_on
    assert after.duration_s.p90 == pytest.approx(before.duration_s.p90, rel=0.1)
