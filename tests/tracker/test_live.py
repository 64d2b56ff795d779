"""A job's logs while they are being written, with the clock in the test's hands."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from schedmate.model import Cost, Finding, Prediction, Progress, Spread, Workload
from schedmate.tracker import JobTracker
from schedmate.tracker.scan import LogScan

START = 1_000_000.0


class Job:
    """Writes its log at times that the test sets."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def write(self, text: str, at: float) -> None:
        with self.log.open("a") as file:
            file.write(text)
        os.utime(self.log, (START + at, START + at))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path / "train.log")


def epochs(count: float) -> Workload:
    return Workload(epochs=Finding(value=count, source="cli"))


def steps(count: int) -> Workload:
    return Workload(max_steps=Finding(value=count, source="cli"))


def predicted(seconds: float) -> Prediction:
    spread = Spread(seconds / 2, seconds, seconds * 2)
    return Prediction(basis="identical", duration_s=spread, explanation="like job 7")


def run_steps(
    job: Job, tracker: JobTracker, count: int, *, total: str, wait: float = 30.0, each: float = 2.0
) -> Progress:
    """A start-up without a line, then a line a step, looked at every half second."""
    now, written = 0.0, 0
    seen = tracker.poll(START)
    while written < count:
        now += 0.5
        if now >= wait + each * (written + 1):
            written += 1
            job.write(f"step {written}{total} loss={1 / written}\n", now)
        seen = tracker.poll(START + now)
    return seen


def test_start_up_is_not_counted_and_the_eta_is_right_early(job: Job):
    tracker = JobTracker([job.log], started_at=START)
    seen = run_steps(job, tracker, 10, total="/100")
    assert seen.phase == "training"
    assert (seen.current, seen.total, seen.fraction) == (10, 100, 0.1)
    assert seen.elapsed_s == pytest.approx(50)
    assert seen.rate_per_s == pytest.approx(0.5, rel=0.05)
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(180, rel=0.05)
    assert seen.eta_s.p10 <= 180 <= seen.eta_s.p90
    assert seen.ends_by == "total"


def test_a_single_look_at_a_running_job_tells_its_end_roughly(job: Job):
    job.write("".join(f"step {n}/100 loss 1\n" for n in range(26)), 50)
    seen = JobTracker([job.log], started_at=START).poll(START + 50)
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(150, rel=0.05)


def test_a_single_look_at_a_resumed_job_does_not_take_its_steps_as_all_done_now(job: Job):
    job.write("".join(f"step {n}/100 loss 1\n" for n in range(50, 61)), 50)
    seen = JobTracker([job.log], started_at=START).poll(START + 50)
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(200, rel=0.05)


def test_the_total_may_come_from_the_workload(job: Job):
    tracker = JobTracker([job.log], started_at=START, workload=steps(40))
    seen = run_steps(job, tracker, 10, total="")
    assert (seen.current, seen.total, seen.fraction) == (10, 40, 0.25)
    assert seen.confidence < 0.95


def test_without_any_total_there_is_a_rate_but_no_end(job: Job):
    seen = run_steps(job, JobTracker([job.log], started_at=START), 10, total="")
    assert (seen.total, seen.fraction, seen.eta_s, seen.ends_by) == (None, None, None, "unknown")
    assert seen.rate_per_s == pytest.approx(0.5, rel=0.05)


def test_rounds_of_a_bar_are_epochs_of_the_workload(job: Job):
    tracker = JobTracker([job.log], started_at=START, workload=epochs(4))
    now = 0.0
    for _ in range(2):
        for n in range(11):
            now += 1
            job.write(f"\r{n * 10:3}%|█ | {n}/10 [00:{n:02}<00:01,  1.0it/s]", now)
            tracker.poll(START + now)
        job.write("\n", now)
    job.write("\r  0%|  | 0/10 [00:00<?, ?it/s]\r 50%|█ | 5/10 [00:05<00:05,  1.0it/s]\n", now + 5)
    seen = tracker.poll(START + now + 5)
    assert (seen.unit, seen.current, seen.total) == ("step", 25, 40)


def test_a_bar_without_line_end_is_seen(job: Job):
    tracker = JobTracker([job.log], started_at=START)
    tracker.poll(START)
    job.write("\r 10%|█ | 1/10 [00:01<00:09,  1.0it/s]\r 20%|██ | 2/10 [00:02<00:08,  1.0it/s]", 2)
    tracker.poll(START + 2)
    assert tracker.poll(START + 2.5).current == 2


def test_half_a_line_is_not_seen(job: Job):
    tracker = JobTracker([job.log], started_at=START)
    job.write("step 5/100 loss 1\nstep 6/10", 1)
    assert [tracker.poll(START + now).total for now in (1, 2, 3)] == [100, 100, 100]
    job.write("0 loss 1\n", 4)
    seen = tracker.poll(START + 4)
    assert (seen.current, seen.total) == (6, 100)


def test_a_hanging_job_stalls_and_recovers(job: Job):
    tracker = JobTracker([job.log], started_at=START)
    run_steps(job, tracker, 12, total="/100", wait=1)
    assert tracker.poll(START + 25 + 200).phase == "training", "minutes, however fast it was"
    assert tracker.poll(START + 25 + 310).phase == "stalled"
    job.write("step 13/100 loss 1\n", 340)
    assert tracker.poll(START + 340).phase == "training"


def test_the_floor_of_a_stall_can_be_set(job: Job):
    tracker = JobTracker([job.log], started_at=START, stall_floor_s=60)
    run_steps(job, tracker, 12, total="/100", wait=1)
    assert tracker.poll(START + 25 + 50).phase == "training"
    assert tracker.poll(START + 25 + 61).phase == "stalled"


def test_a_job_that_hung_before_the_tracker_came_is_found(job: Job):
    job.write("".join(f"step {n}/100 loss 1\n" for n in range(18)), 18)
    tracker = JobTracker([job.log], started_at=START)
    assert tracker.poll(START + 20).phase == "training"
    seen = tracker.poll(START + 330)
    assert seen.phase == "stalled"
    assert seen.silence is not None
    assert seen.silence.silent_s == pytest.approx(310), "what was not check is no evidence"


def test_a_finished_job_is_finished_however_long_ago(job: Job):
    tracker = JobTracker([job.log], started_at=START)
    run_steps(job, tracker, 10, total="/10")
    seen = tracker.poll(START + 10_000)
    assert seen.phase == "finished"
    assert seen.eta_s == Spread(0, 0, 0)


def test_before_the_first_line_a_job_is_starting(job: Job):
    tracker = JobTracker([job.log], started_at=START)
    assert tracker.poll(START + 5).phase == "starting"
    job.write("loading data\n", 6)
    assert tracker.poll(START + 6).phase == "starting"


def test_no_progress_lines_but_a_prediction(job: Job):
    tracker = JobTracker([job.log], started_at=START, prediction=predicted(100))
    for now in range(1, 31):
        job.write("working hard\n", now)
        seen = tracker.poll(START + now)
    assert (seen.phase, seen.format) == ("unknown", "cadence")
    assert seen.eta_s is not None
    assert 15 < seen.eta_s.p10 < seen.eta_s.p50 < seen.eta_s.p90 < 200
    assert seen.eta_s.p50 == pytest.approx(70, rel=0.2)
    assert 0 < seen.confidence < 0.5
    assert tracker.poll(START + 60).phase == "unknown"
    assert tracker.poll(START + 340).phase == "stalled"


def test_logs_of_one_job_are_merged(tmp_path: Path):
    out, err, late = (Job(tmp_path / name) for name in ("a.out", "a.err", "not-there"))
    tracker = JobTracker([out.log, err.log, late.log], started_at=START)
    out.write("{'loss': 0.5, 'learning_rate': 1e-3, 'epoch': 0.5}\n", 1)
    err.write(" 10%|█ | 10/100 [00:01<00:09, 10.0it/s]\n", 1)
    seen = tracker.poll(START + 1)
    assert (seen.log, seen.current, seen.total) == (str(err.log), 10, 100)
    assert seen.metrics["loss"] == 0.5
    err.write("Traceback (most recent call last):\nValueError: no\n", 2)
    assert tracker.poll(START + 2).phase == "failed"


def test_what_an_earlier_run_wrote_is_not_this_run_s_progress(job: Job):
    job.write("step 90/100 loss 1\nTraceback (most recent call last):\nValueError: no\n", -5)
    tracker = JobTracker([job.log], started_at=START)
    seen = tracker.poll(START + 1)
    assert (seen.phase, seen.current) == ("starting", None)
    job.write("step 1/100 loss 1\n", 2)
    assert tracker.poll(START + 2).current == 1


def test_a_log_written_anew_forgets_the_old_run(job: Job):
    tracker = JobTracker([job.log], started_at=START)
    job.write("step 90/100 loss 1\n", 1)
    assert tracker.poll(START + 1).current == 90
    job.log.write_text("hello\n")
    seen = tracker.poll(START + 3)
    assert (seen.phase, seen.current) == ("starting", None)


def test_a_restarted_tracker_goes_on_as_if_nothing_had_happened(job: Job):
    before = JobTracker([job.log], started_at=START)
    job.write("step 1/100 loss 1\nstep 2/100 lo", 1)
    answer = before.poll(START + 1)
    after = JobTracker([job.log], started_at=START, state=before.state())
    again = after.poll(START + 1)
    assert replace(again, cost=answer.cost) == answer
    job.write("ss 1\n", 3)
    assert after.poll(START + 3).current == 2


def test_a_restart_at_every_look_changes_nothing(job: Job):
    steady = JobTracker([job.log], started_at=START)
    state = None
    for now in range(1, 60):
        job.write(f"step {now}/100 loss {1 / now}\n", now)
        answer = steady.poll(START + now)
        other = JobTracker([job.log], started_at=START, state=state)
        again = other.poll(START + now)
        assert _without_speed(again) == _without_speed(answer)
        if answer.eta_s is not None and again.eta_s is not None:
            assert again.eta_s.p50 == pytest.approx(answer.eta_s.p50, rel=0.05)
        state = other.state()


def _without_speed(progress: Progress) -> Progress:
    return replace(progress, cost=Cost(), eta_s=None, rate_per_s=None)


def test_a_restarted_tracker_reads_nothing_twice(job: Job, monkeypatch: pytest.MonkeyPatch):
    before = JobTracker([job.log], started_at=START)
    job.write("".join(f"step {n}/100 loss 1\n" for n in range(50)), 1)
    before.poll(START + 1)
    after = JobTracker([job.log], started_at=START, state=before.state())
    fed: list[bytes] = []
    plain = LogScan.feed

    def noting(self: LogScan, lines: Sequence[bytes], now: float | None) -> None:
        fed.extend(lines)
        plain(self, lines, now)

    monkeypatch.setattr(LogScan, "feed", noting)
    job.write("step 50/100 loss 1\n", 2)
    assert after.poll(START + 2).current == 50
    assert fed == [b"step 50/100 loss 1"]


def test_a_state_that_makes_no_sense_is_a_fresh_start(job: Job):
    job.write("step 7/100 loss 1\n", 1)
    for state in ("", "{}", "[1]", '{"version": 99}', "\x00"):
        assert JobTracker([job.log], started_at=START, state=state).poll(START + 2).current == 7


def test_a_restarted_tracker_finds_the_job_that_hangs_since(job: Job):
    before = JobTracker([job.log], started_at=START)
    run_steps(job, before, 12, total="/100", wait=1)
    after = JobTracker([job.log], started_at=START, state=before.state())
    assert after.poll(START + 30).phase == "training"
    assert after.poll(START + 360).phase == "stalled"


def test_the_first_round_of_a_nameless_bar_may_not_be_the_end(job: Job):
    tracker = JobTracker([job.log], started_at=START)
    for now in range(11):
        job.write(f"\r{now * 10:3}%|█ | {now}/10 [00:{now:02}<00:01,  1.0it/s]", now)
        seen = tracker.poll(START + now)
    job.write("\n", 10)
    seen = tracker.poll(START + 10.5)
    assert (seen.phase, seen.current, seen.total) == ("unknown", 10, 10)
    assert seen.confidence <= 0.5
    assert tracker.poll(START + 60).phase == "finished"


@pytest.mark.parametrize(
    ("waits", "reasons"),
    [
        ([3.0] * 4, []),
        ([3.0] * 10 + [0.1] * 11, []),
        ([3.0] * 20, ["time_limit"]),
    ],
    ids=["of four steps", "of steps that become fast", "of steady steps"],
)
def test_that_a_limit_is_missed_is_stated_only_from_a_stable_pace(
    job: Job, waits: list[float], reasons: list[str]
):
    tracker = JobTracker([job.log], started_at=START, limit_s=1200)
    now = 0.0
    for step, wait in enumerate(waits, 1):
        now += wait
        job.write(f"step {step}/500 loss=0.5\n", now)
        seen = tracker.poll(START + now)
    assert [one.reason for one in seen.warnings] == reasons


def test_the_scheduler_ends_what_goes_on_for_too_long(job: Job):
    tracker = JobTracker([job.log], started_at=START, limit_s=100)
    seen = run_steps(job, tracker, 10, total="/100")
    assert seen.ends_by == "limit"
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(50)
    assert (seen.work_fraction, seen.time_fraction) == (0.1, pytest.approx(0.5))
    enough = JobTracker([job.log], started_at=START, limit_s=1000).poll(START + 50)
    assert enough.ends_by == "total"


def test_the_code_ends_what_has_a_time_cap(job: Job):
    capped = Workload(max_time_s=Finding(value=90.0, source="cli"))
    seen = run_steps(job, JobTracker([job.log], started_at=START, workload=capped), 10, total="/90")
    assert seen.ends_by == "cap"
    assert seen.eta_s is not None
    assert seen.eta_s.p50 == pytest.approx(40, abs=2)


def test_nothing_is_opened_when_nothing_changed(job: Job, monkeypatch: pytest.MonkeyPatch):
    tracker = JobTracker([job.log], started_at=START)
    job.write("step 1/100 loss 1\n", 1)
    tracker.poll(START + 1)

    def forbidden(*args: object) -> int:
        raise AssertionError(args)

    monkeypatch.setattr(os, "open", forbidden)
    assert tracker.poll(START + 2).current == 1


def test_a_job_past_its_prediction_is_overdue_and_its_end_unknown():
    """`sleep 45`, predicted as 4 to 6 s."""
    prediction = Prediction(basis="history", duration_s=Spread(4, 5, 6), explanation="x")
    tracker = JobTracker([], started_at=START, prediction=prediction)
    soon = tracker.poll(START + 5.5)
    assert soon.eta_s is not None
    assert soon.eta_s.p50 > 0
    assert soon.fraction is not None
    for seconds in (9, 20, 32):
        overdue = tracker.poll(START + seconds)
        assert (overdue.fraction, overdue.eta_s) == (None, None)


def test_a_log_that_stands_still_past_its_own_end_does_not_show_when_that_is(job: Job):
    """A parent that waits for its child after three quarters of its steps."""
    tracker = JobTracker([job.log], started_at=START)
    seen = run_steps(job, tracker, 30, total="/40")
    assert seen.eta_s is not None
    last = 30.0 + 2.0 * 30
    assert tracker.poll(START + last + 4).eta_s is not None
    still = tracker.poll(START + last + seen.eta_s.p90 + 20)
    assert (still.eta_s, still.current, still.total) == (None, 30, 40)
    job.write("step 31/40 loss=0.1\n", last + seen.eta_s.p90 + 21)
    assert tracker.poll(START + last + seen.eta_s.p90 + 21).eta_s is not None


def test_no_logs_at_all():
    seen = JobTracker([], started_at=START, prediction=predicted(10)).poll(START + 4)
    assert (seen.log, seen.format) == ("", "cadence")
    assert JobTracker([]).poll(START).phase == "starting"
