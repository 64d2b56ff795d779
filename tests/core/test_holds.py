"""A job that cannot succeed is held, at most once, and never against a person's will."""

from __future__ import annotations

import pytest

from schedmate.core import (
    Act,
    Advise,
    DecisionEngine,
    DecisionLimits,
    HoldLimits,
    JobAdvised,
    JobSeen,
    Past,
    hold_phase,
)
from schedmate.model import Action, ActionRecord, JobState, Remark
from schedmate.policies import ordering
from schedmate.testing.builders import a_job, an_advice

BROKEN = Remark(level="error", text="train.py is not there", certain=True)
FAILED = Remark(level="warning", text="the same code failed", failures=3)
DOUBT = Remark(level="error", text="train.py may not be there")


def an_engine(**limits):
    return DecisionEngine(ordering("fifo"), DecisionLimits(hold=HoldLimits(**limits)))


def advice(*remarks):
    return an_advice(90.0, advice=remarks)


def about_holds(instructions):
    actions = [each.action for each in instructions if isinstance(each, Act)]
    return [
        (action.kind, action.reason.code)
        for action in actions
        if action.kind in ("hold", "release")
    ]


def held_by(engine, *remarks, job=None):
    engine.handle(JobSeen(0.0, job or a_job()))
    return about_holds(engine.handle(JobAdvised(1.0, "1", advice(*remarks))))


@pytest.mark.parametrize(
    ("limits", "remark", "expected"),
    [
        ({}, BROKEN, [("hold", "cannot_succeed")]),
        ({"certain": False}, BROKEN, []),
        ({}, DOUBT, []),
        ({}, FAILED, []),
        ({"after_failures": 3}, FAILED, [("hold", "failed_repeatedly")]),
        ({"after_failures": 4}, FAILED, []),
    ],
)
def test_a_hold_takes_a_ground_that_the_site_accepts(limits, remark, expected):
    assert held_by(an_engine(**limits), remark) == expected


@pytest.mark.parametrize(
    "job",
    [
        a_job(state=JobState.RUNNING),
        a_job(state=JobState.FAILED),
        a_job(held=True),
        a_job(restarts=1),
        a_job(reason="Dependency"),
        a_job(reason="DependencyNeverSatisfied"),
    ],
)
def test_only_a_job_that_could_start_by_itself_is_held(job):
    assert held_by(an_engine(), BROKEN, job=job) == []


def test_a_job_that_a_person_released_is_never_held_again():
    engine = an_engine()
    held_by(engine, BROKEN)
    engine.handle(JobSeen(2.0, a_job(held=True)))
    engine.handle(JobSeen(3.0, a_job(held=False)))

    again = engine.handle(JobAdvised(4.0, "1", advice(BROKEN)))
    restarted = engine.handle(JobSeen(5.0, a_job(restarts=1)))

    assert about_holds([*again, *restarted]) == []


def test_a_held_job_is_read_again_and_released_once_it_is_mended():
    engine = an_engine(check_again_s=100.0)
    held_by(engine, BROKEN)
    held = a_job(held=True)

    assert engine.handle(JobSeen(50.0, held)) == []
    assert engine.handle(JobSeen(101.0, held)) == [Advise(held, afresh=True)]
    assert engine.handle(JobSeen(102.0, held)) == []
    still = engine.handle(JobAdvised(103.0, "1", advice(BROKEN), cause="checked"))
    mended = engine.handle(JobAdvised(203.0, "1", advice(), cause="checked"))
    later = engine.handle(JobAdvised(303.0, "1", advice(BROKEN), cause="checked"))

    assert about_holds(still) == []
    assert about_holds(mended) == [("release", "can_succeed")]
    assert about_holds(later) == []


def test_a_persons_hold_is_not_released():
    engine = an_engine()
    held_by(engine, BROKEN, job=a_job(held=True))

    assert about_holds(engine.handle(JobAdvised(2.0, "1", advice()))) == []
    assert about_holds(engine.handle(JobSeen(1000.0, a_job(held=True)))) == []


def a_record(kind, state):
    return ActionRecord(action=Action(kind=kind, job_id="1", attempt=0, why=""), state=state, at=0)


@pytest.mark.parametrize(
    ("records", "held", "phase"),
    [
        ([], False, "none"),
        ([], True, "none"),
        ([("hold", "done")], True, "ours"),
        ([("hold", "intended")], True, "ours"),
        ([("hold", "done")], False, "over"),
        ([("hold", "failed")], True, "over"),
        ([("hold", "observed")], True, "over"),
        ([("hold", "done"), ("release", "done")], True, "over"),
        ([("set_nice", "done")], True, "none"),
    ],
)
def test_a_new_engine_knows_from_the_records_whose_hold_it_is(records, held, phase):
    records = [a_record(*each) for each in records]

    assert hold_phase(records, held=held) == phase


def test_a_new_engine_goes_on_with_a_hold_of_ours():
    engine = an_engine()
    engine.handle(JobSeen(0.0, a_job(held=True), Past(hold="ours")))

    assert about_holds(engine.handle(JobAdvised(1.0, "1", advice()))) == [
        ("release", "can_succeed")
    ]
