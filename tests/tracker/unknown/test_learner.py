from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.corpora.unknown_formats.labels import Log, written
from bench.corpora.unknown_formats.sets import SETS
from schedmate.model import BadInput, LearnedPattern
from schedmate.model.wire import dumps, loads
from schedmate.tracker.formats import Sighting
from schedmate.tracker.unknown import Learner


def fed(lines: list[str], learner: Learner | None = None) -> tuple[Learner, list[Sighting]]:
    learner = learner or Learner()
    seen = [learner.feed(line, order, float(order)) for order, line in enumerate(lines)]
    return learner, [sighting for sighting in seen if sighting is not None]


def counting(first: int, last: int) -> list[str]:
    return [f"~ {i} out of 500 ~ {9 / (i + 1):.3f}" for i in range(first, last)]


def test_the_count_starts_at_its_first_line():
    learner = Learner()
    told: list[tuple[int, float | None]] = []
    for order, line in enumerate(counting(1, 12)):
        seen = learner.feed(line, order, None)
        told += [(one.order, one.sighting.current) for one in learner.replay()]
        told += [(order, seen.current)] if seen else []
    assert told == [(order, order + 1.0) for order in range(11)]


def test_a_remembered_pattern_reads_the_first_line():
    learnt, _ = fed(counting(1, 20))
    assert learnt.pattern is not None
    fresh = Learner()
    fresh.adopt(learnt.pattern)
    assert fresh.feed(counting(1, 2)[0], 0, None).total == 500
    assert fresh.question() is None


def test_a_remembered_pattern_that_is_none_is_refused():
    with pytest.raises(BadInput):
        Learner().adopt(LearnedPattern(expression="(", unit="step"))


def test_a_pattern_spoilt_on_disk_is_dropped():
    learner = Learner(pattern=LearnedPattern(expression="(", unit="step"))
    _, seen = fed(counting(1, 20), learner)
    assert seen[-1].current == 19


def test_a_constant_that_the_count_passes_was_no_total():
    lines = [f"{i} 37 {3 / (i + 1):.4f}" for i in range(1, 80)]
    learner, seen = fed(lines)
    assert learner.confidence > 0.3
    assert seen[-1].current == 79
    assert seen[-1].total is None


def test_what_counts_after_the_loading_takes_over():
    loading = [f"reading part {i} / 8" for i in range(1, 9)]
    _, seen = fed(loading + counting(1, 40))
    assert (seen[-1].current, seen[-1].total) == (39, 500)


def test_the_outer_count_takes_over_from_the_one_that_goes_round():
    lines: list[str] = []
    for outer in range(1, 12):
        lines += [f"=== {outer} of 50 ===", *(f"  - {i}/4 q {1 / i:.2f}" for i in range(1, 5))]
    _, seen = fed(lines)
    assert (seen[-1].current, seen[-1].total) == (11, 50)


def test_the_clock_is_no_count():
    chance, at, lines = random.Random(1), 0.0, []
    learner = Learner()
    for order in range(60):
        at += chance.uniform(1, 9)
        lines.append(f"alive {at:.0f}")
        assert learner.feed(lines[-1], order, at) is None


def test_steps_per_epoch_are_learnt_where_the_count_goes_round():
    lines = [f"E{e} i{i} q={1 / (e * 30 + i):.4f}" for e in range(1, 6) for i in range(1, 31)]
    learner, seen = fed(lines)
    assert (seen[-1].current, seen[-1].total, seen[-1].epoch) == (30, 30, 5)
    assert learner.confidence > 0.5


@pytest.mark.parametrize("log", SETS["formats, looked at"], ids=lambda log: log.__name__)
def test_going_on_after_a_restart_changes_nothing(log: Log):
    lines = [line if isinstance(line, str) else line[0] for line in written(log)]
    through, _ = fed(lines)
    learner = Learner()
    for order, line in enumerate(lines):
        if order % 7 == 0:
            learner = loads(Learner, dumps(learner))
        learner.feed(line, order, float(order))
    assert learner == through
    assert len(dumps(learner)) < 40_000


LINES = st.one_of(
    st.text(max_size=80),
    st.builds(
        "{} {}{}{} {}".format,
        st.sampled_from(["step", "", "x", "[", "epoch 3", "1e999", "-9e308", "7e307"]),
        st.integers(-5, 10**20),
        st.sampled_from(["/", " of ", "%", " ", ",", ".", "e", ":"]),
        st.integers(0, 300),
        st.floats(),
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=40))
def test_whatever_is_written_is_survived(lines: list[str]):
    learner, seen = fed(lines * 3)
    learner.replay()
    learner.question()
    assert loads(Learner, dumps(learner)) == learner
    for sighting in seen:
        assert sighting.total is None or 0 <= sighting.current <= sighting.total
