"""A run that resumes and will not make its limit: its limit is raised, or it is carried on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.core import (
    Act,
    Attempt,
    CheckpointSeen,
    DecisionEngine,
    DecisionLimits,
    JobAdvised,
    JobSeen,
    Past,
    ProgressSeen,
    ResumeKnown,
    ResumeProof,
    Stopping,
    TimeLimits,
    plan_retry,
)
from schedmate.model import Finding, JobState, Request, Workload
from schedmate.policies import ordering
from schedmate.testing.builders import a_diagnosis, a_job, a_progress, an_advice

HOUR = 3600.0
SURE = ResumeProof(resumes=True, seen=1)
ASKED = Request(gpus=2, partition="gpu", time_limit_s=10 * HOUR)


class Run:
    """One running job that saves every hour and needs `needs_h` in all."""

    def __init__(self, limits, *, proof=SURE, needs_h=24.0, past=None, **job):
        self.engine = DecisionEngine(ordering("fifo"), DecisionLimits(), limits)
        self.needs_h = needs_h
        parts = {"request": ASKED, "start_time": 0.0, "can_requeue": True, **job}
        self.job = a_job(state=JobState.RUNNING, **parts)
        self.engine.handle(JobSeen(0.0, self.job, past or Past()))
        record = Workload(resumes=Finding(value=True, source="code"))
        self.engine.handle(JobAdvised(0.0, "1", an_advice(workload=record)))
        self.engine.handle(ResumeKnown(0.0, "1", proof))

    def until(self, hours, *, saves=True, began=0):
        """Quarter by quarter of an hour; what was decided, and after how many hours."""
        found = []
        for quarter in range(4 * began + 1, 4 * hours + 1):
            at = quarter * HOUR / 4
            seen = a_progress(
                current=float(quarter),
                total=4 * self.needs_h,
                rate_per_s=4 / HOUR,
                elapsed_s=at,
            )
            events = [ProgressSeen(at, "1", seen)]
            if saves and not quarter % 4:
                events.append(
                    CheckpointSeen(at + 20, "1", self.job.restarts, at, step=float(quarter))
                )
            for event in events:
                acts = [one for one in self.engine.handle(event) if isinstance(one, Act)]
                found += [(quarter / 4, one.action) for one in acts]
        return found


def told(found):
    return [(hours, one.kind, one.value, one.reason.code) for hours, one in found]


def test_it_is_queued_again_after_its_last_checkpoint_before_the_limit():
    run = Run(TimeLimits(carry_on=3))

    [(hours, action)] = run.until(10)

    assert (hours, action.kind, action.reason.code) == (9.0, "requeue", "carried_on")
    assert (action.reason.step, action.reason.lost_s) == (36.0, 20.0)
    assert (action.reason.retries, action.reason.allowed) == (0, 3)
    assert action.key == "1:0:requeue"


@pytest.mark.parametrize(
    "parts",
    [
        {"proof": ResumeProof(resumes=True)},
        {"proof": ResumeProof(resumes=None, seen=2)},
        {"proof": ResumeProof(resumes=True, seen=3, started_over=1)},
        {"can_requeue": False},
        {"comment": "schedmate=off"},
        {"needs_h": 9.9},
        {"request": replace(ASKED, time_limit_s=None)},
        {"past": Past(carried=frozenset({0, 1, 2})), "restarts": 3},
    ],
    ids=[
        *("never seen", "code open", "started over", "no requeue"),
        *("off", "makes it", "no limit", "bound"),
    ],
)
def test_who_is_not_carried_on(parts):
    assert Run(TimeLimits(carry_on=3, extend_s=HOUR), **parts).until(10) == []


def test_nothing_without_the_sites_word_or_without_a_checkpoint():
    assert Run(TimeLimits()).until(10) == []
    assert Run(TimeLimits(carry_on=3)).until(10, saves=False) == []


def test_one_that_saves_on_the_signal_before_its_end():
    run = Run(TimeLimits(carry_on=1))
    assert run.until(9, saves=False) == []
    saved = CheckpointSeen(9.9 * HOUR, "1", 0, 9.895 * HOUR)
    [wanted] = run.engine.handle(saved)
    assert wanted.action.reason.code == "carried_on"
    assert run.engine.handle(replace(saved, at=9.91 * HOUR)) == [], "once in an attempt"


def test_each_attempt_is_carried_on_once_up_to_the_bound():
    run, found = Run(TimeLimits(carry_on=2), needs_h=99.0), []
    for attempt in range(4):
        run.job = replace(run.job, restarts=attempt, state=JobState.PENDING)
        run.engine.handle(JobSeen(0.0, run.job))
        run.job = replace(run.job, state=JobState.RUNNING)
        run.engine.handle(JobSeen(0.0, run.job))
        found += [one.attempt for _, one in run.until(10)]
    assert found == [0, 1]


def test_the_limit_is_raised_where_none_waits_and_that_is_enough():
    run = Run(TimeLimits(extend_s=4 * HOUR, carry_on=3), needs_h=12.0)

    [(hours, action)] = run.until(10)

    assert (hours, action.kind, action.reason.code) == (8.0, "set_time_limit", "limit_extended")
    assert action.value == pytest.approx(13.2 * HOUR, abs=60)
    assert action.reason.user_limit_s == 10 * HOUR
    assert run.engine.handle(Stopping(10 * HOUR)) == [], "a raised limit is never taken back"


def test_where_others_wait_it_is_carried_on_instead():
    run = Run(TimeLimits(extend_s=4 * HOUR, carry_on=3), needs_h=12.0)
    run.engine.handle(JobSeen(0.0, a_job(id="2", request=Request(gpus=1, partition="gpu"))))
    assert told(run.until(10)) == [(9.0, "requeue", None, "carried_on")]


def test_what_would_not_be_enough_is_not_raised():
    run = Run(TimeLimits(extend_s=4 * HOUR), needs_h=15.0)
    assert run.until(10) == []


def test_a_raised_limit_is_bounded_by_what_its_user_asked_for():
    """Also after a restart of the daemon, when the scheduler shows the raised one."""
    past = Past(asked_limit_s=10 * HOUR)
    shown = replace(ASKED, time_limit_s=13 * HOUR)
    run = Run(TimeLimits(extend_s=4 * HOUR), needs_h=13.5, past=past, request=shown)
    assert told(run.until(13, saves=False)) == [
        (10.5, "set_time_limit", 14 * HOUR, "limit_extended")
    ]
    assert Run(TimeLimits(extend_s=4 * HOUR), needs_h=15, past=past, request=shown).until(13) == []


def test_runs_that_were_carried_on_are_no_retries():
    failed = {3: Attempt(diagnosis=a_diagnosis("node_failure"))}
    carried = frozenset({0, 1, 2})
    assert not plan_retry(failed, 3, limits=DecisionLimits()).again
    assert plan_retry(failed, 3, limits=DecisionLimits(), spared=carried).again
    few = DecisionLimits(retries_in_all=2)
    assert plan_retry(failed, 3, limits=few, spared=carried).again
