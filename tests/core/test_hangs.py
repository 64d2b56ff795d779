"""A silent job: what it takes to be called hung, and what is done about it then."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.core import (
    Act,
    ActivitySeen,
    Attempt,
    DecisionEngine,
    DecisionLimits,
    Diagnose,
    HangLimits,
    Hung,
    JobDiagnosed,
    JobSeen,
    Measure,
    Past,
    ProgressSeen,
    Reached,
    plan_retry,
)
from schedmate.core.hangs import verdict
from schedmate.model import Activity, JobState, Request
from schedmate.policies import ordering
from schedmate.testing.builders import a_diagnosis, a_job, a_progress, a_silence

MINUTE = 60.0
IDLE = Activity(cpu_s=12.0)
OPTED_IN = DecisionLimits(hang=HangLimits(requeue=True))
DEAD = Activity(cpu_s=12.0, blocked=True, stuck="rpc_wait_bit_killable")


class Watcher:
    """Drives an engine as the live loop does: a look every half minute at one running job."""

    def __init__(self, engine=None, *, reached=None, confidence=0.9, reason="hang", **job):
        self.engine = engine or DecisionEngine(ordering("fifo"), OPTED_IN)
        self.job = a_job(state=JobState.RUNNING, **job)
        self.now = 0.0
        self.measured = []
        self.diagnosed = 0
        self.reached = reached or Reached(saves=True)
        self.diagnosis = a_diagnosis(reason, confidence=confidence)
        self.engine.handle(JobSeen(0.0, self.job))

    def silent(
        self, minutes, *, activity=lambda _: IDLE, elapsed_s=3600.0, phase="training", **parts
    ):
        """Be silent for so long from now on; return the actions that followed."""
        acts = []
        for look in range(int(2 * minutes) + 1):
            silence = a_silence(silent_s=30.0 * look, **parts)
            progress = a_progress(phase=phase, silence=silence, elapsed_s=elapsed_s + 30 * look)
            acts += self.tell(ProgressSeen(self.now, "1", progress), activity)
            self.now += 30.0
        return acts

    def tell(self, event, activity):
        acts = []
        for asked in self.engine.handle(event):
            match asked:
                case Measure():
                    self.measured.append(self.now)
                    seen = ActivitySeen(self.now, "1", self.job.restarts, activity(self.now))
                    acts += self.tell(seen, activity)
                case Diagnose(hung=True):
                    self.diagnosed += 1
                    answer = JobDiagnosed(
                        self.now, "1", self.job.restarts, self.diagnosis, self.reached
                    )
                    acts += self.tell(answer, activity)
                case Act(action=action):
                    acts.append(action)
        return acts

    def start_again(self):
        self.job = replace(self.job, restarts=self.job.restarts + 1)
        self.engine.handle(JobSeen(self.now, replace(self.job, state=JobState.PENDING)))
        self.engine.handle(JobSeen(self.now, self.job))


def kinds(actions):
    return [action.kind for action in actions]


def test_half_an_hour_without_a_line_and_without_any_cpu_time_is_a_hang():
    watcher = Watcher()

    assert watcher.silent(29) == []
    assert kinds(watcher.silent(40)) == ["requeue"]
    assert watcher.diagnosed == 1


def test_who_only_waits_is_warned_of_and_stays():
    """A consumer without items looks the same as a rank whose peers are gone."""
    watcher = Watcher(DecisionEngine(ordering("fifo"), DecisionLimits()))
    [warning] = watcher.silent(300)
    assert (warning.kind, warning.reason.code) == ("warn", "may_only_wait")
    assert "schedmate=requeue-hung" in warning.why


@pytest.mark.parametrize(
    ("comment", "kind"),
    [
        ("schedmate=requeue-hung", "requeue"),
        ("exp 7; schedmate=requeue-hung", "requeue"),
        ("schedmate=requeue-hung-not", "warn"),
        ("schedmate=off,schedmate=requeue-hung", "warn"),
        ("", "warn"),
    ],
)
def test_an_owner_may_want_it_queued_again(comment, kind):
    watcher = Watcher(DecisionEngine(ordering("fifo"), DecisionLimits()), comment=comment)
    assert kinds(watcher.silent(60)) == [kind]


@pytest.mark.parametrize(
    ("activity", "expected"),
    [
        (lambda _: DEAD, ["requeue"]),
        (lambda now: DEAD if now < 1800 else IDLE, ["warn"]),
        (lambda now: IDLE if now < 1800 else DEAD, ["requeue"]),
        (lambda _: replace(DEAD, stuck=""), []),
        (lambda now: replace(DEAD, cpu_s=now), []),
    ],
    ids=["all the time", "until then", "since then", "a local disk", "computes"],
)
def test_who_is_blocked_in_a_dead_file_system_is_queued_again(activity, expected):
    watcher = Watcher(DecisionEngine(ordering("fifo"), DecisionLimits()))
    assert kinds(watcher.silent(60, activity=activity)) == expected


def test_a_hang_is_queued_again_once_in_the_life_of_a_job_and_then_only_warned_of():
    watcher = Watcher()
    assert kinds(watcher.silent(60)) == ["requeue"]
    watcher.start_again()
    [warning] = watcher.silent(60)
    assert (warning.kind, warning.why) == (
        "warn",
        "hang: it was queued again for that before, once is all",
    )
    for _ in range(3):
        watcher.start_again()
        [warning] = watcher.silent(200)
        assert warning.kind == "warn"


def test_a_better_diagnosis_of_an_earlier_run_does_not_make_it_forgotten():
    watcher = Watcher()
    watcher.silent(60)
    watcher.start_again()
    watcher.engine.handle(JobDiagnosed(watcher.now, "1", 0, a_diagnosis("nccl_timeout")))

    assert kinds(watcher.silent(60)) == ["warn"]


def test_a_daemon_that_was_not_there_knows_of_the_first_time():
    past = {0: Attempt(diagnosis=a_diagnosis("hang"), hung=Hung())}
    engine = DecisionEngine(ordering("fifo"), DecisionLimits())
    engine.handle(JobSeen(0.0, a_job(state=JobState.RUNNING, restarts=1), Past(attempts=past)))

    assert kinds(Watcher(engine, restarts=1).silent(60)) == ["warn"]


def test_what_may_not_be_tried_again_is_warned_of_and_never_ended():
    [warning] = Watcher(reason="gpu_oom").silent(300)

    assert (warning.kind, warning.why) == ("warn", "gpu_oom: no")


def test_a_guess_is_a_warning_and_a_healthy_log_is_nothing():
    assert kinds(Watcher(confidence=0.4).silent(60)) == ["warn"]
    assert Watcher(reason="not_failed").silent(60) == []


def test_a_mind_that_is_told_of_a_failure_of_what_runs_does_nothing():
    """An answer that comes after the job has written again, or that nobody asked for."""
    watcher = Watcher()
    late = JobDiagnosed(0.0, "1", 0, a_diagnosis("hang"))
    assert watcher.engine.handle(late) == []

    watcher.silent(60)
    watcher.tell(ProgressSeen(watcher.now, "1", a_progress(silence=a_silence(silent_s=1.0))), None)
    assert watcher.engine.handle(late) == []


@pytest.mark.parametrize(
    "activity",
    [
        lambda now: Activity(cpu_s=now),
        lambda now: Activity(cpu_s=0.05 * now),
        lambda now: Activity(cpu_s=1.0, gpu=0.9 if now % 600 < 300 else 0.0),
        lambda now: Activity(cpu_s=1.0, files_at=now),
        lambda now: Activity(files_at=now),
        lambda _: Activity(cpu_s=1.0, blocked=True),
        lambda _: Activity(cpu_s=1.0, interactive=True),
    ],
    ids=["cpu", "little cpu", "gpu", "files", "only files", "waits for a disk", "interactive"],
)
def test_who_shows_any_sign_of_life_is_left_alone(activity):
    watcher = Watcher()

    assert watcher.silent(6 * 60, activity=activity) == []
    assert watcher.diagnosed == 0


def test_a_sign_of_life_that_ends_is_a_hang_after_all():
    def busy_for_90_minutes(now):
        return Activity(cpu_s=min(now, 5400.0))

    assert Watcher().silent(104, activity=busy_for_90_minutes) == [], "it may only wait a little"
    assert kinds(Watcher().silent(120, activity=busy_for_90_minutes)) == ["requeue"]


def test_an_interactive_job_is_measured_once_and_not_again():
    watcher = Watcher()
    watcher.silent(6 * 60, activity=lambda _: Activity(interactive=True))

    assert len(watcher.measured) == 1


def test_suspects_are_measured_every_few_minutes_and_all_at_the_same_moments():
    one, other = Watcher(), Watcher()
    other.now = 95.0
    one.silent(60, activity=lambda now: Activity(cpu_s=now))
    other.silent(60, activity=lambda now: Activity(cpu_s=now))

    assert min(one.measured) >= 10 * MINUTE
    assert len(one.measured) <= 11
    assert {int(at // 300) for at in one.measured} <= {int(at // 300) for at in other.measured}


@pytest.mark.parametrize("pause", ["checkpointing", "evaluating", "compiling", "loading"])
def test_a_known_pause_may_take_far_longer(pause):
    assert Watcher().silent(110, pause=pause) == []
    assert kinds(Watcher().silent(130, pause=pause)) == ["requeue"]


@pytest.mark.parametrize(
    "parts",
    [{"lines": 49}, {"looks": 19}, {"learnt_s": 299.0}, {"allowed_s": 1e6}, {"phase": "finished"}],
    ids=lambda parts: next(iter(parts)),
)
def test_a_rhythm_that_is_not_well_known_is_no_evidence(parts):
    assert Watcher().silent(6 * 60, **parts) == []


def test_where_nothing_can_be_measured_the_rhythm_must_be_known_for_longer():
    assert Watcher().silent(300, activity=lambda _: Activity(), learnt_s=1200.0) == []
    unmeasured = Watcher().silent(300, activity=lambda _: Activity(), learnt_s=3600.0)
    assert kinds(unmeasured) == ["requeue"]


@pytest.mark.parametrize(
    ("reached", "ran_h", "idle", "kind"),
    [
        (Reached(saves=True), 20, False, "requeue"),
        (Reached(resumes=True), 20, False, "requeue"),
        (Reached(), 1, False, "requeue"),
        (Reached(), 20, True, "requeue"),
        (Reached(), 20, False, "warn"),
        (Reached(saves=True, resumes=False), 20, False, "warn"),
        (Reached(saves=True, resumes=False), 20, True, "requeue"),
    ],
)
def test_hours_of_work_are_not_thrown_away_for_a_suspicion(reached, ran_h, idle, kind):
    measured = IDLE if idle else Activity()

    acts = Watcher(reached=reached).silent(
        60, activity=lambda _: measured, elapsed_s=3600.0 * ran_h
    )

    assert kinds(acts) == [kind]


@pytest.mark.parametrize(
    ("count", "healthy", "apart_min", "touched"),
    [(3, 0, 0, 3), (8, 0, 0, 0), (8, 100, 0, 8), (8, 0, 40, 8), (8, 0, 5, 3)],
)
def test_jobs_that_fall_silent_together_wait_for_the_same_thing(count, healthy, apart_min, touched):
    """A file system that is away stops many at once, and brings them all back."""
    engine, requeued = DecisionEngine(ordering("fifo"), DecisionLimits()), set()
    for number in range(count + healthy):
        engine.handle(JobSeen(0.0, a_job(id=str(number), state=JobState.RUNNING)))

    for minute in range(50 + apart_min * count):
        asked = []
        for number in range(count):
            silent_s = 60.0 * max(0, minute - apart_min * number)
            progress = a_progress(silence=a_silence(silent_s=silent_s))
            asked += engine.handle(ProgressSeen(60.0 * minute, str(number), progress))
        while asked:
            match asked.pop(0):
                case Measure(job=job):
                    asked += engine.handle(ActivitySeen(60.0 * minute, job.id, 0, IDLE))
                case Diagnose(job=job):
                    found = JobDiagnosed(60.0 * minute, job.id, 0, a_diagnosis("hang"))
                    asked += engine.handle(found)
                case Act(action=action):
                    requeued.add(action.job_id)

    assert len(requeued) == touched


def test_jobs_that_have_ended_well_since_count_among_those_that_ran():
    """Four of fifty hang; the others end before that can be seen."""
    engine, diagnosed = DecisionEngine(ordering("fifo"), DecisionLimits()), set()
    for number in range(50):
        engine.handle(JobSeen(0.0, a_job(id=str(number), state=JobState.RUNNING)))

    for minute in range(50):
        for number in range(4, 50) if minute == 25 else ():
            ended = a_job(id=str(number), state=JobState.COMPLETED)
            engine.handle(JobSeen(60.0 * minute, ended))
        asked = []
        for number in range(4):
            progress = a_progress(silence=a_silence(silent_s=60.0 * minute))
            asked += engine.handle(ProgressSeen(60.0 * minute, str(number), progress))
        for measure in asked:
            found = engine.handle(ActivitySeen(60.0 * minute, measure.job.id, 0, IDLE))
            diagnosed |= {one.job.id for one in found if isinstance(one, Diagnose)}

    assert diagnosed == {"0", "1", "2", "3"}


def test_a_partition_may_have_a_time_of_its_own():
    hang = HangLimits(
        requeue=True, after_s=600.0, partitions={"long": 7200.0, "desk": float("inf")}
    )
    engine = lambda: DecisionEngine(ordering("fifo"), DecisionLimits(hang=hang))  # noqa: E731 - a fresh one each time

    assert kinds(Watcher(engine()).silent(12)) == ["requeue"]
    assert Watcher(engine(), request=Request(partition="long")).silent(119) == []
    assert kinds(Watcher(engine(), request=Request(partition="long")).silent(130)) == ["requeue"]
    assert Watcher(engine(), request=Request(partition="desk")).silent(6 * 60) == []


def test_a_run_that_ended_by_itself_has_the_budget_of_every_failure():
    """A watchdog of the job's own ended it: nothing runs that could be stopped by mistake."""
    hang = Attempt(diagnosis=a_diagnosis("hang"), nodes=("n1",))
    other = Attempt(diagnosis=a_diagnosis("hang"), nodes=("n2",))

    assert plan_retry({0: hang, 1: other}, 1, limits=DecisionLimits()).again


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 9_000),
            st.sampled_from([None, 0.0, 5.0, 1e6]),
            st.sampled_from(["hang", "gpu_oom", "nccl_timeout", "not_failed"]),
            st.booleans(),
        ),
        max_size=5,
    )
)
def test_whatever_happens_nothing_that_runs_is_cancelled_and_one_requeue_is_all(history):
    watcher, requeues = Watcher(), 0
    for minutes, cpu_s, reason, resumes in history:
        watcher.diagnosis = a_diagnosis(reason)
        watcher.reached = Reached(resumes=resumes)
        acts = watcher.silent(minutes / 60, activity=lambda _, cpu_s=cpu_s: Activity(cpu_s=cpu_s))
        assert set(kinds(acts)) <= {"requeue", "warn"}
        requeues += kinds(acts).count("requeue")
        if "requeue" in kinds(acts):
            watcher.start_again()
    assert requeues <= 1


@pytest.mark.parametrize(
    ("before", "now"), [(12.0, None), (None, 12.0), (None, None)], ids=["gone", "new", "never"]
)
def test_cpu_time_that_was_not_measured_twice_says_nothing(before, now):
    assert verdict(Activity(cpu_s=before), Activity(cpu_s=now), 60.0) == "unknown"


@pytest.mark.parametrize(
    ("now", "found"), [(12.0, "idle"), (13.2, "idle"), (13.3, "active"), (3.0, "active")]
)
def test_idle_is_next_to_no_cpu_time_of_the_same_processes(now, found):
    assert verdict(Activity(cpu_s=12.0), Activity(cpu_s=now), 60.0) == found


def test_what_was_measured_of_an_earlier_run_says_nothing_of_this_one():
    watcher = Watcher()
    watcher.silent(29)
    watcher.start_again()
    late = [ActivitySeen(watcher.now + 900 * n, "1", 0, IDLE) for n in range(10)]
    silence = a_silence(silent_s=7200.0)
    watcher.engine.handle(ProgressSeen(watcher.now, "1", a_progress(silence=silence)))

    assert [asked for event in late for asked in watcher.engine.handle(event)] == []
