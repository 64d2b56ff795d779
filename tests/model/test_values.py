from __future__ import annotations

import dataclasses
import math
import types

import pytest

import schedmate.model
from schedmate.model import Action, Job, JobState, SchedMateError, Spread
from schedmate.model import errors as model_errors
from schedmate.testing.builders import a_job, a_past_run


def test_all_is_exactly_the_public_names():
    """Each with the module that defines it; a package that loads names lazily has them all."""
    for name in schedmate.model.__all__:
        assert getattr(schedmate.model, name) is not None
    loaded = {
        name
        for name, value in vars(schedmate.model).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }

    assert loaded - {"TYPE_CHECKING", "lazily"} == set(schedmate.model.__all__)
    assert schedmate.model.__all__ == sorted(schedmate.model.__all__, key=_ruffs_order)


def _ruffs_order(name: str) -> tuple[bool, str]:
    return not name.isupper(), name


def test_every_public_value_is_frozen_and_has_no_dict():
    kinds = [
        kind
        for name in schedmate.model.__all__
        if dataclasses.is_dataclass(kind := getattr(schedmate.model, name))
    ]

    assert kinds
    for kind in kinds:
        assert kind.__dataclass_params__.frozen, kind
        assert "__slots__" in vars(kind), kind


@pytest.mark.parametrize(
    "times",
    [(2, 1, 3), (1, 3, 2), (-1, 0, 1), (math.nan, 1, 2), (0, 1, math.nan), (0, 1, math.inf)],
)
def test_a_spread_refuses_disorder(times):
    with pytest.raises(ValueError, match="not a spread of times"):
        Spread(*times)


def test_a_spread_may_be_certain():
    assert Spread(5, 5, 5).p90 == 5


@pytest.mark.parametrize(
    ("state", "ended", "failed"),
    [
        ("PENDING", False, False),
        ("RUNNING", False, False),
        ("COMPLETED", True, False),
        ("CANCELLED", True, False),
        ("FAILED", True, True),
        ("TIMEOUT", True, True),
        ("NODE_FAIL", True, True),
        ("OUT_OF_MEMORY", True, True),
        ("PREEMPTED", True, True),
    ],
)
def test_a_state_knows_whether_it_is_an_end_and_a_failure(state, ended, failed):
    assert (JobState(state).ended, JobState(state).failed) == (ended, failed)


def test_the_run_time_is_known_once_the_run_has_ended():
    assert a_job(state=JobState.RUNNING).run_time_s is None
    assert a_job(state=JobState.COMPLETED, start_time=10.0, end_time=25.0).run_time_s == 15
    assert a_job(state=JobState.COMPLETED, start_time=10.0, end_time=9.0).run_time_s == 0


def test_a_job_that_ended_before_it_ran_took_no_time():
    job = a_job(state=JobState.CANCELLED, start_time=None)

    assert a_past_run(job=job).duration_s == 0


def _nice(value: float | None, *, attempt: int = 0) -> Action:
    return Action(kind="set_nice", job_id="7", attempt=attempt, value=value, why="")


def test_actions_with_another_meaning_have_another_key():
    keys = [
        _nice(None).key,
        _nice(1).key,
        _nice(1_000_001).key,
        _nice(1_000_002).key,
        _nice(1, attempt=1).key,
        Action(kind="requeue", job_id="7", attempt=0, why="").key,
    ]

    assert len(set(keys)) == len(keys)
    assert _nice(30).key == _nice(30.0).key == "7:0:set_nice:30"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("SchedMateError", 1),
        ("BadInput", 2),
        ("NotFound", 3),
        ("SchedulerError", 1),
        ("SchedulerUnreachable", 4),
        ("ModelError", 1),
        ("ModelUnavailable", 5),
        ("ModelTooSlow", 1),
        ("BudgetSpent", 1),
        ("BadAnswer", 1),
        ("NotThereYet", 1),
    ],
)
def test_an_error_ends_the_program_with_its_code(name, code):
    kind = getattr(model_errors, name)

    assert issubclass(kind, SchedMateError)
    assert kind.exit_code == code
    assert name in (model_errors.__doc__ or "")


def test_values_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        a_job().state = JobState.RUNNING
    assert isinstance(a_job(), Job)


def test_how_likely_a_job_ends_soon_follows_its_prediction_and_how_long_it_has_run():
    spread = Spread(1800, 3600, 7200)

    assert spread.ends_within(3600) == pytest.approx(0.5, abs=0.02)
    assert spread.ends_within(3600, 3600) > spread.ends_within(3600)
    assert 0 < spread.ends_within(3600, 1e6) < 0.1  # the prediction was far off
    assert Spread(60, 3600, 7200).ends_within(120) > 0.1 > spread.ends_within(120)  # early ends


def test_the_least_time_for_an_end_is_what_is_left_of_a_sure_one_and_grows_with_an_outlived_one():
    sure, vague = Spread(3500, 3600, 3700), Spread(60, 3600, 90_000)

    assert sure.gittins_s(0) == pytest.approx(3600, rel=0.1)
    assert sure.gittins_s(1800) == pytest.approx(1800, rel=0.15)
    assert vague.gittins_s(0) < 600  # it may well end soon
    ranks = [vague.gittins_s(since) for since in (0, 3600, 36_000, 360_000)]
    assert ranks == sorted(ranks)
    assert 0 < Spread(5, 5, 5).gittins_s(1e6) < math.inf
