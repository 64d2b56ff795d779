"""No job is overtaken because of SchedMate for longer than the bound."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.config import FairnessSettings
from schedmate.core import (
    Act,
    DecisionEngine,
    DecisionLimits,
    FairnessLimits,
    JobAdvised,
    JobDiagnosed,
    JobSeen,
    NiceHistory,
    Past,
    Scope,
)
from schedmate.model import Action, ActionRecord, DecisionReason, JobState
from schedmate.policies import Fifo, ordering
from schedmate.simulator import columns_of
from schedmate.simulator.engine.cluster import GpuPool, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.estimators.base import Estimates, oracle
from schedmate.simulator.estimators.predictor import Fixed
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.shell.shell import SimulatedDaemon
from schedmate.testing.builders import a_diagnosis, a_job, a_trace_job, an_advice

HOUR = 3600.0
LOOK_S = 10.0


MOST = 1000
FIRST = -MOST
"""Where its scheduler alone would put it, among all that are ordered."""


def an_engine(hours=6.0, times=3.0, **parts):
    limits = DecisionLimits(
        fairness=FairnessLimits(late_hours=0, hours=hours, times=times), **parts
    )
    return DecisionEngine(ordering("sjf"), limits)


LEAVES_SOME = Scope(exclude_users=frozenset({"somebody else"}))


def waiting(**parts):
    return a_job(**{"most_nice": MOST, "nice_an_hour": 6.0, "submit_time": 0.0, **parts})


def actions(instructions):
    return [one.action for one in instructions if isinstance(one, Act)]


def placed(engine, job, p50=60.0):
    """The number of a job that was seen and read at once."""
    engine.handle(JobSeen(job.submit_time, job))
    [place] = actions(engine.handle(JobAdvised(job.submit_time, job.id, an_advice(p50))))
    return int(place.value)


@pytest.mark.parametrize(("p50", "bound"), [(60.0, 6 * HOUR), (43200.0, 72 * HOUR)])
def test_its_number_is_taken_back_after_the_bound(p50, bound):
    engine = an_engine()
    number = placed(engine, waiting(), p50)
    assert number > FIRST
    assert engine.due("1") == bound

    assert actions(engine.handle(JobSeen(bound - 1, waiting(nice=number)))) == []
    [back] = actions(engine.handle(JobSeen(bound, waiting(nice=number))))

    assert (back.kind, back.value, back.reason.code) == ("set_nice", FIRST, "overtaken_enough")
    assert not back.provisional
    assert actions(engine.handle(JobSeen(bound + 1, waiting(nice=FIRST)))) == []


def test_a_job_that_waited_before_we_came_is_not_set_back():
    engine = an_engine(hours=1.0, times=0.0)
    engine.handle(JobSeen(HOUR, waiting()))
    [first] = actions(engine.handle(JobAdvised(HOUR, "1", an_advice(60.0))))
    assert (first.value, first.reason.code) == (FIRST, "overtaken_enough")


def test_a_longer_prediction_does_not_set_it_back_again():
    engine = an_engine(hours=1.0)
    engine.handle(JobSeen(HOUR, waiting()))
    engine.handle(JobAdvised(HOUR, "1", an_advice(60.0)))
    assert actions(engine.handle(JobAdvised(2 * HOUR, "1", an_advice(86400.0)))) == []


def test_the_bound_counts_from_when_the_job_could_start():
    engine = an_engine()
    placed(engine, waiting(eligible_time=HOUR))
    assert engine.due("1") == 7 * HOUR


@pytest.mark.parametrize("nice", [7, 0])
def test_a_number_that_its_owner_set_after_ours_is_what_is_left_after_the_bound(nice):
    engine = an_engine()
    number = placed(engine, waiting())
    engine.handle(JobSeen(1.0, waiting(nice=number)))
    engine.handle(JobSeen(2.0, waiting(nice=nice)))

    [back] = actions(engine.handle(JobSeen(9 * HOUR, waiting(nice=number + nice))))
    assert back.value == nice + FIRST


def test_a_restarted_daemon_takes_it_back_too():
    reason = DecisionReason(code="shorter_first", lift=MOST)
    done = Action(kind="set_nice", job_id="1", attempt=0, why="", value=-300.0, reason=reason)
    history = NiceHistory.of([ActionRecord(action=done, state="done", at=0.0)], 0)

    engine = an_engine()
    found = engine.handle(JobSeen(7 * HOUR, waiting(nice=-300), Past(nice=history)))

    assert actions(found) == []
    [back] = actions(engine.handle(JobAdvised(7 * HOUR, "1", an_advice(60.0))))
    assert back.value == FIRST


def test_a_job_whose_priority_sank_to_the_floor_is_lifted_off_it():
    engine = an_engine(scope=LEAVES_SOME)
    number = placed(engine, waiting())
    sunk = waiting(nice=number, priority=1)

    [first] = actions(engine.handle(JobSeen(60.0, sunk)))
    assert (first.value, first.reason.code) == (number // 2, "at_the_floor")
    higher = replace(sunk, nice=number // 2, priority=9)
    assert actions(engine.handle(JobSeen(90.0, higher))) == []


# the age that a requeue loses


def requeued(engine, *, wait_s, number, resets=True, restarts=0):
    """The job waits, runs, fails and waits again; the actions about its next wait."""
    submitted = engine.known["1"].job.submit_time
    begun = submitted + wait_s
    parts = {"submit_time": submitted, "restarts": restarts, "nice": number, "most_nice": None}
    failed = waiting(state=JobState.NODE_FAIL, start_time=begun, end_time=begun + 60, **parts)
    engine.handle(JobSeen(begun + 60, failed))
    diagnosis = a_diagnosis(("node_failure", "storage_io")[restarts])
    [requeue] = actions(engine.handle(JobDiagnosed(begun + 61, "1", restarts, diagnosis)))
    assert requeue.kind == "requeue"
    again = waiting(
        submit_time=begun + 70 if resets else submitted, restarts=restarts + 1, nice=number
    )
    return requeue, actions(engine.handle(JobSeen(begun + 71, again)))


def test_the_age_that_a_requeue_loses_is_made_up_for():
    engine = an_engine()
    number = placed(engine, waiting())

    requeue, [made_up] = requeued(engine, wait_s=2 * HOUR, number=number)

    assert requeue.reason.waited_s == 2 * HOUR
    assert made_up.value == number - 12, "two hours at six numbers an hour"
    assert (made_up.reason.code, made_up.reason.waited_s) == ("age_made_up", 2 * HOUR)
    assert engine.due("1") == pytest.approx(2 * HOUR + 70 + 4 * HOUR), "both waits count"


def test_it_adds_up_over_requeues_and_stays_when_its_place_is_taken_back():
    engine = an_engine()
    number = placed(engine, waiting())
    requeued(engine, wait_s=2 * HOUR, number=number)

    requeue, [made_up] = requeued(engine, wait_s=HOUR, number=number - 12, restarts=1)

    assert (requeue.reason.waited_s, made_up.value) == (3 * HOUR, number - 18)
    late = engine.known["1"].job
    [back] = actions(engine.handle(JobSeen(late.submit_time + 3 * HOUR, late)))
    assert (back.value, back.reason.code) == (FIRST - 18, "overtaken_enough")


def test_a_scheduler_that_keeps_the_age_is_left_as_it_is():
    engine = an_engine()
    number = placed(engine, waiting())
    assert requeued(engine, wait_s=2 * HOUR, number=number, resets=False)[1] == []


def test_where_age_has_no_weight_nothing_is_made_up():
    engine = an_engine()
    number = placed(engine, waiting(nice_an_hour=None))
    engine.known["1"].job = replace(engine.known["1"].job, nice_an_hour=None)
    submitted = engine.known["1"].job
    engine.known["1"].waited_s = HOUR
    assert actions(engine.handle(JobSeen(1.0, replace(submitted, nice=number)))) == []


# the bound as a property, through the simulator

lengths = st.floats(1.0, 40_000.0)
jobs = st.lists(st.tuples(st.floats(0.0, 3000.0), lengths, lengths), min_size=2, max_size=25)


@settings(max_examples=120, deadline=None)
@given(jobs, st.floats(0.0, 3.0), st.floats(0.0, 3.0))
def test_no_job_is_overtaken_beyond_its_bound(drawn, hours, times):
    """One GPU, first come first served, any durations and any predictions of them."""
    arrivals = np.cumsum([gap for gap, _, _ in drawn])
    columns = columns_of(
        [
            a_trace_job(job_id=str(n), submit_time=float(at), duration=run, gpus=1)
            for n, (at, (_, run, _)) in enumerate(zip(arrivals, drawn, strict=True))
        ]
    )
    predicted = np.array([prediction for _, _, prediction in drawn])
    fairness = FairnessLimits(late_hours=0, hours=hours, times=times)
    engine = DecisionEngine(ordering("sjf"), DecisionLimits(fairness=fairness))
    nothing = np.zeros(len(drawn))
    estimates = Estimates(predicted, predicted, predicted, cost_s=nothing, source="drawn")
    outcome = SimulationEngine(
        columns,
        job_columns(columns, oracle(columns)),
        Fifo(),
        GpuPool(1),
        physics=Plain([1] * len(drawn)),
        beside=SimulatedDaemon(engine, columns, predictor=Fixed(estimates), look_s=LOOK_S),
    ).run()

    starts = np.asarray(outcome.start)
    bounds = arrivals + [max(hours * HOUR, times * one) for one in predicted]
    for before in range(len(drawn)):
        for after in range(before + 1, len(drawn)):
            overtakes = starts[after] < starts[before]
            assert not overtakes or starts[after] <= bounds[before] + 2 * LOOK_S


def test_a_number_that_was_decided_upon_before_is_another_action_when_it_is_taken_back():
    engine = an_engine(scope=LEAVES_SOME)
    number = placed(engine, waiting())
    sunk = waiting(nice=number, priority=1)
    [lifted] = actions(engine.handle(JobSeen(60.0, sunk)))
    plain = Action(kind="set_nice", job_id="1", attempt=0, why="", value=lifted.value)

    assert lifted.key != plain.key


def test_the_daemon_and_the_simulator_have_the_same_bound_by_default():
    assert asdict(FairnessSettings()) == asdict(FairnessLimits())
