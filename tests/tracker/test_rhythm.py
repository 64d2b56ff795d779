from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model import Silence
from schedmate.model.wire import dumps, loads
from schedmate.tracker.forecasting.rhythm import Rhythm

COMPILATION = 1800.0


def written_at(times: list[float], *, started_at: float = 0.0, floor_s: float = 10.0) -> Rhythm:
    rhythm = Rhythm(floor_s=floor_s, started_at=started_at)
    for now in times:
        rhythm.observe(now, wrote=True)
    return rhythm


def watched(rhythm: Rhythm, first: int, last: int, *, every: int, patient: bool = False) -> None:
    """Look every second; the job speaks every so many."""
    for now in range(first, last + 1):
        rhythm.observe(now, wrote=(now - first + 1) % every == 0, patient=patient)


def test_a_silence_far_beyond_the_own_rhythm_is_a_stall():
    rhythm = written_at([float(now) for now in range(1, 20)])
    assert not rhythm.is_stalled(19 + 10, patient=False)
    assert rhythm.is_stalled(19 + 10.1, patient=False)


def test_a_slow_job_may_be_silent_longer_than_a_fast_one():
    slow = written_at([60.0 * look for look in range(1, 20)])
    assert not slow.is_stalled(60 * 19 + 170, patient=False)
    assert slow.is_stalled(60 * 19 + 181, patient=False)


def test_a_job_without_a_rhythm_is_never_stalled():
    assert not written_at([float(now) for now in range(1, 11)]).is_stalled(1e9, patient=False)
    assert not Rhythm(floor_s=0, started_at=0).is_stalled(1e9, patient=False)
    assert written_at([float(now) for now in range(1, 12)]).is_stalled(1e9, patient=False)


def test_a_few_lines_are_enough_to_believe_an_end_but_not_for_an_alarm():
    few = written_at([float(now) for now in range(1, 8)], floor_s=300.0)
    assert not few.is_quiet(7 + 10)
    assert few.is_quiet(7 + 11)
    assert not few.is_stalled(7 + 1000, patient=False)


def test_after_a_long_start_up_a_silence_as_long_is_no_stall_yet():
    rhythm = written_at([100.0 + look for look in range(11)], started_at=0)
    assert not rhythm.is_stalled(110 + 85, patient=False)
    assert rhythm.is_stalled(110 + 100, patient=False)


def test_a_long_compilation_excuses_less_the_longer_the_job_runs():
    rhythm = written_at([1.0, COMPILATION], started_at=0)
    for step in range(1, 7200):
        rhythm.observe(COMPILATION + step, wrote=True)
    last = COMPILATION + 7199
    assert not rhythm.is_stalled(last + 400, patient=False)
    assert rhythm.is_stalled(last + 500, patient=False)


def test_a_silence_that_came_once_excuses_half_as_much_as_one_that_came_twice():
    once, twice = Rhythm(floor_s=1, started_at=0), Rhythm(floor_s=1, started_at=0)
    watched(once, 1, 1000, every=1)
    watched(once, 1001, 1200, every=200)
    watched(once, 1201, 1300, every=1)
    watched(twice, 1, 900, every=1)
    watched(twice, 901, 1100, every=200)
    watched(twice, 1101, 1300, every=200)
    assert not once.is_stalled(1300 + 299, patient=False)
    assert once.is_stalled(1300 + 301, patient=False)
    assert not twice.is_stalled(1300 + 599, patient=False)
    assert twice.is_stalled(1300 + 601, patient=False)


def test_evaluations_and_checkpoints_get_more_patience():
    rhythm = written_at([2.0 * look for look in range(20)])
    assert rhythm.is_stalled(38 + 15, patient=False)
    assert not rhythm.is_stalled(38 + 15, patient=True)


def test_a_known_pause_is_measured_by_its_own_kind_and_excuses_no_other_silence():
    rhythm = Rhythm(floor_s=1, started_at=0)
    watched(rhythm, 1, 600, every=1)
    watched(rhythm, 601, 660, every=60, patient=True)
    watched(rhythm, 661, 700, every=1)
    assert not rhythm.is_stalled(700 + 179, patient=True)
    assert rhythm.is_stalled(700 + 181, patient=True)
    assert rhythm.is_stalled(700 + 40, patient=False)


def test_a_small_part_of_a_long_run_is_no_alarm():
    rhythm = written_at([float(now) for now in range(1, 10_000)])
    assert not rhythm.is_stalled(9_999 + 400, patient=False)
    assert rhythm.is_stalled(9_999 + 600, patient=False)


def test_a_clock_set_back_is_no_silence():
    rhythm = written_at([1000.0 + look for look in range(11)], started_at=1000)
    rhythm.observe(500, wrote=False)
    assert not rhythm.is_stalled(505, patient=False)
    assert rhythm.is_stalled(600, patient=False)


def test_the_sleep_of_a_machine_is_no_silence_to_measure_later_ones_by():
    rhythm = Rhythm(floor_s=1, started_at=0)
    watched(rhythm, 1, 10_000, every=1)
    rhythm.observe(20_000, wrote=True)
    watched(rhythm, 20_001, 20_100, every=1)
    assert not rhythm.is_stalled(20_100 + 900, patient=False)
    assert rhythm.is_stalled(20_100 + 1100, patient=False)


def test_time_in_which_nobody_looked_counts_when_the_job_is_silent_after_it():
    rhythm = written_at([float(now) for now in range(1, 20)])
    rhythm.observe(1000, wrote=False)
    assert rhythm.is_stalled(1000, patient=False)


def test_a_run_that_hung_before_it_was_watched_is_found():
    rhythm = Rhythm(floor_s=10, started_at=0)
    rhythm.catch_up(20, until=8, now=9)
    assert not rhythm.is_stalled(12, patient=False)
    assert rhythm.is_stalled(19, patient=False)


def silent_s(rhythm: Rhythm, now: float) -> float:
    silence = rhythm.silence(now, None)
    assert silence is not None
    return silence.silent_s


def test_what_the_engine_gets_to_know_of_a_silence():
    rhythm = written_at([2.0 * look for look in range(1, 101)])
    assert rhythm.silence(260, None) == Silence(
        silent_s=60, allowed_s=10, usual_gap_s=2, lines=99, looks=100, learnt_s=198
    )
    announced = rhythm.silence(260, "compiling")
    assert announced is not None
    assert (announced.pause, announced.allowed_s) == ("compiling", 20)
    assert Rhythm(floor_s=1, started_at=0).silence(5, None) is None


def test_only_watched_silence_is_evidence():
    """The machine slept, or the daemon was away: both are no time in which the job was silent."""
    rhythm = Rhythm(floor_s=1, started_at=0)
    watched(rhythm, 1, 100, every=1)
    rhythm.observe(5000, wrote=False)
    assert silent_s(rhythm, 5000) == 0
    rhythm.observe(5001, wrote=False)
    assert silent_s(rhythm, 5010) == 10
    rhythm.observe(5011, wrote=True)
    assert silent_s(rhythm, 5020) == 9
    assert rhythm.longest_s < 100, "nor one to measure later ones by"


def test_what_was_written_while_nobody_looked_is_part_of_the_rhythm():
    """A daemon that is away in the first minutes of a run misses no hang after them."""
    rhythm = Rhythm(floor_s=1, started_at=0)
    watched(rhythm, 1, 10, every=1)
    rhythm.observe(610, wrote=True, lines=200)
    silence = rhythm.silence(3000, None)
    assert silence is not None
    assert (silence.looks, silence.lines, silence.learnt_s) == (210, 209, 609)
    assert 450 <= silence.allowed_s <= 500, "some of its silences may have been long"


def test_a_burst_after_a_late_look_is_one_look_for_each_line():
    rhythm = Rhythm(floor_s=1, started_at=0)
    watched(rhythm, 1, 10, every=1)
    rhythm.observe(610, wrote=True, lines=3)
    assert rhythm.looks == 13


def test_what_was_silent_before_it_was_watched_is_no_evidence():
    rhythm = Rhythm(floor_s=10, started_at=0)
    rhythm.catch_up(500, until=100, now=9000)
    assert silent_s(rhythm, 9030) == 30
    silence = rhythm.silence(9030, None)
    assert silence is not None
    assert (silence.lines, silence.looks) == (500, 0)


def test_a_clock_set_back_makes_no_silence_longer():
    rhythm = written_at([1000.0 + look for look in range(60)], started_at=1000)
    rhythm.observe(1100, wrote=False)
    before = silent_s(rhythm, 1100)
    rhythm.observe(500, wrote=False)
    assert silent_s(rhythm, 500) == pytest.approx(before)


def test_lines_between_two_looks_make_a_rhythm():
    rhythm = Rhythm(floor_s=10, started_at=0)
    for now in (1.5, 3.0, 4.5):
        rhythm.observe(now, wrote=True, lines=8)
    assert not rhythm.is_stalled(14, patient=False)
    assert rhythm.is_stalled(15, patient=False)


def test_it_goes_on_after_a_restart():
    rhythm = written_at([float(now) for now in range(1, 20)])
    again = loads(Rhythm, dumps(rhythm))
    assert again == rhythm
    assert again.is_stalled(19 + 10.1, patient=False)


@given(st.lists(st.tuples(st.floats(-1e9, 1e12), st.booleans(), st.booleans()), max_size=40))
def test_any_clock_is_survived(looks: list[tuple[float, bool, bool]]):
    rhythm = Rhythm(floor_s=10, started_at=None)
    for now, wrote, patient in looks:
        rhythm.observe(now, wrote=wrote, patient=patient)
        assert rhythm.silence_s(now) >= 0
        assert not (wrote and rhythm.is_stalled(now, patient=patient))
        silence = rhythm.silence(now, None)
        assert silence is None or 0 <= silence.silent_s <= rhythm.silence_s(now)
