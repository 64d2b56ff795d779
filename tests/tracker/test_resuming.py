"""Whether a run goes on where the one before it had saved, by logs of both."""

from __future__ import annotations

import pytest

from schedmate.model import EarlierRun, RunCourse
from schedmate.tracker import JobTracker
from schedmate.tracker.tracker_state import left_before, state_behind

STEPS = 100
STARTED = 1000.0


def lines(first, last, *, loss=None):
    value = loss or (lambda step: 8.0 * 0.97**step)
    return "".join(f"step {one}/{STEPS} loss {value(one):.4f}\n" for one in range(first, last + 1))


def followed(log, text, **parts):
    """What a tracker says of a run that writes this."""
    tracker = JobTracker([log], started_at=STARTED, **parts)
    tracker.poll(STARTED + 1)
    with log.open("a") as file:
        file.write(text)
    return tracker, tracker.poll(STARTED + 60)


def after(log, text, took_s=60.0):
    """What a run that wrote this leaves to the next one of the job, which appends to its log."""
    tracker, progress = followed(log, text)
    left = tracker.left_by_it(progress, took_s)
    return state_behind([log], left)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    path.touch()
    return path


SAVED = lines(1, 40) + "saved checkpoint out/last.pt at step 40\n" + lines(41, 46)


def test_a_run_that_begins_behind_the_checkpoint_has_resumed(log):
    state = after(log, SAVED, took_s=46.0)
    tracker, progress = followed(log, lines(41, 50), state=state)
    assert progress.current == 50
    assert progress.resume.outcome == "resumed"
    assert (progress.resume.began, progress.resume.before_s) == (41.0, 46.0)
    again = JobTracker([log], started_at=STARTED, state=tracker.state())
    assert again.poll(STARTED + 63).resume == progress.resume, "a later daemon says the same"


def test_the_work_of_all_runs_before_counts(log):
    first = after(log, SAVED, took_s=46.0)
    second, progress = followed(
        log, lines(41, 80) + "saved checkpoint out/last.pt at step 80\n", state=first
    )
    left = second.left_by_it(progress, 40.0)
    assert left.took_s == 86.0
    _, third = followed(log, lines(81, 90), state=state_behind([log], left))
    assert third.resume.before_s == 86.0


@pytest.mark.parametrize(
    "text",
    [lines(1, 20), lines(2, 20), f"0%| | 0/{STEPS} [00:00<?, ?it/s]\n" + lines(1, 20)],
    ids=["first", "second", "empty bar"],
)
def test_a_run_that_begins_at_the_first_steps_has_started_over(log, text):
    _, progress = followed(log, text, state=after(log, SAVED))
    assert progress.resume.outcome == "started_over"
    assert progress.resume.before_s == 0.0


def test_an_empty_bar_before_the_checkpoint_is_loaded_is_no_beginning(log):
    bars = "".join(
        f"\r{100 * one // STEPS}%|#| {one}/{STEPS} [00:10<00:10, 9.9it/s]" for one in range(41, 50)
    )
    before = EarlierRun(unit="step", done=46.0, saved=40, saves=True, course=RunCourse(began=1.0))
    _, progress = followed(log, f"0%| | 0/{STEPS} [00:00<?, ?it/s]{bars}\n", after=before)
    assert progress.resume.outcome == "resumed"


def test_steps_that_go_on_with_a_loss_that_does_not_are_a_new_beginning(log):
    state = after(log, SAVED)
    _, early = followed(log, lines(41, 42, loss=lambda _: 8.0), state=state)
    assert early.resume is None, "two values of a loss show nothing"
    log.write_text("")
    state = after(log, SAVED)
    _, progress = followed(log, lines(41, 60, loss=lambda _: 8.0), state=state)
    assert progress.resume.outcome == "started_over"


def test_a_loss_that_only_scatters_says_nothing(log):
    noisy = [9.6, 4.7, 10.9, 5.1, 9.9, 4.8, 6.1, 7.7]
    text = lines(1, 46, loss=lambda one: noisy[one % 8])
    state = after(log, text + "saved checkpoint out/last.pt at step 46\n")
    _, progress = followed(log, lines(47, 60, loss=lambda one: noisy[one % 3]), state=state)
    assert progress.resume.outcome == "resumed"


def test_an_older_checkpoint_proves_nothing(log):
    _, progress = followed(log, lines(31, 45), state=after(log, SAVED))
    assert progress.resume is None


def test_a_run_without_a_checkpoint_proves_nothing_by_going_on(log):
    _, progress = followed(log, lines(41, 50), state=after(log, lines(1, 40)))
    assert progress.resume is None


def test_a_log_that_begins_with_an_earlier_run_proves_nothing(log):
    log.write_text(SAVED + lines(41, 50))
    before = EarlierRun(unit="step", done=46.0, saved=40, saves=True, course=RunCourse(began=1.0))
    tracker = JobTracker([log], started_at=STARTED, whole=False, after=before)
    assert tracker.poll(STARTED + 60).resume is None


def test_what_the_last_run_wrote_without_a_line_end_is_not_the_next_ones(log):
    state = after(log, SAVED + f"46%|####| 46/{STEPS} [00:46<00:54, 1.0it/s]")
    _, progress = followed(log, "starting\n" + lines(1, 20), state=state)
    assert progress.resume.outcome == "started_over"


def test_a_log_that_is_truncated_begins_with_the_next_run(log):
    state = after(log, SAVED)
    tracker = JobTracker([log], started_at=STARTED, state=state)
    log.write_text(lines(1, 9))
    assert tracker.poll(STARTED + 60).resume.outcome == "started_over"


def test_another_job_of_the_same_code_may_begin_anew(log):
    course = RunCourse(began=1.0)
    before = EarlierRun(unit="step", done=46.0, saved=40, saves=True, course=course, same_job=False)
    _, progress = followed(log, lines(1, 20), after=before)
    assert progress.resume is None
    log.write_text("")
    _, progress = followed(log, lines(41, 60), after=before)
    assert progress.resume.outcome == "resumed"


def test_what_was_left_is_kept_with_the_state(log):
    state = after(log, SAVED, took_s=7.0)
    assert left_before(state).saved == 40
    assert left_before(state).took_s == 7.0
    assert left_before("not a state") is None
