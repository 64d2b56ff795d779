"""Jobs that share GPUs: by consent and measured use, parted where they slow each other down."""

from __future__ import annotations

import pytest

from schedmate.core import (
    Act,
    CheckpointSeen,
    DecisionEngine,
    DecisionLimits,
    GpuUse,
    GpuUseKnown,
    JobSeen,
    PaceSeen,
    SharingLimits,
)
from schedmate.model import JobState, Request
from schedmate.policies import ordering
from schedmate.testing.builders import a_job

SMALL = GpuUse(memory=0.3, utilization=0.3, runs=2)
LIMITS = SharingLimits(partitions=frozenset({"gpu"}))
HOUR = 3600.0


def host(**parts):
    values = {"id": "1", "state": JobState.RUNNING, "start_time": 0.0, "can_requeue": True}
    return a_job(**(values | {"request": Request(gpus=1, partition="gpu")} | parts))


def guest(**parts):
    request = Request(gpus=1, partition="gpu")
    return a_job(**({"id": "2", "request": request, "can_requeue": True} | parts))


def an_engine(limits=LIMITS):
    return DecisionEngine(ordering("fifo"), DecisionLimits(sharing=limits))


def about_sharing(instructions):
    found = [each.action for each in instructions if isinstance(each, Act)]
    return [(each.kind, each.job_id, each.beside) for each in found if each.kind != "set_nice"]


def meet(engine, one, other, uses=(SMALL, SMALL)):
    found = []
    for job, use in zip((one, other), uses, strict=True):
        found += engine.handle(JobSeen(100.0, job))
        if use is not None:
            found += engine.handle(GpuUseKnown(100.0, job.id, use))
    return about_sharing(found)


def test_a_waiting_job_joins_a_run_whichever_is_known_first():
    assert meet(an_engine(), host(), guest()) == [("share", "2", "1")]
    assert meet(an_engine(), guest(), host()) == [("share", "2", "1")]


@pytest.mark.parametrize(
    ("one", "other", "uses"),
    [
        (host(), guest(), (SMALL, None)),
        (host(), guest(), (None, SMALL)),
        (host(), guest(), (SMALL, GpuUse(memory=0.3, utilization=0.3, runs=0))),
        (host(), guest(), (SMALL, GpuUse(memory=0.5, utilization=0.3, runs=1))),
        (host(), guest(), (GpuUse(memory=0.3, utilization=0.6, runs=1), SMALL)),
        (host(comment="schedmate=keep"), guest(), (SMALL, SMALL)),
        (host(), guest(comment="schedmate=off"), (SMALL, SMALL)),
        (host(), guest(held=True), (SMALL, SMALL)),
        (host(), guest(request=Request(gpus=2, partition="gpu")), (SMALL, SMALL)),
        (host(), guest(request=Request(gpus=1, partition="other")), (SMALL, SMALL)),
    ],
)
def test_nothing_is_shared_from_hope_or_without_consent(one, other, uses):
    assert meet(an_engine(), one, other, uses) == []


def test_an_owner_may_consent_where_the_site_has_not():
    word = {"comment": "schedmate=shareable"}

    assert meet(an_engine(SharingLimits()), host(), guest()) == []
    assert meet(an_engine(SharingLimits()), host(**word), guest(**word)) == [("share", "2", "1")]


def test_only_two_share():
    engine = an_engine()
    meet(engine, host(), guest())

    assert meet(engine, guest(id="3"), guest(id="4")) == []


def test_a_run_whose_guest_has_left_takes_the_next():
    engine = an_engine()
    meet(engine, host(), guest())
    engine.handle(JobSeen(110.0, guest(state=JobState.RUNNING, start_time=105.0)))
    assert meet(engine, guest(id="3"), guest(id="4")) == []

    found = engine.handle(JobSeen(200.0, guest(state=JobState.COMPLETED, start_time=105.0)))

    assert about_sharing(found) == [("share", "3", "1")]


def together(pace, at=400.0):
    engine = an_engine()
    meet(engine, host(), guest())
    engine.handle(JobSeen(110.0, guest(state=JobState.RUNNING, start_time=105.0)))
    return engine, about_sharing(engine.handle(PaceSeen(at, "1", 0, pace)))


def test_the_younger_one_goes_where_the_pace_falls():
    assert together(0.7)[1] == []
    engine, parted = together(0.6)

    assert parted == [("requeue", "2", "")]
    engine.handle(JobSeen(500.0, guest(restarts=1)))
    again = engine.handle(GpuUseKnown(510.0, "2", SMALL))
    assert about_sharing(again) == []  # they were slow together


def test_one_that_has_run_for_long_goes_at_its_checkpoint():
    engine, parted = together(0.6, at=3 * HOUR)
    assert parted == []

    found = engine.handle(CheckpointSeen(4 * HOUR, "2", 0, 4 * HOUR - 5))

    assert about_sharing(found) == [("requeue", "2", "")]
    assert engine.handle(CheckpointSeen(5 * HOUR, "2", 0, 5 * HOUR - 5)) == []
