"""A job that waits is predicted again, and its place in the queue follows."""

from __future__ import annotations

import pytest

from schedmate.core import (
    Act,
    Advise,
    DecisionEngine,
    DecisionLimits,
    FairnessLimits,
    JobAdvised,
    JobReverted,
    JobSeen,
    NiceHistory,
    Past,
)
from schedmate.model import Action, ActionRecord, JobState
from schedmate.policies import ordering
from schedmate.testing.builders import a_job, an_advice

HOUR = 3600.0


def waiting(**parts):
    return a_job(**{"most_nice": 1000, "submit_time": 0.0, **parts})


def actions(instructions):
    return [one.action for one in instructions if isinstance(one, Act)]


def questions(instructions):
    return [one for one in instructions if isinstance(one, Advise)]


class Queue:
    """One job that waits, as a scheduler would show it."""

    def __init__(self, p50=HOUR, **limits):
        fairness = FairnessLimits(**{"hours": 1000.0, "times": 0.0, **limits})
        self.engine = DecisionEngine(ordering("sjf"), DecisionLimits(fairness=fairness))
        self.nice = 0
        self.see(0.0)
        self.given = self.advise(0.0, p50, "submitted")

    def see(self, at, **parts):
        found = self.engine.handle(JobSeen(at, waiting(nice=self.nice, **parts)))
        self._carry_out(found)
        return found

    def advise(self, at, p50, cause="waited"):
        found = self.engine.handle(JobAdvised(at, "1", an_advice(p50), cause=cause))
        self._carry_out(found)
        return actions(found)

    def _carry_out(self, found):
        for action in actions(found):
            self.nice = int(action.value)


def asked_at(queue, until):
    """The times at which it is asked about, seen every minute."""
    return [at for at in range(60, until, 60) if questions(queue.see(float(at)))]


def test_it_is_asked_about_less_and_less_often():
    times = asked_at(Queue(), 24 * 3600)
    gaps = [later - sooner for sooner, later in zip([0, *times], times, strict=False)]
    assert 5 <= len(times) <= 15
    assert gaps == sorted(gaps)


def test_a_longer_prediction_sets_it_back():
    queue = Queue(p50=HOUR)
    before = queue.nice

    [questioned] = questions(queue.see(HOUR))
    [longer] = queue.advise(HOUR, 40 * HOUR)

    assert questioned.again
    assert longer.reason.code == "predicted_again"
    assert queue.nice > before


def test_a_shorter_prediction_does_not_bring_it_forward():
    queue = Queue(p50=10 * HOUR)
    before = queue.nice
    assert queue.advise(HOUR, HOUR) == []
    assert queue.advise(2 * HOUR, 5 * HOUR) == [], "longer than the last, not than its number"
    assert queue.nice == before


def test_the_bound_on_being_overtaken_does_not_grow():
    queue = Queue(p50=HOUR, hours=1.0, times=5.0)
    assert queue.engine.due("1") == 5 * HOUR
    queue.advise(HOUR, 100 * HOUR)
    assert queue.engine.due("1") == 5 * HOUR
    [back] = actions(queue.see(5 * HOUR))
    assert (back.value, back.reason.code) == (0, "overtaken_enough")


def test_nor_does_it_after_a_restart():
    first = Queue(p50=HOUR, hours=1.0, times=5.0)
    longer = first.advise(HOUR, 100 * HOUR)
    records = [
        ActionRecord(action=action, state="done", at=HOUR) for action in (*first.given, *longer)
    ]
    past = Past(advice=an_advice(100 * HOUR), nice=NiceHistory.of(records, 0))
    fairness = FairnessLimits(hours=1.0, times=5.0)
    later = DecisionEngine(ordering("sjf"), DecisionLimits(fairness=fairness))
    later.handle(JobSeen(2 * HOUR, waiting(nice=first.nice), past))
    assert later.due("1") == 5 * HOUR


def test_what_was_unknown_gets_its_place_once_it_is_known():
    queue = Queue(p50=None)
    middle = queue.nice
    [known] = queue.advise(HOUR, 60.0)
    assert known.value < middle


def test_a_prediction_that_is_about_the_same_costs_no_request():
    queue = Queue(p50=HOUR)
    assert queue.advise(HOUR, 1.1 * HOUR) == []


def test_small_changes_that_add_up_are_a_change():
    queue = Queue(p50=HOUR)
    assert queue.advise(HOUR, 1.2 * HOUR) == []
    assert len(queue.advise(2 * HOUR, 1.4 * HOUR)) == 1


def test_it_keeps_its_place_where_nothing_new_is_known():
    queue = Queue(p50=HOUR)
    before = queue.nice
    assert actions(queue.engine.handle(JobAdvised(HOUR, "1", None, cause="waited"))) == []
    assert actions(queue.see(HOUR + 1)) == []
    assert queue.nice == before


def test_what_was_overtaken_for_long_enough_is_left_where_it_is():
    queue = Queue(p50=HOUR, hours=2.0)
    [back] = actions(queue.see(2 * HOUR))
    assert back.reason.code == "overtaken_enough"
    assert questions(queue.see(100 * HOUR)) == []
    assert queue.advise(100 * HOUR, 40 * HOUR) == []


def test_a_person_has_the_last_word():
    queue = Queue(p50=HOUR)
    queue.engine.handle(JobReverted(1.0, "1"))
    assert questions(queue.see(HOUR)) == []
    other = Queue(p50=HOUR)
    other.see(1.0)
    other.nice = 77
    other.see(2.0)
    assert other.advise(HOUR, 40 * HOUR) == []


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.COMPLETED])
def test_only_what_waits_is_asked_about(state):
    queue = Queue()
    queue.see(10.0, state=state, start_time=5.0)
    assert questions(queue.see(10 * HOUR, state=state, start_time=5.0)) == []


def test_an_engine_that_starts_later_goes_on():
    given = Action(kind="set_nice", job_id="1", attempt=0, value=300.0, why="")
    record = ActionRecord(action=given, state="done", at=0.0)
    past = Past(advice=an_advice(HOUR), nice=NiceHistory.of([record], 0))
    engine = DecisionEngine(ordering("sjf"), DecisionLimits())
    engine.handle(JobSeen(HOUR, waiting(nice=300), past))

    assert questions(engine.handle(JobSeen(HOUR + 60, waiting(nice=300)))) == []
    [question] = questions(engine.handle(JobSeen(4 * HOUR, waiting(nice=300))))
    [revised] = actions(
        engine.handle(JobAdvised(4 * HOUR, "1", an_advice(40 * HOUR), cause="waited"))
    )

    assert question.again
    assert revised.value > 300
