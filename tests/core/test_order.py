"""Whose number a job has, and which one it gets."""

from __future__ import annotations

import pytest

from schedmate.core import Act, DecisionEngine, JobAdvised, JobSeen, NiceHistory, Past
from schedmate.model import Action, ActionRecord
from schedmate.policies import ordering
from schedmate.testing.builders import a_job, an_advice

MOST = 1000


def record(value, state="done", **parts):
    parts = {"kind": "set_nice", "job_id": "1", "attempt": 0, "why": "", **parts}
    return ActionRecord(action=Action(value=value, **parts), state=state, at=0.0)


def wanted(engine, event):
    return [one.action.value for one in engine.handle(event) if isinstance(one, Act)]


def met(job, *records):
    """What a fresh engine wants for a job it meets, before and after it was read."""
    engine = DecisionEngine(ordering("sjf"))
    seen = JobSeen(0.0, job, Past(nice=NiceHistory.of(records, job.restarts)))
    return wanted(engine, seen), wanted(engine, JobAdvised(1.0, job.id, an_advice(86400.0)))


def waiting(**parts):
    return a_job(**{"most_nice": MOST, **parts})


def test_a_job_gets_the_middle_at_once_and_its_place_when_it_was_read():
    assert met(waiting()) == ([500], [745])


@pytest.mark.parametrize("nice", [1, 500, -3])
def test_a_number_that_we_did_not_write_is_left_alone(nice):
    assert met(waiting(nice=nice)) == ([], [])
    assert met(waiting(nice=nice), record(44, "observed")) == ([], [])


def test_a_number_that_we_wrote_and_somebody_changed_is_theirs():
    ours = record(500, provisional=True)
    assert met(waiting(nice=500), ours) == ([], [745])
    assert met(waiting(nice=0), ours) == ([], [])
    assert met(waiting(nice=300), ours) == ([], [])


def test_a_number_that_changes_under_our_eyes_is_theirs_too():
    engine = DecisionEngine(ordering("sjf"))
    assert wanted(engine, JobSeen(0.0, waiting())) == [500]
    assert wanted(engine, JobSeen(1.0, waiting(nice=7))) == []
    assert wanted(engine, JobAdvised(2.0, "1", an_advice(86400.0))) == []


def test_what_may_or_may_not_have_been_written_is_ours_either_way():
    for nice in (0, 500):
        assert met(waiting(nice=nice), record(500, "intended", provisional=True)) == ([], [745])


def test_a_job_that_has_its_place_keeps_it():
    """Its priority has grown since, which must not set it back further."""
    assert met(waiting(nice=700, most_nice=2000), record(700)) == ([], [])


def test_a_job_that_was_refused_is_not_asked_for_again_in_this_attempt():
    assert met(waiting(), record(500, "failed")) == ([], [])
    assert met(waiting(restarts=1), record(500, "failed")) == ([500], [745])


def test_a_held_job_gets_its_place_when_it_is_released():
    engine = DecisionEngine(ordering("sjf"))
    assert wanted(engine, JobSeen(0.0, waiting(most_nice=None))) == []
    assert wanted(engine, JobAdvised(1.0, "1", an_advice(86400.0))) == []
    assert wanted(engine, JobSeen(2.0, waiting())) == [745]
    assert wanted(engine, JobSeen(3.0, waiting(nice=745))) == []
