"""Jobs that share GPUs: by consent and measured use, parted where they slow each other down."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.core import (
    Act,
    CheckpointSeen,
    DecisionEngine,
    DecisionLimits,
    GpuUseKnown,
    JobSeen,
    MeasuredUse,
    PaceSeen,
    Past,
    ResumeKnown,
    ResumeProof,
    ShareSeen,
    SharingLimits,
)
from schedmate.core.sharing import half_of
from schedmate.model import JobState, Request
from schedmate.policies import ordering
from schedmate.testing.builders import a_job

SMALL = MeasuredUse(memory=0.3, utilization=0.3, runs=2)
LIMITS = SharingLimits(partitions=frozenset({"gpu"}))
HOUR = 3600.0
SURE = ResumeProof(resumes=True, seen=1)


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
        (host(), guest(), (SMALL, MeasuredUse(memory=0.3, utilization=0.3, runs=0))),
        (host(), guest(), (SMALL, MeasuredUse(memory=0.5, utilization=0.3, runs=1))),
        (host(), guest(), (MeasuredUse(memory=0.3, utilization=0.6, runs=1), SMALL)),
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
    assert parted == [("warn", "2", "")]  # nothing shows yet that it goes on
    engine.handle(ResumeKnown(3 * HOUR, "2", SURE))

    found = engine.handle(CheckpointSeen(4 * HOUR, "2", 0, 4 * HOUR - 5))

    assert about_sharing(found) == [("requeue", "2", "")]
    assert engine.handle(CheckpointSeen(5 * HOUR, "2", 0, 5 * HOUR - 5)) == []


def lent(job, shards):
    return replace(job, request=replace(job.request, shards=shards))


def heard(engine, job, at=100.0, use=SMALL):
    found = engine.handle(JobSeen(at, job))
    return found + engine.handle(GpuUseKnown(at, job.id, use, shards_a_gpu=4))


def asked(instructions):
    found = [each.action for each in instructions if isinstance(each, Act)]
    return [
        (each.kind, each.job_id, each.value, each.reason.code)
        for each in found
        if each.kind != "set_nice"
    ]


def test_where_gpus_are_lent_in_parts_a_waiting_job_asks_for_half_of_one():
    engine = an_engine()

    assert asked(heard(engine, lent(host(), 2))) == []
    [wanted] = [each.action for each in heard(engine, lent(guest(), 4)) if isinstance(each, Act)]

    assert (wanted.kind, wanted.value, wanted.reason.shards) == ("share", 2, 4)
    assert wanted.why == (
        "it fits beside job 1 and can start now: runs of both were measured to need 30% and 30% "
        "of a GPU's memory"
    )
    assert asked(heard(engine, lent(guest(), 4), at=130.0)) == []  # once
    assert asked(heard(engine, lent(guest(), 2), at=140.0)) == []  # it does


@pytest.mark.parametrize(
    ("job", "use"),
    [
        (lent(guest(comment="schedmate=keep"), 4), SMALL),
        (lent(guest(held=True), 4), SMALL),
        (lent(guest(), 4), MeasuredUse(memory=0.46, utilization=0.3, runs=3)),
        (lent(guest(), 1), SMALL),
        (lent(guest(state=JobState.RUNNING, start_time=50.0), 4), SMALL),
    ],
)
def test_what_is_left_as_it_asks(job, use):
    assert asked(heard(an_engine(), job, use=use)) == []


def test_no_third_job_fits_beside_two():
    assert [half_of(shards) for shards in (0, 1, 2, 3, 4, 5, 8)] == [0, 0, 1, 0, 2, 2, 4]


def test_the_owner_of_a_job_that_may_not_share_is_told_what_it_would_gain_now():
    engine = an_engine(SharingLimits())
    heard(engine, guest())

    found = heard(engine, lent(host(comment="schedmate=shareable"), 2))

    [told] = [each.action for each in found if isinstance(each, Act) and each.action.job_id == "2"]
    assert (told.kind, told.reason.code) == ("leave", "could_share")
    assert told.why.startswith(
        "with --gres=shard:2 and --comment=schedmate=shareable it would start now: it fits beside "
        "job 1"
    )


def slow_together(limits, proof=SURE, at=400.0, **parts):
    engine = an_engine(limits)
    young = lent(guest(state=JobState.RUNNING, start_time=105.0, **parts), 2)
    heard(engine, lent(host(), 2))
    heard(engine, young)
    engine.handle(ResumeKnown(100.0, "2", proof))
    engine.handle(ShareSeen(110.0, "1", "2"))
    return engine, asked(engine.handle(PaceSeen(at, "1", 0, 0.6)))


CAREFUL = replace(LIMITS, hardly_begun_s=0.0)


def test_the_younger_one_goes_at_its_checkpoint_and_has_a_gpu_to_itself_afterwards():
    engine, parted = slow_together(CAREFUL)
    assert parted == []

    found = engine.handle(CheckpointSeen(500.0, "2", 0, 499.0))
    assert asked(found) == [("requeue", "2", None, "slow_beside")]
    assert found[0].action.delay_s > 0

    again = heard(engine, lent(guest(restarts=1), 2), at=520.0)
    assert asked(again) == [("share", "2", 4.0, "alone_again")]
    assert asked(heard(engine, lent(guest(restarts=1), 4), at=540.0)) == []
    assert engine.known["2"].spared == {0}  # no retry of a failure


def test_the_engine_after_it_lets_it_share_no_more():
    engine = an_engine(CAREFUL)
    waits = lent(guest(restarts=1), 2)
    engine.handle(JobSeen(500.0, waits, Past(parted=True)))

    found = engine.handle(GpuUseKnown(500.0, "2", SMALL, shards_a_gpu=4))

    assert asked(found) == [("share", "2", 4.0, "alone_again")]


@pytest.mark.parametrize(
    ("proof", "parts"),
    [
        (ResumeProof(resumes=True), {}),
        (ResumeProof(resumes=True, seen=1, started_over=1), {}),
        (SURE, {"can_requeue": False}),
        (SURE, {"comment": "schedmate=keep"}),
    ],
)
def test_one_that_would_begin_anew_or_may_not_be_stopped_is_only_warned_of(proof, parts):
    engine, found = slow_together(CAREFUL, proof, **parts)

    assert found == [("warn", "2", None, "slow_beside")]
    assert engine.handle(CheckpointSeen(500.0, "2", 0, 499.0)) == []


def test_one_alone_again_takes_the_next():
    engine = an_engine()
    heard(engine, lent(host(), 2))
    engine.handle(ShareSeen(100.0, "1", "2"))
    heard(engine, lent(guest(state=JobState.RUNNING, start_time=90.0), 2))
    engine.handle(ShareSeen(100.0, "1", "2"))

    [wanted] = [x.action for x in heard(engine, lent(guest(id="3"), 4)) if isinstance(x, Act)]
    assert wanted.why.startswith("two such jobs fit on one GPU")

    engine.handle(JobSeen(200.0, lent(guest(state=JobState.COMPLETED, start_time=90.0), 2)))
    engine.handle(ShareSeen(200.0, "1", ""))
    [wanted] = [x.action for x in heard(engine, lent(guest(id="4"), 4)) if isinstance(x, Act)]
    assert wanted.why.startswith("it fits beside job 1")
