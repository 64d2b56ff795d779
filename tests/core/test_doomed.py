"""Runs that go on for nothing: what is stated of them, and who may have them stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.core import (
    Act,
    ActivitySeen,
    DecisionEngine,
    DecisionLimits,
    DoomedLimits,
    JobAdvised,
    JobReverted,
    JobSeen,
    Measure,
    ProgressSeen,
    Scope,
)
from schedmate.model import (
    Activity,
    EarlyWarning,
    Finding,
    JobState,
    Remark,
    Request,
    Spread,
    Workload,
)
from schedmate.policies import ordering
from schedmate.testing.builders import a_job, a_progress, a_silence, an_advice

NAN = EarlyWarning(reason="loss_nan", text="no number", line="step 9 loss nan", firm=True)
FULL = EarlyWarning(reason="disk_quota", text="not written", line="Errno 122", firm=True)
LATE = EarlyWarning(reason="time_limit", text="its limit comes before its end", firm=True)
HOUR = 3600.0
ON_GPUS = Request(gpus=4, partition="gpu", time_limit_s=10 * HOUR)


class Run:
    """One running job, of which the engine hears every five minutes."""

    def __init__(self, *stop, limits=None, **job):
        limits = limits or DecisionLimits(doomed=DoomedLimits(stop=frozenset(stop)))
        self.engine = DecisionEngine(ordering("fifo"), limits)
        self.now = 1000.0
        parts = {"request": ON_GPUS, "start_time": 0.0, **job}
        self.job = a_job(state=JobState.RUNNING, **parts)
        self.engine.handle(JobSeen(self.now, self.job))

    def advised(self, *remarks, resumes=None):
        found = Workload(resumes=None if resumes is None else Finding(value=resumes, source="code"))
        advice = an_advice(workload=found, advice=remarks)
        return acts(self.engine.handle(JobAdvised(self.now, "1", advice)))

    def writes(self, *warnings, times=1, **parts):
        found = []
        for _ in range(times):
            self.now += 300.0
            seen = a_progress(warnings=warnings, elapsed_s=self.now, **parts)
            found += acts(self.engine.handle(ProgressSeen(self.now, "1", seen)))
        return found


def acts(instructions):
    return [one.action for one in instructions if isinstance(one, Act)]


def kinds(actions):
    return [(one.kind, one.failure) for one in actions]


def test_a_message_comes_at_once_and_once_with_cost_and_line():
    run = Run()
    for number in range(3):
        waits = a_job(id=f"w{number}", request=Request(gpus=2, partition="gpu"))
        run.engine.handle(JobSeen(run.now, waits))
    run.engine.handle(JobSeen(run.now, a_job(id="held", held=True, request=ON_GPUS)))
    run.engine.handle(JobSeen(run.now, a_job(id="cpu", request=Request(partition="gpu"))))

    found = run.writes(NAN, times=5, eta_s=Spread(HOUR, 2 * HOUR, 3 * HOUR))

    [warned] = found
    assert (warned.kind, warned.reason.code, warned.failure) == ("warn", "doomed", "nan")
    assert warned.reason.line == "step 9 loss nan"
    assert (warned.reason.gpus, warned.reason.waiting, warned.reason.waiting_gpus) == (4, 3, 6)
    assert warned.reason.left_s == 2 * HOUR
    assert warned.why == "no number; it costs 4 GPU hours an hour; 3 jobs wait there for 6 GPUs"


def test_what_is_not_firm_is_not_stated():
    assert Run("nan").writes(replace(NAN, firm=False), times=9) == []


@pytest.mark.parametrize(
    ("stop", "comment", "stopped"),
    [
        ((), "", False),
        (("checkpoint", "idle"), "", False),
        (("nan",), "", True),
        ((), "schedmate=stop-doomed", True),
        ((), "proj-7,schedmate=stop-nan", True),
        ((), "schedmate=stop-limit", False),
        ((), "schedmate=stop-doomed2", False),
        (("nan",), "schedmate=off", False),
    ],
)
def test_it_is_stopped_for_reasons_that_site_or_owner_named(stop, comment, stopped):
    run = Run(*stop, comment=comment)
    found = kinds(run.writes(NAN, times=9))
    said = [] if "off" in comment else [("warn", "nan")]
    assert found == [*said, *([("cancel", "nan")] if stopped else [])]


def test_it_is_stopped_only_where_the_sign_still_stands_minutes_later():
    run = Run("nan")
    assert kinds(run.writes(NAN, times=2)) == [("warn", "nan")]
    assert run.writes(times=1) == []
    assert kinds(run.writes(NAN, times=2)) == [("warn", "nan")], "the time counts anew"
    assert kinds(run.writes(NAN, times=3)) == [("cancel", "nan")]
    assert run.writes(NAN, times=9) == []


def test_another_attempt_is_judged_anew():
    run = Run("nan")
    assert kinds(run.writes(NAN, times=4)) == [("warn", "nan"), ("cancel", "nan")]
    again = replace(run.job, restarts=1)
    run.engine.handle(JobSeen(run.now, replace(again, state=JobState.PENDING)))
    run.engine.handle(JobSeen(run.now, again))
    assert run.writes() == []
    found = run.writes(NAN, times=4)
    assert [(one.kind, one.attempt) for one in found] == [("warn", 1), ("cancel", 1)]


@pytest.mark.parametrize("how", ["reverted", "excluded"])
def test_what_is_left_alone_is_left_alone(how):
    limits = DecisionLimits(
        doomed=DoomedLimits(stop=frozenset({"nan"})),
        scope=Scope(exclude_partitions=frozenset({"gpu"} if how == "excluded" else ())),
    )
    run = Run(limits=limits)
    if how == "reverted":
        run.engine.handle(JobReverted(run.now, "1"))
    assert run.writes(NAN, times=9) == []


def test_checkpoints_that_are_not_written():
    assert kinds(Run("checkpoint").writes(FULL, times=4)) == [
        ("warn", "checkpoint"),
        ("cancel", "checkpoint"),
    ]


@pytest.mark.parametrize(("failures", "stated"), [(2, False), (3, True)])
def test_the_third_failure_of_the_same_code_in_a_row(failures, stated):
    run = Run("repeated", comment="schedmate=stop-doomed")
    text = "the same code with the same arguments failed"
    found = run.advised(Remark(level="warning", text=text, failures=failures))
    assert kinds(found) == ([("warn", "repeated")] if stated else [])
    assert run.writes(times=4) == [], "three in ten do not fail again"


def test_a_run_that_will_not_make_its_limit_and_does_not_resume():
    run = Run()
    run.advised(resumes=False)
    pace = {"current": 950.0, "total": 1e5, "rate_per_s": 0.5, "fraction": 0.0095}
    assert run.writes(LATE, times=9, **pace) == [], "how a run begins says little"
    run.writes()
    run.now = 3 * HOUR
    pace |= {"current": 5300.0, "fraction": 0.053}
    assert run.writes(LATE, times=2, **pace) == []

    [warned] = run.writes(LATE, times=5, **pace)

    assert warned.failure == "limit"
    assert "it needs about 55.9 hours and its limit is 10" in warned.why
    assert "--time=55:52:00 or more" in warned.why


def test_one_that_may_make_its_limit_if_it_goes_faster_is_not_doomed_yet():
    run = Run("limit")
    run.advised(resumes=False)
    pace = {"total": 10_000.0, "rate_per_s": 0.2}
    assert run.writes(LATE, times=9, current=1000.0, fraction=0.1, **pace) == []
    run.now = 9 * HOUR
    slow = {"total": 10_000.0, "rate_per_s": 0.01}
    assert run.writes(LATE, current=9000.0, fraction=0.9, **slow) == [], "slow just now"
    assert kinds(run.writes(LATE, current=8000.0, fraction=0.8, **pace)) == [("warn", "limit")]


@pytest.mark.parametrize("resumes", [True, None])
def test_one_that_may_resume_is_not_doomed_by_its_limit(resumes):
    run = Run("limit")
    run.advised(resumes=resumes)
    assert run.writes(LATE, times=30) == []


def test_an_estimate_that_changes_its_mind_is_not_stable():
    run = Run("limit")
    run.advised(resumes=False)
    for _ in range(10):
        assert run.writes(LATE, times=2) == []
        assert run.writes(times=1) == []


IDLE = Activity(cpu_s=7.0, gpu=0.0, read=0, written=0)


class Idle(Run):
    """Is silent, and measured whenever the engine asks for it."""

    def silent(self, minutes, activity):
        found = []
        for minute in range(minutes):
            self.now += 60.0
            seen = a_progress(
                elapsed_s=self.now, silence=a_silence(silent_s=60.0 * minute, lines=1)
            )
            for asked in self.engine.handle(ProgressSeen(self.now, "1", seen)):
                if isinstance(asked, Measure):
                    event = ActivitySeen(self.now, "1", 0, activity(self.now))
                    found += acts(self.engine.handle(event))
                elif isinstance(asked, Act):
                    found.append(asked.action)
        return found


def test_an_allocation_that_is_idle_for_an_hour():
    found = Idle("idle").silent(180, lambda _: IDLE)
    assert kinds(found) == [("warn", "idle"), ("cancel", "idle")]
    assert "did anything for 1.1 hours" in found[0].why


@pytest.mark.parametrize(
    "activity",
    [
        lambda _: replace(IDLE, gpu=None),
        lambda _: replace(IDLE, written=None),
        lambda _: replace(IDLE, gpu=0.4),
        lambda now: replace(IDLE, cpu_s=now),
        lambda now: replace(IDLE, cpu_s=40 * (now // 3000)),
        lambda now: replace(IDLE, files_at=now),
        lambda now: replace(IDLE, written=int(now)),
        lambda now: replace(IDLE, read=int(4000 * now)),
        lambda now: replace(IDLE, gpu=0.9 if now % 3000 < 700 else 0.0),
    ],
    ids=[
        "GPUs not measured",
        "writing not measured",
        "on its GPU",
        "computes",
        "computes for a moment",
        "writes files",
        "writes elsewhere",
        "reads",
        "now and then",
    ],
)
def test_what_is_at_work_or_unknown_is_not_idle(activity):
    assert Idle("idle").silent(300, activity) == []


def test_what_waits_for_people_is_stated_and_never_stopped():
    notebook = replace(IDLE, interactive=True)
    assert kinds(Idle("idle").silent(300, lambda _: notebook)) == [("warn", "idle")]


def test_a_job_without_gpus_holds_none():
    run = Idle("idle", request=Request(partition="cpu"))
    assert run.silent(180, lambda _: IDLE) == []
