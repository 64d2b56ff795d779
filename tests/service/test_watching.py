"""Running jobs are followed over restarts, with all that is known of them and of runs like them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.model import (
    Finding,
    Fingerprint,
    JobState,
    LearnedPattern,
    Mark,
    Match,
    Request,
    RunProfile,
    Workload,
)
from schedmate.service.daemon.background import BackgroundQueue
from schedmate.service.daemon.pattern_learning import PatternLearning
from schedmate.service.daemon.watching import LogWatcher
from schedmate.service.records.log_files import MOST_LOGS, logs_of
from schedmate.service.records.run_record import read_ended
from schedmate.service.records.run_tracking import similar_profiles
from schedmate.store import KeptAdvice
from schedmate.testing.builders import a_job, a_past_run, a_prediction, an_advice

MARKS = Fingerprint(code="c0de", arguments="a4g5")
START = 1_700_000_000.0


@pytest.fixture
def new_watching(store):
    """A daemon's watching, and the next one's after a restart."""
    background = BackgroundQueue()
    yield lambda: LogWatcher(store, PatternLearning(store, background))
    background.close()


@pytest.fixture
def log(tmp_path):
    return tmp_path / "job.log"


def running(log, **parts):
    return a_job(
        state=JobState.RUNNING,
        start_time=START,
        workdir=str(log.parent),
        logs=(str(log),),
        **parts,
    )


def ended(job, at):
    return replace(job, state=JobState.COMPLETED, end_time=at)


def write(log, steps, *, total=100):
    with log.open("a") as file:
        file.writelines(f"step {step}/{total} loss 0.5\n" for step in steps)


def known(store, workload=None, **prediction):
    advice = an_advice(workload=workload or Workload(), prediction=a_prediction(**prediction))
    store.keep_advice("1", KeptAdvice(advice, MARKS))


def one_look(watching, now):
    ((_, progress),) = watching.look(now)
    return progress


def test_a_daemon_after_a_restart_reads_nothing_twice(store, new_watching, log):
    first = new_watching()
    first.begin(running(log))
    for second in range(1, 6):
        write(log, [second])
        before = one_look(first, START + second)
    first.close()
    size = log.stat().st_size
    log.write_bytes(b"#" * (size - 200) + log.read_bytes()[size - 200 :])

    second = new_watching()
    second.begin(running(log))
    again = one_look(second, START + 5)
    assert (again.current, again.total) == (before.current, before.total) == (5, 100)
    assert again.rate_per_s == pytest.approx(before.rate_per_s)
    write(log, [6])
    assert one_look(second, START + 6).current == 6


def test_where_it_stopped_is_written_down_now_and_then_and_only_of_this_attempt(
    store, new_watching, log
):
    watching = new_watching()
    watching.begin(running(log))
    write(log, [1])
    watching.look(START + 1)
    first = store.tracking("1", 0)
    write(log, [2])
    watching.look(START + 2)
    assert store.tracking("1", 0) == first
    watching.look(START + 7)
    assert store.tracking("1", 0) != first
    assert store.tracking("1", 1) is None


def test_the_end_of_a_run_tells_how_it_went(store, new_watching, log):
    watching = new_watching()
    watching.begin(running(log))
    for second in range(1, 41):
        write(log, [second], total=40)
        watching.look(START + second)
    found = watching.end(ended(running(log), START + 41))
    assert found.progress.phase == "finished"
    assert (found.profile.unit, found.profile.done, found.profile.total) == ("step", 40, 40)
    assert watching.jobs == frozenset()


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        (JobState.COMPLETED, "finished"),
        (JobState.FAILED, "failed"),
        (JobState.TIMEOUT, "training"),
    ],
)
def test_the_schedulers_state_is_the_end_where_the_log_states_none(state, phase, new_watching, log):
    watching = new_watching()
    watching.begin(running(log))
    write(log, range(1, 25), total=40)
    found = watching.end(replace(ended(running(log), START + 41), state=state))
    assert (found.progress.phase, found.progress.current) == (phase, 24)


def test_a_run_that_ended_between_two_daemons_is_read_to_its_end(store, new_watching, log):
    first = new_watching()
    first.begin(running(log))
    write(log, range(1, 30), total=40)
    first.look(START + 29)
    first.close()
    write(log, range(30, 41), total=40)

    found = new_watching().end(ended(running(log), START + 41))

    assert (found.progress.current, found.progress.phase) == (40, "finished")
    store.keep_run(a_past_run(job=ended(running(log), START + 41)))
    assert new_watching().end(ended(running(log), START + 41)) is None


def test_the_limit_of_the_scheduler_is_known(store, new_watching, log):
    watching = new_watching()
    watching.begin(running(log, request=Request(time_limit_s=30.0)))
    for second in range(1, 11):
        write(log, [second])
        progress = one_look(watching, START + second)
    assert progress.ends_by == "limit"
    assert progress.eta_s.p50 == pytest.approx(20, abs=0.5)


def test_a_limit_that_is_raised_while_it_runs_counts(store, new_watching, log):
    watching, job = new_watching(), running(log, request=Request(time_limit_s=500.0))
    watching.begin(job)
    found = []
    for step in range(1, 40):
        write(log, [step])
        if step == 30:
            watching.see(replace(job, request=Request(time_limit_s=2000.0)))
        found.append(one_look(watching, START + 10.0 * step).ends_by)
    assert found[28] == "limit"
    assert found[-1] == "total"


def test_the_end_of_a_run_like_it_is_known_where_the_log_does_not_say(store, new_watching, log):
    curve = tuple(Mark(float(second), second * 2.0) for second in range(101))
    kept = a_past_run(profile=RunProfile(unit="step", curve=curve), fingerprint=MARKS)
    store.keep_run(replace(kept, job=replace(kept.job, id="7")))
    known(store)
    watching = new_watching()
    watching.begin(running(log))
    for second in range(1, 21):
        with log.open("a") as file:
            file.write(f"step={second * 2} loss=0.5\n")
        progress = one_look(watching, START + second)
    assert progress.eta_s.p50 == pytest.approx(80, abs=10)


def profile(done):
    return RunProfile(unit="step", curve=(Mark(10.0, done),))


def past(job_id, done, *, marks=MARKS, state=JobState.COMPLETED):
    job = a_job(id=job_id, state=state, end_time=1100.0 + done)
    return a_past_run(job=job, fingerprint=marks, profile=profile(done))


def test_the_most_similar_runs_that_completed_come_first(store):
    store.keep_runs(
        [
            past("same", 1),
            past("code", 2, marks=replace(MARKS, arguments="others")),
            past("similar", 3, marks=None),
            past("stranger", 4, marks=None),
            past("failed", 5, state=JobState.FAILED),
            replace(past("unseen", 6), profile=None),
        ]
    )
    matches = tuple(
        Match(job_id=name, similarity=0.9, duration_s=1) for name in ("same", "similar")
    )
    known(store, matches=matches)
    assert similar_profiles(store.advice("1"), store) == (profile(1), profile(2), profile(3))
    assert similar_profiles(None, store) == ()
    store.keep_runs([past(str(number), 10 + number) for number in range(20)])
    assert len(similar_profiles(store.advice("1"), store)) == 8


def named(*names):
    return Workload(log_files=Finding(value=names, source="cli"))


def test_what_a_job_writes_itself_is_followed_within_its_directory_only(tmp_path):
    work = tmp_path / "work"
    (work / "ranks" / "1").mkdir(parents=True)
    for name in ("own.log", "r-0.out", "r-1.out", "x[1].log", "ranks/1/stdout.log"):
        (work / name).write_text("")
    (tmp_path / "secret.log").write_text("")
    (work / "link.log").symlink_to(tmp_path / "secret.log")
    job = a_job(workdir=str(work), logs=("/out/given.out",))

    def found(*names):
        return [str(path).removeprefix(f"{work}/") for path in logs_of(job, named(*names))[1:]]

    assert [str(path) for path in logs_of(job, None)] == ["/out/given.out"]
    assert found("own.log", f"{work}/own.log", "missing.log") == ["own.log"]
    assert found("r-%t.out") == ["r-0.out", "r-1.out"]
    assert found("x[1].log") == ["x[1].log"]
    assert found("ranks") == ["ranks/1/stdout.log"]
    assert found("link.log", "../secret.log", f"{tmp_path}/secret.log", "", "/", "\0", "**") == []


def test_a_job_with_thousands_of_logs_is_followed_in_some(tmp_path):
    for number in range(MOST_LOGS + 10):
        (tmp_path / f"r{number:03}.log").write_text("")
    job = a_job(workdir=str(tmp_path), logs=("/out/given.out",))
    assert len(logs_of(job, named("r%t.log"))) == MOST_LOGS


def test_a_log_of_its_own_that_a_run_opens_later_is_found(store, new_watching, log):
    known(store, named("own/%t.log"))
    watching = new_watching()
    watching.begin(running(log))
    head, rest = "saved checkpoint at step 7 to out/ckpt-7\n", "and so on\n" * 99
    log.write_text(head + rest)
    seen = one_look(watching, START + 1)
    assert (seen.current, seen.checkpoint.step) == (None, 7)
    log.write_text("#" * len(head) + rest)
    own = log.parent / "own" / "0.log"
    own.parent.mkdir()
    write(own, [3])
    one_look(watching, START + 7)
    seen = one_look(watching, START + 8)
    assert (seen.current, seen.checkpoint.step) == (3, 7), "the first log was read again"


def test_code_that_could_stop_early_but_will_not(store, new_watching, log):
    def ends_by(*, stops):
        known(store, Workload(early_stopping=Finding(value=stops, source="code")))
        watching = new_watching()
        watching.begin(running(log))
        write(log, [1, 2, 3])
        watching.look(START + 3)
        write(log, [4, 5, 6])
        return one_look(watching, START + 6).ends_by

    assert ends_by(stops=False) == "total"
    assert ends_by(stops=True) == "early_stop"


def test_a_run_that_nobody_followed_is_known_from_its_logs(log):
    bar = "".join(f"\rtrain: {n}%|#| {n}/100 [00:{n // 2:02}<00:10, 2.00it/s]" for n in range(101))
    log.write_text(bar + "\n")
    found = read_ended(ended(running(log), START + 60), Workload()).profile
    assert (found.done, found.total) == (100, 100)


def test_without_times_in_its_log_the_whole_of_a_run_is_known(log):
    write(log, range(1, 101))
    found = read_ended(ended(running(log), START + 60), Workload()).profile
    assert (found.unit, found.curve, found.total) == ("step", (Mark(60.0, 100.0),), 100)


def test_a_huge_log_of_the_past_is_left_alone(log, monkeypatch):
    monkeypatch.setattr("schedmate.service.records.run_record._MOST_BYTES", 10)
    write(log, range(1, 101))
    assert read_ended(ended(running(log), START + 60), Workload()).profile is None
    log.unlink()
    assert read_ended(ended(running(log), START + 60), Workload()).profile is None


def odd(log, start, end):
    with log.open("a") as file:
        file.writelines(f"{n} did it, {500 - n} more, q {1 / n:.3f}\n" for n in range(start, end))


def test_how_a_log_is_read_is_learnt_once_for_the_code(store, new_watching, log):
    known(store)
    first = new_watching()
    first.begin(running(log))
    odd(log, 1, 60)
    assert one_look(first, START + 60).current == 59
    first.end(ended(running(log), START + 61))
    store.keep_run(a_past_run(job=ended(running(log), START + 61)))
    learnt = store.learned_pattern("c0de")
    assert learnt is not None
    log.unlink()

    second = new_watching()
    second.begin(running(log))
    odd(log, 70, 72)
    assert one_look(second, START + 2).current == 71
    second.end(ended(running(log), START + 3))
    assert store.learned_pattern("c0de") == learnt


def test_what_was_learnt_wrongly_is_forgotten(store, new_watching, log):
    known(store)
    wrong = LearnedPattern(expression=r"\d+ did it, (?P<current>\d+) more, q .*", unit="step")
    store.learn_pattern("c0de", wrong)
    watching = new_watching()
    watching.begin(running(log))
    odd(log, 1, 200)
    watching.look(START + 60)
    watching.end(ended(running(log), START + 61))
    assert store.learned_pattern("c0de") != wrong


@pytest.mark.slow
def test_fifty_hostile_logs_share_the_looks_and_end_in_bounded_reading(
    store, new_watching, tmp_path, monkeypatch
):
    monkeypatch.setattr("schedmate.service.daemon.watching._LONGEST_POLL_S", 0.0)
    monkeypatch.setattr("schedmate.service.daemon.watching._LAST_POLLS_S", 0.0)
    monkeypatch.setattr("schedmate.service.daemon.watching._LEAST_LOOK_S", 0.0)
    monkeypatch.setattr("schedmate.service.daemon.watching._SHARE", 0.0)
    monkeypatch.setattr("schedmate.service.daemon.watching._LONGEST_TAIL_S", 60.0)
    watching, jobs = new_watching(), []
    write(tmp_path / "0.log", range(1, 20_001), total=20_000)
    for number in range(50):
        log = tmp_path / f"{number}.log"
        log.write_bytes((tmp_path / "0.log").read_bytes())
        jobs.append(running(log, id=str(number)))
        watching.begin(jobs[-1])
    seen = [job_id for _ in range(50) for job_id, _ in watching.look(START + 60)]
    assert sorted(seen) == sorted(job.id for job in jobs), "each has had one turn"
    found = watching.end(ended(jobs[7], START + 90))
    assert found.progress.current == 20_000, "the end of its log is read all the same"
    assert found.profile is None, "its pace is not known"
    assert watching.jobs == {job.id for job in jobs} - {"7"}


def test_a_job_that_the_scheduler_calls_running_is_never_finished(new_watching, log):
    watching, job = new_watching(), running(log)
    write(log, range(1, 101))
    watching.begin(job)
    for seconds in (100, 1000, 10_000):
        progress = one_look(watching, START + seconds)
        assert (progress.current, progress.phase == "finished") == (100, False)
    over = watching.end(ended(job, START + 10_001))
    assert over is not None
    assert over.progress.phase == "finished"
