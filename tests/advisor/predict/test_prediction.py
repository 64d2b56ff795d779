"""From past runs to durations, outcomes and the reason in words."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.advisor import Target
from schedmate.advisor.predict.cohort_model import CohortModel
from schedmate.advisor.predict.distributions import around, empirical, quantile
from schedmate.advisor.predict.jobs import ended_job
from schedmate.advisor.predict.prediction import predict
from schedmate.advisor.predict.site_model import SiteModel
from schedmate.model import Finding, Fingerprint, JobState, Request, Workload
from schedmate.testing.history import MemoryHistory, past_run

SAME = Fingerprint(code="c", arguments="a")
OTHER_ARGUMENTS = Fingerprint(code="c", arguments="b")
OTHER_CODE = Fingerprint(code="d", arguments="b")


def workload(**values):
    return Workload(**{name: Finding(value=value, source="code") for name, value in values.items()})


def target(**changes):
    settings = {"workdir": Path("/"), "command": ("x",), "user": "ann", "name": "train"}
    return Target(**(settings | changes))


def prediction(runs, *, fingerprint=SAME, record=None, **changes):
    history = MemoryHistory(list(runs))
    return predict(history, target(**changes), fingerprint, record or Workload())


def near(seconds, rel=0.1):
    return pytest.approx(seconds, rel=rel)


def test_identical_runs_give_their_median_and_a_spread_that_narrows_with_their_number():
    few = prediction([past_run("1", 100, fingerprint=SAME)])
    many = prediction([past_run(str(n), 100, fingerprint=SAME) for n in range(9)])
    assert few.basis == many.basis == "identical"
    assert few.duration_s.p50 == many.duration_s.p50 == 100
    assert few.duration_s.p10 < many.duration_s.p10 < 100 < many.duration_s.p90
    assert many.duration_s.p90 < few.duration_s.p90
    assert few.explanation == "like job 1: same code, same arguments"


def test_many_identical_runs_give_their_own_quantiles():
    runs = [past_run(str(n), float(n), fingerprint=SAME) for n in range(1, 102)]
    newest = prediction([*runs[:20]]).duration_s
    assert newest == empirical([float(n) for n in range(1, 21)])


@pytest.mark.parametrize("asked", [SAME, OTHER_ARGUMENTS], ids=["identical", "same code"])
@pytest.mark.parametrize(("short", "long"), [(5.0, 200.0), (0.05, 2.0)])
def test_a_past_of_two_humps_has_its_middle_in_the_heavier_and_a_range_that_reaches_both(
    asked, short, long
):
    times = [long, short, short, long, short, long, short]
    runs = [past_run(str(n), each, fingerprint=SAME) for n, each in enumerate(times)]
    said = prediction(runs, fingerprint=asked).duration_s
    assert said.p50 == near(short)
    assert said.p10 <= 1.01 * short
    assert said.p90 >= 0.99 * long
    even = prediction(runs[:2], fingerprint=asked).duration_s
    assert even.p50 in (near(short), near(long))


def test_arguments_that_nobody_reads_widen_the_range_until_several_were_seen():
    """`sleep 3` says little of `sleep 100`."""
    runs = [past_run(str(n), 3.0, fingerprint=SAME) for n in range(12)]
    once = prediction(runs, fingerprint=OTHER_ARGUMENTS).duration_s
    others = [Fingerprint(code="c", arguments=str(n)) for n in range(12)]
    runs = [past_run(str(n), 3.0, fingerprint=each) for n, each in enumerate(others)]
    often = prediction(runs, fingerprint=OTHER_ARGUMENTS).duration_s
    assert once.p90 > 4 * once.p50
    assert often.p90 < 2 * often.p50


def test_the_same_code_is_scaled_by_epochs_and_says_so():
    past = past_run("812", 900, fingerprint=OTHER_ARGUMENTS, workload=workload(epochs=90.0))
    answer = prediction([past], record=workload(epochs=30.0))
    assert answer.basis == "same_code"
    assert answer.duration_s.p50 == pytest.approx(300)
    assert answer.explanation == "like job 812: same code, 30 instead of 90 epochs"
    assert answer.matches[0].job_id == "812"
    assert answer.matches[0].duration_s == 900


def test_runs_of_two_lengths_tell_start_up_from_training():
    runs = [
        past_run("1", 60 + 10 * 8, fingerprint=OTHER_ARGUMENTS, workload=workload(epochs=10.0)),
        past_run("2", 60 + 40 * 8, fingerprint=OTHER_ARGUMENTS, workload=workload(epochs=40.0)),
    ]
    answer = prediction(runs, record=workload(epochs=20.0))
    assert answer.duration_s.p50 == pytest.approx(60 + 20 * 8)


def test_start_up_seen_in_the_log_is_not_scaled():
    past = past_run(
        "1", 160, fingerprint=OTHER_ARGUMENTS, workload=workload(max_steps=10), startup_s=60
    )
    answer = prediction([past], record=workload(max_steps=20))
    assert answer.duration_s.p50 == pytest.approx(60 + 200)


def test_steps_count_before_epochs_unless_only_the_epochs_differ():
    past = past_run(
        "1", 100, fingerprint=OTHER_ARGUMENTS, workload=workload(max_steps=10, epochs=1.0)
    )
    by_steps = prediction([past], record=workload(max_steps=20, epochs=4.0))
    by_epochs = prediction([past], record=workload(max_steps=10, epochs=4.0))
    assert by_steps.duration_s.p50 == pytest.approx(200)
    assert by_epochs.duration_s.p50 == pytest.approx(400)


def test_further_lengths_are_less_sure():
    past = past_run("1", 100, fingerprint=OTHER_ARGUMENTS, workload=workload(epochs=10.0))
    near = prediction([past], record=workload(epochs=11.0)).duration_s
    far = prediction([past], record=workload(epochs=1000.0)).duration_s
    assert near.p90 / near.p50 < far.p90 / far.p50


def test_of_the_same_code_the_runs_that_are_most_alike_count():
    runs = [
        past_run("1", 100, fingerprint=OTHER_ARGUMENTS, workload=workload(model="small")),
        past_run("2", 9000, fingerprint=OTHER_ARGUMENTS, workload=workload(model="large")),
    ]
    assert prediction(runs, record=workload(model="small")).duration_s.p50 == near(100)
    assert prediction(runs, record=workload(model="large")).duration_s.p50 == near(9000)


def test_similar_workloads_of_other_code_are_wider_than_the_same_code():
    record = workload(model="gpt2", dataset="owt", epochs=2.0, framework="pytorch")
    similar = prediction(
        [past_run("1", 100, fingerprint=OTHER_CODE, workload=record)], record=record
    )
    same = prediction(
        [past_run("1", 100, fingerprint=OTHER_ARGUMENTS, workload=record)], record=record
    )
    assert (similar.basis, same.basis) == ("similar", "same_code")
    assert similar.duration_s.p90 > same.duration_s.p90
    assert similar.explanation == "like job 1: a similar workload, also 2 epochs"


def test_own_jobs_come_before_those_of_others():
    record = workload(model="gpt2", dataset="owt")
    runs = [
        past_run("own", 100, user="ann", workload=record, ended_at=10),
        past_run("theirs", 900, user="bob", workload=record, ended_at=20),
    ]
    own = prediction(runs, record=record)
    assert [each.job_id for each in own.matches] == ["own", "theirs"]
    assert own.duration_s.p50 == near(100, rel=0.3)
    others = prediction(runs, record=record, user="eve")
    assert others.matches[0].job_id == "theirs"
    assert others.explanation.startswith("like a run by another user:")


@pytest.mark.parametrize(("programs", "basis"), [(1, "none"), (2, "none"), (3, "history")])
def test_many_runs_of_few_programs_say_nothing_about_another(programs, basis):
    runs = [
        past_run(str(n), 0.1, fingerprint=Fingerprint(code=f"p{n % programs}", arguments="a"))
        for n in range(6)
    ]
    answer = prediction(runs, fingerprint=OTHER_CODE, record=workload(model="gpt2"), name="new")
    assert answer.basis == basis
    assert (answer.duration_s is None) == (basis == "none")


def test_what_resembles_nothing_falls_back_on_the_user_and_then_on_everybody():
    runs = [past_run(str(n), 50, user="bob", workload=workload(model="bert")) for n in range(5)]
    record = workload(model="gpt2", dataset="owt", framework="jax")
    everybody = prediction(runs, record=record)
    assert everybody.basis == "history"
    assert everybody.duration_s.p50 == 50
    assert "all users'" in everybody.explanation
    runs += [past_run(f"a{n}", 70 + n, name=f"{'xyz'[n]}") for n in range(3)]
    assert "ann's last 3 completed runs" in prediction(runs, record=record).explanation


def test_without_any_history_it_says_so():
    answer = prediction([], record=workload(epochs=3.0))
    assert (answer.basis, answer.duration_s, answer.outcome) == ("none", None, None)
    assert answer.explanation == "no past run resembles it"


def test_failed_and_cancelled_runs_count_as_ends_but_not_as_durations():
    states = [JobState.COMPLETED] * 2 + [JobState.FAILED] + [JobState.CANCELLED]
    runs = [
        past_run(str(n), 100 if state is JobState.COMPLETED else 5, state=state, fingerprint=SAME)
        for n, state in enumerate(states)
    ]
    answer = prediction(runs)
    assert answer.duration_s.p50 == 100
    assert answer.outcome.completed > answer.outcome.failed == answer.outcome.cancelled > 0
    assert "2 of 4 did not complete" in answer.explanation


def test_many_early_ends_pull_the_lower_quantile():
    runs = [past_run(str(n), 100, fingerprint=SAME) for n in range(12)]
    runs += [past_run(f"f{n}", 1, state=JobState.FAILED, fingerprint=SAME) for n in range(8)]
    assert prediction(runs).duration_s.p10 == 1


def test_a_tier_with_a_completed_run_beats_a_closer_one_that_only_failed():
    runs = [
        past_run("1", 3, state=JobState.FAILED, fingerprint=SAME),
        past_run("2", 100, fingerprint=OTHER_ARGUMENTS),
    ]
    assert prediction(runs).basis == "same_code"
    only_failed = prediction(runs[:1])
    assert (only_failed.basis, only_failed.duration_s) == ("none", None)
    assert only_failed.explanation == "the run it resembles failed"
    cancelled = prediction([past_run("1", 3, state=JobState.CANCELLED, fingerprint=SAME)])
    assert cancelled.basis == "identical"
    assert "none of them completed, so this is when they were ended" in cancelled.explanation


def test_runs_that_all_failed_at_once_are_not_the_usual_length():
    failed = [past_run(f"f{n}", 2, state=JobState.FAILED, fingerprint=SAME) for n in range(3)]
    others = [past_run(f"o{n}", 3600, name=f"other{n}") for n in range(20)]
    cohorts = CohortModel()
    cohorts.learn(ended_job(run) for run in others)
    history = MemoryHistory([*failed, *others])
    asked = target(submitted_at=None)

    def answer(site_model):
        return predict(history, asked, SAME, Workload(), site_model=site_model, now=1e6)

    for said in (answer(SiteModel()), answer(SiteModel(cohorts))):
        assert said.duration_s.p10 < 5
        assert said.duration_s.p50 == pytest.approx(3600, rel=0.2)
        assert said.explanation.startswith("the 3 runs it resembles failed; ")


def test_nothing_is_predicted_from_what_ended_after_the_submission():
    runs = [
        past_run("past", 100, fingerprint=SAME, ended_at=1000),
        past_run("future", 900, fingerprint=SAME, ended_at=3000),
    ]
    answer = prediction(runs, submitted_at=2000.0)
    assert [each.job_id for each in answer.matches] == ["past"]
    assert prediction(runs, submitted_at=500.0).basis == "none"


def test_jobs_that_never_ran_say_nothing():
    assert (
        prediction([past_run("1", 0, state=JobState.CANCELLED, fingerprint=SAME)]).basis == "none"
    )


@given(st.lists(st.floats(0.001, 1e9), min_size=1), st.floats(0, 3))
def test_a_spread_is_always_in_order(values, expected):
    spread = around(quantile(values, 0.5), values, expected=expected)
    assert 0 <= spread.p10 <= spread.p50 <= spread.p90 < math.inf


def test_what_runs_like_it_used_is_told():
    runs = [
        replace(past_run(str(n), 100, fingerprint=SAME), gpu_memory_mb=memory, gpu_utilization=0.5)
        for n, memory in enumerate((7000.0, 7200.0, 7100.0))
    ]
    answer = prediction([*runs, past_run("9", 100, fingerprint=SAME)])
    assert (answer.gpu_memory_mb, answer.gpu_utilization) == (7100.0, 0.5)
    assert prediction([past_run("9", 100, fingerprint=SAME)]).gpu_memory_mb is None


def test_a_job_that_stops_itself_takes_no_longer():
    runs = [past_run("1", 5000, fingerprint=OTHER_ARGUMENTS, workload=workload(epochs=1.0))]
    spread = prediction(runs, record=workload(epochs=10.0, max_time_s=3600.0)).duration_s
    assert spread.p50 == spread.p90 == 3600


def test_other_gpus_are_said_and_reckoned_with():
    record = workload(model="gpt2", dataset="owt", gpus=1)
    past = past_run("1", 800, workload=record)
    past = replace(past, job=replace(past.job, request=Request(gpus=1, gpu_type="a100")))
    answer = prediction(
        [past],
        record=workload(model="gpt2", dataset="owt", gpus=8),
        request=Request(gpus=8, gpu_type="h100"),
    )
    assert 50 < answer.duration_s.p50 < 120
    assert "8 instead of 1 GPUs, h100 instead of a100" in answer.explanation


def test_a_cold_start_reckons_with_arithmetic_and_is_honestly_wide():
    stated = {"model": "gpt2", "model_parameters": 124_000_000, "sequence_length": 1024}
    record = workload(max_steps=600_000, batch_size=60, gpus=8, **stated)
    answer = prediction([], record=record, request=Request(gpus=8, gpu_type="a100"))
    assert answer.basis == "prior"
    seconds = 6 * 124e6 * 600_000 * 480 * 1024 / (8 * 312e12 * 0.3)
    assert answer.duration_s.p50 == near(seconds, rel=0.01)
    assert answer.duration_s.p90 / answer.duration_s.p10 >= 16
    assert prediction([], record=workload(max_steps=600_000)).basis == "none"


def test_runs_that_do_not_resemble_a_job_do_not_make_it_certain():
    """Five runs of another program that took the same time to a minute."""
    runs = [past_run(str(n), 3600.0 + 10 * n, workload=workload(model="bert")) for n in range(5)]
    found = prediction(runs, record=workload(model="gpt2", dataset="owt", framework="jax"))
    assert found.basis == "history"
    assert found.duration_s.p90 > 1.5 * found.duration_s.p50
    assert found.duration_s.p10 < found.duration_s.p50 / 1.5


def test_a_job_whose_code_uses_one_of_its_gpus_is_predicted_for_one():
    """Runs of other code that used all 32 are scaled to one, those of its own are not."""
    stated = {"model": "gpt2", "dataset": "owt", "max_steps": 1000, "gpus": 32}
    record, request = workload(**stated), Request(gpus=32)
    shared = [past_run(str(n), 100, fingerprint=OTHER_CODE, workload=record) for n in range(3)]
    one = replace(SAME, one_gpu=True)
    alone = prediction(shared, fingerprint=one, record=record, request=request)
    spread = prediction(shared, fingerprint=SAME, record=record, request=request)
    assert spread.duration_s.p50 == near(100)
    assert "GPU" not in spread.explanation
    assert alone.duration_s.p50 > 800
    assert "1 instead of 32 GPUs" in alone.explanation
    assert "for the one GPU that its code would use, not 32" in alone.explanation
    before = past_run("9", 2000, fingerprint=replace(one, arguments="b"), workload=record)
    again = prediction([*shared, before], fingerprint=one, record=record, request=request)
    assert again.basis == "same_code"
    assert again.duration_s.p50 == near(2000)
