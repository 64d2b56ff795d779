"""A limit of ours never ends a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.core import (
    Act,
    DecisionEngine,
    JobAdvised,
    JobSeen,
    Past,
    ProgressSeen,
    Stopping,
    TimeLimits,
)
from schedmate.model import JobState, Request, Spread
from schedmate.policies import ordering
from schedmate.testing.builders import a_job, a_prediction, a_progress, an_advice

DAY = 86400.0


def an_engine(**rule):
    return DecisionEngine(ordering("fifo"), time_limits=TimeLimits(**{"lower": True, **rule}))


def waiting(limit_s=DAY, **parts):
    return a_job(request=Request(time_limit_s=limit_s), **parts)


def running(limit_s, start=2000.0, **parts):
    request = Request(time_limit_s=limit_s)
    return a_job(state=JobState.RUNNING, start_time=start, request=request, **parts)


def limits_of(instructions):
    actions = [each.action for each in instructions if isinstance(each, Act)]
    return [each for each in actions if each.kind == "set_time_limit"]


def lowered(engine, limit_s=DAY, p50=3600.0):
    engine.handle(JobSeen(0, waiting(limit_s)))
    [action] = limits_of(engine.handle(JobAdvised(0, "1", an_advice(p50))))
    return action


def test_a_waiting_job_gets_a_limit_that_hardly_any_run_exceeds():
    action = lowered(an_engine())

    assert 2 * 3600 < action.value < DAY
    assert action.value % 60 == 0
    assert (action.reason.code, action.reason.user_limit_s) == ("limit_from_prediction", DAY)
    assert action.reason.basis == a_prediction().basis


@pytest.mark.parametrize(
    ("p90", "minutes"),
    [
        (7200.0, 330),  # 3600 s * 2 ** (2.3263 / 1.2816) * 1.25, and a fifth of the limit to spare
        (3600.0, 94),  # 3600 s * 1.25
    ],
)
def test_a_lowered_limit_leaves_the_guard_to_spare(p90, minutes):
    prediction = a_prediction(duration_s=Spread(1800.0, 3600.0, p90))
    assert TimeLimits(lower=True).lowered(waiting(), prediction) == 60 * minutes


def test_no_limit_is_lowered_below_what_a_short_run_may_need():
    assert TimeLimits(lower=True).lowered(waiting(), a_prediction(1.0)) == 60 * 38


@pytest.mark.parametrize(
    ("limit_s", "advice"),
    [
        (DAY, an_advice(None)),
        (None, an_advice(3600.0)),
        (4 * 3600.0, an_advice(3600.0)),
        (DAY, an_advice(prediction=a_prediction(3600.0, basis="history"))),
    ],
    ids=["no prediction", "no limit", "hardly less", "no known code"],
)
def test_others_keep_their_own(limit_s, advice):
    engine = an_engine()
    engine.handle(JobSeen(0, waiting(limit_s)))

    assert limits_of(engine.handle(JobAdvised(0, "1", advice))) == []


def test_nothing_is_lowered_where_the_site_does_not_allow_it():
    engine = an_engine(lower=False)
    engine.handle(JobSeen(0, waiting()))

    assert limits_of(engine.handle(JobAdvised(0, "1", an_advice(3600.0)))) == []


def test_the_user_gets_the_limit_back_when_time_runs_out():
    engine = an_engine()
    ours = lowered(engine).value
    assert limits_of(engine.handle(JobSeen(2000, running(ours)))) == []

    [back] = limits_of(engine.handle(JobSeen(2000 + 0.9 * ours, running(ours))))

    assert (back.value, back.reason.code) == (DAY, "limit_too_short")
    at = 2000 + 0.9 * ours
    assert limits_of(engine.handle(JobSeen(at + 30, running(ours)))) == []
    assert limits_of(engine.handle(JobSeen(at + 60, running(ours)))) == [back], "still lowered"
    assert limits_of(engine.handle(JobSeen(at + 200, running(DAY)))) == []


def test_the_user_gets_it_back_as_soon_as_the_log_shows_that_it_is_needed():
    engine = an_engine()
    ours = lowered(engine).value
    engine.handle(JobSeen(2000, running(ours)))
    in_time = a_progress(eta_s=Spread(10, 20, 30))
    late = a_progress(eta_s=Spread(ours, ours, ours))

    assert limits_of(engine.handle(ProgressSeen(2100, "1", in_time))) == []
    assert [each.value for each in limits_of(engine.handle(ProgressSeen(2100, "1", late)))] == [DAY]


def test_an_expected_end_counts_from_when_it_was_expected():
    """A look half a run later does not count the remaining time anew."""
    engine = an_engine()
    ours = lowered(engine).value
    half = 0.35 * ours
    engine.handle(JobSeen(2000, running(ours)))
    on_time = a_progress(eta_s=Spread(half, half, half))
    assert not limits_of(engine.handle(ProgressSeen(2000 + half, "1", on_time)))

    assert not limits_of(engine.handle(JobSeen(2000 + 1.9 * half, running(ours))))


def test_an_end_that_was_expected_and_is_past_counts_no_longer():
    rule, job = TimeLimits(guard_s=600.0), running(7200.0, start=0.0)
    assert not rule.too_short(job, 7200.0, 5000.0, 5500.0)
    assert rule.too_short(job, 7200.0, 6000.0, 5500.0)
    assert rule.too_short(job, 7200.0, 100.0, 6000.0)


def test_a_limit_that_somebody_changed_is_theirs():
    engine = an_engine()
    ours = lowered(engine).value
    engine.handle(JobSeen(2000, running(ours / 2)))

    assert limits_of(engine.handle(JobSeen(2000 + 0.95 * ours, running(ours / 2)))) == []


def test_an_engine_that_was_not_there_gives_it_back_too():
    engine = an_engine()
    past = Past(user_limit_s=DAY, our_limit_s=7200.0)
    engine.handle(JobSeen(2000, running(7200.0), past))

    assert [each.value for each in limits_of(engine.handle(JobSeen(9000, running(7200.0))))] == [
        DAY
    ]


@given(
    p50=st.floats(1.0, 1e6),
    growth=st.floats(1.0, 20.0),
    limit_s=st.floats(600.0, 1e7),
    looks_every=st.floats(1.0, 120.0),
)
def test_no_run_ends_by_a_limit_of_ours(p50, growth, limit_s, looks_every):
    """Whatever is predicted, a daemon that looks every two minutes gives the limit back in time."""
    engine = an_engine()
    engine.handle(JobSeen(0, waiting(limit_s)))
    spread = Spread(p50 / growth, p50, p50 * growth)
    advice = an_advice(prediction=a_prediction(duration_s=spread))
    for action in limits_of(engine.handle(JobAdvised(0, "1", advice))):
        assert action.value < limit_s
        deadline = 2000 + action.value
        last_look = deadline - looks_every
        engine.handle(JobSeen(2000, running(action.value)))
        [back] = limits_of(engine.handle(JobSeen(last_look, running(action.value))))
        assert back.value == limit_s


@pytest.mark.parametrize(
    ("p90", "limit_s", "planned"),
    [
        (3601.0, DAY, 61 * 60.0),
        (1.0, DAY, 60.0),
        (3600.0, 4500.0, None),  # not worth it
        (3600.0, 4501.0, 3600.0),
        (3600.0, None, None),
    ],
)
def test_what_backfill_may_plan_with(p90, limit_s, planned):
    prediction = a_prediction(duration_s=Spread(p90 / 4, p90 / 2, p90))
    assert TimeLimits(soft=True).planned(waiting(limit_s), prediction) == planned
    assert TimeLimits().planned(waiting(limit_s), prediction) is None
    assert TimeLimits(soft=True).planned(waiting(limit_s), None) is None


def test_a_soft_limit_is_planned_with_once_and_never_lowered():
    engine, job = an_engine(soft=True), waiting(soft_limit=True)
    engine.handle(JobSeen(0, job))
    found = [*engine.handle(JobAdvised(0, "1", an_advice(3600.0))), *engine.handle(JobSeen(9, job))]
    [action] = [one.action for one in found if isinstance(one, Act) and "time" in one.action.kind]
    assert (action.kind, action.reason.code) == ("set_time_min", "plan_from_prediction")
    assert action.value == TimeLimits(soft=True).planned(job, a_prediction(3600.0))
    assert (action.reason.basis, action.reason.user_limit_s) == (a_prediction().basis, DAY)


def test_nothing_is_lowered_of_a_job_that_runs_already():
    engine = an_engine()
    engine.handle(JobSeen(0, running(DAY)))
    assert limits_of(engine.handle(JobAdvised(0, "1", an_advice(3600.0)))) == []


def test_a_limit_is_lowered_once():
    engine = an_engine()
    lowered(engine)

    assert limits_of(engine.handle(JobAdvised(1, "1", an_advice(60.0)))) == []


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.RUNNING])
def test_a_daemon_that_stops_gives_back_what_nothing_would_give_back_in_time(state):
    engine = an_engine()
    ours = lowered(engine).value
    if state is JobState.RUNNING:
        engine.handle(JobSeen(2000, running(ours)))

    [back] = limits_of(engine.handle(Stopping(2001)))

    assert (back.value, back.reason.code) == (DAY, "limit_unattended")


def test_a_daemon_that_stops_leaves_all_other_limits_alone():
    engine = an_engine()
    ours = lowered(engine).value
    engine.handle(JobSeen(0, waiting(id="2")))
    engine.handle(JobSeen(2000, running(ours / 2)))

    assert engine.handle(Stopping(2001)) == []

    engine.handle(
        JobSeen(2002, a_job(state=JobState.COMPLETED, request=Request(time_limit_s=ours)))
    )
    assert engine.handle(Stopping(2003)) == []
