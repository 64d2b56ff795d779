"""A trace with workload still is that trace, and says which part of it is made up."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.model import REASONS, BadInput, JobState
from schedmate.simulator.synthetic import WorkloadPhysics, bank, draw_workload
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.columns import STATES, Coded, columns_of
from schedmate.simulator.traces.synthetic import synthetic

COMPLETED = STATES.index(JobState.COMPLETED)


def trace(jobs=300, seed=0):
    return columns_of(synthetic(jobs, gpus=64, seed=seed).jobs)


def job(number, duration, *, user="ann", gpus=1, status=JobState.COMPLETED):
    return TraceJob(
        job_id=str(number),
        user=user,
        submit_time=float(number),
        duration=duration,
        gpus=gpus,
        status=status,
    )


durations = st.floats(0.0, 1e7)
statuses = st.sampled_from([state for state in STATES if state.ended])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(durations, st.sampled_from([1, 2, 8, 64]), statuses, st.sampled_from("abc")),
        max_size=25,
    ),
    st.integers(0, 3),
)
def test_a_job_takes_the_traces_own_time_to_its_end_and_was_meant_to_take_longer_else(rows, seed):
    columns = columns_of(
        [job(n, d, gpus=g, status=s, user=u) for n, (d, g, s, u) in enumerate(rows)]
    )

    workload = draw_workload(columns, seed=seed)

    ended = columns.status == COMPLETED
    together = workload.startup_s + workload.submission.length * workload.unit_s
    assert np.array_equal(workload.planned_s[ended], columns.duration[ended])
    np.testing.assert_allclose(together, workload.planned_s, rtol=1e-9, atol=2e-3)
    assert (workload.planned_s[~ended] > columns.duration[~ended]).all()
    assert (workload.submission.length >= 1).all()
    assert (workload.hang_s <= columns.duration).all()


def test_the_same_seed_gives_the_same_meaning_and_another_another():
    columns = trace()

    one, same, other = (draw_workload(columns, seed=seed) for seed in (1, 1, 2))

    for field in fields(one.submission):
        mine, theirs = (getattr(each.submission, field.name) for each in (one, same))
        assert np.array_equal(mine, theirs, equal_nan=True)
    assert one.names.words == same.names.words
    assert not np.array_equal(one.submission.project, other.submission.project)


def test_what_comes_later_changes_nothing_before():
    columns = trace()
    reversed_later = columns.duration.copy()
    reversed_later[200:] = reversed_later[200:][::-1]

    one, other = (
        draw_workload(columns, seed=1),
        draw_workload(replace(columns, duration=reversed_later), seed=1),
    )

    assert np.array_equal(one.submission.length[:200], other.submission.length[:200])
    assert np.array_equal(one.planned_s[:200], other.planned_s[:200])


@pytest.mark.parametrize("explained", [0.0, 0.2, 0.5, 0.9])
def test_numbers_explain_the_stated_share_of_the_variance_with_slope_one(explained):
    columns = trace(4000)

    stated = np.log(draw_workload(columns, seed=1, explained=explained).stated_s)

    logs = np.log(np.maximum(columns.duration, 1.0))
    assert np.corrcoef(stated, logs)[0, 1] ** 2 == pytest.approx(explained, abs=0.04)
    if explained:
        assert np.polyfit(stated, logs, 1)[0] == pytest.approx(1.0, abs=0.1)


def test_beside_their_share_numbers_tell_nothing_of_how_long_jobs_take_or_how_they_end():
    """What of the stated time is not explained by the run time is chance: in no relation to the
    user, to what the user ran before, to GPUs or to the end."""
    columns = trace(4000)
    logs = np.log(np.maximum(columns.duration, 1.0))

    stated = np.log(draw_workload(columns, seed=1, explained=0.5).stated_s)

    chance = stated - 0.5 * logs
    before = np.concatenate([[0.0], logs[:-1]])
    others = [before, np.log(columns.gpus), columns.status == COMPLETED, columns.user.codes]
    for other in others:
        assert abs(np.corrcoef(chance, other.astype(float))[0, 1]) < 0.06
    assert np.corrcoef(chance[1:], chance[:-1])[0, 1] < 0.06


def test_projects_and_numbers_do_not_depend_on_how_jobs_end():
    columns = trace(400)
    all_end_well = replace(columns, status=np.full(400, COMPLETED))

    one, other = (
        draw_workload(each, seed=1, edits_after_failure=0.2).submission
        for each in (columns, all_end_well)
    )

    assert np.array_equal(one.project, other.project)
    assert np.array_equal(one.length, other.length)


def test_who_never_comes_back_has_a_new_project_every_time():
    work = draw_workload(trace(), seed=1, resubmission=0.0, own_copies=1.0).submission

    assert len(set(work.copy.tolist())) == 300
    assert not work.version.any()


def test_who_comes_back_has_few_projects():
    columns = columns_of([job(number, 600.0 + number) for number in range(300)])

    work = draw_workload(columns, seed=1, own_copies=1.0).submission

    assert len(set(work.copy.tolist())) < 60


def test_without_edits_code_stays_as_it_is():
    work = draw_workload(trace(), seed=1, edits=0.0, edits_after_failure=0.0).submission

    assert not work.version.any()


def test_where_numbers_explain_all_the_same_time_mostly_means_the_same_numbers():
    columns = columns_of([job(number, 3600.0) for number in range(200)])

    work = draw_workload(
        columns, seed=1, batch_changes=0.0, resubmission=1.0, explained=1.0
    ).submission

    numbers = set(zip(work.copy.tolist(), work.length.tolist(), strict=True))
    assert len(numbers) < 40


def test_a_wrong_record_states_the_usual_length_and_an_unread_one_none():
    columns = trace()

    wrong = draw_workload(columns, seed=1, wrong_records=1.0, unread=0.0).submission
    unread = draw_workload(columns, seed=1, unread=1.0).submission
    right = draw_workload(columns, seed=1, wrong_records=0.0, unread=0.0).submission

    usual = np.array([project.length for project in bank()])[wrong.project]
    assert np.array_equal(wrong.read_length, usual)
    assert np.isnan(unread.read_length).all()
    assert np.array_equal(right.read_length, right.length)


@pytest.mark.parametrize("name", ["resubmission", "edits", "wrong_records", "explained"])
def test_a_share_beyond_its_bounds_is_refused_in_a_sentence(name):
    with pytest.raises(BadInput, match=f"{name} is a share from 0 to 1"):
        draw_workload(trace(5), seed=1, **{name: 1.5})


def test_reasons_are_of_the_taxonomy_and_fit_how_jobs_ended():
    columns = trace(2000)

    workload = draw_workload(columns, seed=1)

    reasons = np.array([workload.reason[at] for at in range(len(columns))])
    assert set(reasons) <= set(REASONS)
    assert set(reasons[columns.status == COMPLETED]) == {"not_failed"}
    assert "not_failed" not in reasons[columns.status != COMPLETED]
    assert np.isinf(workload.fails_at_s[columns.status == COMPLETED]).all()
    failed = columns.status == STATES.index(JobState.FAILED)
    users = np.array([REASONS[each].category == "user" for each in reasons])
    assert 0.5 < users[failed].mean() < 0.8
    assert (workload.hang_s[reasons == "hang"] > 0).all()


def test_names_are_the_traces_own_where_it_has_any():
    columns = trace(50)
    named = replace(columns, name=Coded.of(["mine"] * 50))

    assert draw_workload(named, seed=1).names.words == ("mine",)
    seen = draw_workload(columns, seed=1).visible_columns(columns)
    assert len(seen.name.words) > 3


def test_no_jobs_have_no_meaning():
    assert len(draw_workload(columns_of([]), seed=1).planned_s) == 0


class TestTogether:
    def test_measured_pairs_slow_down_as_gavel_saw_them(self):
        workload = draw_workload(trace(), seed=1)
        place = {project.gavel: at for at, project in enumerate(bank()) if project.gavel}
        work = replace(workload.submission, project=np.full(300, place["CycleGAN"]))
        work.project[0] = place["A3C"]
        physics = WorkloadPhysics(replace(workload, submission=work), [1] * 300)

        assert physics.pace(0, 1, 1, scattered=False) == 0.64
        assert physics.pace(1, 1, 0, scattered=False) == 0.71
        assert physics.pace(1, 1, None, scattered=False) == 1.0

    def test_what_was_not_measured_shares_the_gpus_time(self):
        workload = draw_workload(trace(), seed=1)
        place = next(at for at, project in enumerate(bank()) if project.gavel is None)
        work = replace(workload.submission, project=np.full(300, place))
        physics = WorkloadPhysics(
            replace(workload, submission=work, utilization=np.full(300, 0.8)), [1] * 300
        )

        assert physics.pace(0, 1, 1, scattered=False) == pytest.approx(1 / 1.6)

    def test_more_gpus_help_as_far_as_the_project_scales(self):
        workload = draw_workload(trace(), seed=1)
        physics = WorkloadPhysics(replace(workload, gpu_exponent=np.full(300, 0.5)), [4] * 300)

        assert physics.pace(0, 16, None, scattered=False) == pytest.approx(2.0)
        assert physics.pace(0, 4, None, scattered=False) == 1.0
        assert physics.pace(0, 4, None, scattered=True) < 1.0
