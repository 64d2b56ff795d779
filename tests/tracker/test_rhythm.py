from __future__ import annotations

from schedmate.tracker.rhythm import Rhythm


def spoken(times: list[float], *, started_at: float = 0.0, floor_s: float = 10.0) -> Rhythm:
    rhythm = Rhythm(floor_s=floor_s, started_at=started_at)
    for now in times:
        rhythm.look(now, spoke=True)
    return rhythm


def test_a_silence_far_beyond_the_own_rhythm_is_a_stall():
    rhythm = spoken([float(now) for now in range(1, 20)])
    assert not rhythm.is_stalled(19 + 10, patient=False)
    assert rhythm.is_stalled(19 + 10.1, patient=False)


def test_a_slow_job_may_be_silent_longer_than_a_fast_one():
    slow = spoken([60.0 * look for look in range(1, 20)])
    assert not slow.is_stalled(60 * 19 + 170, patient=False)
    assert slow.is_stalled(60 * 19 + 181, patient=False)


def test_a_job_without_a_rhythm_is_never_stalled():
    assert not spoken([1, 2, 3, 4, 5]).is_stalled(1e9, patient=False)
    assert not Rhythm(floor_s=0, started_at=0).is_stalled(1e9, patient=False)
    assert spoken([1, 2, 3, 4, 5, 6]).is_stalled(1e9, patient=False)


def test_the_silence_of_the_start_up_is_part_of_the_rhythm():
    rhythm = spoken([100.0 + look for look in range(10)], started_at=0)
    assert not rhythm.is_stalled(109 + 290, patient=False)
    assert rhythm.is_stalled(109 + 310, patient=False)


def test_evaluations_and_checkpoints_get_more_patience():
    rhythm = spoken([2.0 * look for look in range(20)])
    assert rhythm.is_stalled(38 + 15, patient=False)
    assert not rhythm.is_stalled(38 + 15, patient=True)


def test_a_small_part_of_a_long_run_is_no_alarm():
    rhythm = spoken([float(now) for now in range(1, 10_000)])
    assert not rhythm.is_stalled(9_999 + 400, patient=False)
    assert rhythm.is_stalled(9_999 + 600, patient=False)


def test_a_clock_set_back_is_no_silence():
    rhythm = spoken([1000.0 + look for look in range(10)], started_at=1000)
    rhythm.look(500, spoke=False)
    assert not rhythm.is_stalled(505, patient=False)
    assert rhythm.is_stalled(600, patient=False)


def test_a_run_that_hung_before_it_was_watched_is_found():
    rhythm = Rhythm(floor_s=10, started_at=0)
    rhythm.catch_up(20, until=8)
    assert not rhythm.is_stalled(12, patient=False)
    assert rhythm.is_stalled(19, patient=False)


def test_lines_between_two_looks_make_a_rhythm():
    rhythm = Rhythm(floor_s=10, started_at=0)
    for now in (1.5, 3.0, 4.5):
        rhythm.look(now, spoke=True, lines=8)
    assert not rhythm.is_stalled(14, patient=False)
    assert rhythm.is_stalled(15, patient=False)
