"""Tiresias' queues with the Gittins index of what has ended so far."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from policies.runs import rows, run
from schedmate.model import BadInput
from schedmate.policies.attained_service import LEARN_FROM, Gittins, Tiresias


class BySubmission(Tiresias):
    """A job stops a later one of its queue."""

    def _running_key(self, job):
        return self._key_of(job)


@settings(max_examples=60, deadline=None)
@given(jobs=rows())
def test_before_enough_have_ended_it_is_two_queues_by_submission(jobs):
    ours, _ = run(Gittins(threshold=8.0), jobs)
    plain, _ = run(BySubmission(threshold=8.0), jobs)

    assert ours.same_as(plain)
    assert ours.gpu_seconds.sum() == pytest.approx(sum(s * g for _, s, g in jobs))


def history(*ended: float) -> list[tuple[float, float, int]]:
    """One after the other, so that all have ended before time 0."""
    durations = [float(ended[number % len(ended)]) for number in range(LEARN_FROM)]
    begins = [-sum(durations[number:]) for number in range(LEARN_FROM)]
    return [(at, seconds, 1) for at, seconds in zip(begins, durations, strict=True)]


def ends_of_the_last_two(*past: float) -> list[float]:
    """Two long jobs on one GPU, the second of which comes when the first has had 40 s."""
    jobs = [*history(*past), (0.0, 70.0, 1), (40.0, 70.0, 1)]
    return run(Gittins(threshold=10.0), jobs, gpus=1)[0].end[-2:].tolist()


def test_where_who_lives_long_lives_longer_the_one_that_had_less_goes_first():
    # After 10 s 75.5 s are left on average, after 20 s 89 s, after 40 s 108.5 s: the first job
    # stops for the second at 40 s, which is first until 80 s have passed; then both had 40 s, and
    # who was submitted first goes on.
    assert ends_of_the_last_two(5.0, 15.0, 30.0, 60.0, 237.0) == [110.0, 140.0]


def test_where_all_run_equally_long_the_one_that_had_more_goes_first():
    # All took 75 s: after 40 s 35 s are left, fewer than after 10 s or 20 s. The second gets its
    # first 10 s and then waits for the first to end.
    assert ends_of_the_last_two(75.0) == [80.0, 140.0]


def test_it_learns_anew_each_time_there_are_a_quarter_more():
    learnt_from = []

    class Noting(Gittins):
        def _learn(self) -> None:
            learnt_from.append(len(self._ended))
            super()._learn()

    run(Noting(threshold=10.0), [(10.0 * number, 5.0, 1) for number in range(52)])
    assert learnt_from == [20, 25, 32, 40, 50]


def test_a_run_is_the_same_each_time():
    jobs = [(number % 7, 3 + number % 11, 1 + number % 4) for number in range(80)]

    first, _ = run(Gittins(threshold=6.0), sorted(jobs))
    again, _ = run(Gittins(threshold=6.0), sorted(jobs))

    assert first.same_as(again)
    assert first.preemptions.sum() > 0


def test_a_threshold_must_be_above_zero():
    with pytest.raises(BadInput, match="above 0"):
        Gittins(threshold=0.0)
