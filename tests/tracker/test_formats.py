"""The contract that every registered format passes, on its own samples and on anything else."""

from __future__ import annotations

import math
import re
import time
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schedmate.tracker.formats import FORMATS, LineFormat, Sighting

each_format = pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)
SLOWEST_S = 0.01
HOSTILE = (
    "",
    "\x00" * 100_000,
    "%|" * 50_000,
    "9" * 100_000,
    "1:" * 50_000,
    "a " * 50_000,
    "a=" * 50_000,
    "{'" + "'loss'" * 20_000 + "}",
    '{"' + "\\" * 60_000 + "}",
    "[" * 60_000,
    "{" + "[" * 60_000 + "}",
    "epoch step iter " * 6_000,
    "step " + " " * 60_000 + "1",
    "100%|" + " " * 60_000 + "| 1/2 [" + ":" * 60_000,
    "saving checkpoint " * 6_000,
    "elapsed time " * 6_000,
    "evaluating " + "x" * 60_000,
    "x: " * 100 + "it [00:00, " * 5_000 + "/s",
)
PIECES = st.sampled_from(
    [*"=:/-, 3█|]}", "%|", "1/2", " [00:01<00:02, ", "it/s", "s/it", "epoch", "step", "of", "nan"]
)


def _read(kind: LineFormat) -> list[str]:
    """The lines of its samples that it must read."""
    return [sample.line for sample in kind.samples if sample.sighting is not None]


@each_format
def test_reads_its_samples(kind: LineFormat):
    misread = [
        (sample, seen)
        for sample in kind.samples
        if _comparable(seen := kind.read(sample.line)) != _comparable(sample.sighting)
    ]

    assert misread == []


@each_format
def test_has_positive_and_negative_samples(kind: LineFormat):
    assert any(sample.sighting for sample in kind.samples)
    assert any(sample.sighting is None for sample in kind.samples)


@each_format
def test_its_samples_belong_to_it_and_not_to_a_more_specific_one(kind: LineFormat):
    more_specific = FORMATS[: FORMATS.index(kind)]

    taken = [
        (line, other.name) for line in _read(kind) for other in more_specific if other.read(line)
    ]

    assert taken == []


@each_format
def test_its_hints_are_in_all_it_reads(kind: LineFormat):
    unhinted = [
        line for line in _read(kind) if not any(hint in line.lower() for hint in kind.hints)
    ]

    assert not kind.hints or unhinted == []


def test_names_are_unique():
    names = [kind.name for kind in FORMATS]
    assert len(set(names)) == len(names)


@each_format
def test_hostile_lines_are_quick(kind: LineFormat):
    slow = [
        line[:20]
        for line in HOSTILE
        if min(_cpu_s(kind, line[:65_536]) for _ in range(3)) >= SLOWEST_S
    ]

    assert slow == []


OPENINGS = st.sampled_from(
    ["", "{'loss': ", "{'epoch': ", '{"step": ', "saving checkpoint", "1e999"]
)


@given(st.one_of(st.text(), st.builds("{}{}".format, OPENINGS, st.lists(PIECES).map("".join))))
@example("{'loss': 1, 'epoch': 1e999}")
@example('{"step": 1, "elapsed": 1e999, "epoch": -1, "total_steps": 0}')
@example("{'loss': 1, 'epoch': nan}")
def test_never_raises_and_tells_only_usable_counts(line: str):
    for kind in FORMATS:
        seen = kind.read(line)
        if seen is not None:
            _check_usable(seen)


DIGITS = re.compile(r"\d+(?:\.\d+)?")
NUMBERS = st.sampled_from(["0", "00", "1", "0.5", "-1", "nan", "1e999", "9" * 9, "9" * 15])
WRITTEN = st.sampled_from([str, str.upper, str.lower, str.title])
SAMPLE_LINES = st.sampled_from([line[:2000] for kind in FORMATS for line in _read(kind)])


@st.composite
def altered_samples(draw: st.DrawFn) -> str:
    """A line of a format in other letters, with other numbers in it, or with another behind it."""
    numbers = draw(st.lists(st.none() | NUMBERS, max_size=8))
    line = DIGITS.sub(
        lambda old: (numbers.pop() if numbers else None) or old[0], draw(SAMPLE_LINES)
    )
    return draw(WRITTEN)(line) + draw(st.just("") | SAMPLE_LINES)


@given(altered_samples())
@example("N_TRIALS=2")
@example("training for at most 0 seconds")
def test_altered_samples_tell_only_usable_counts(line: str):
    for kind in FORMATS:
        seen = kind.read(line)
        if seen is not None:
            _check_usable(seen)


def _check_usable(seen: Sighting) -> None:
    for value in (
        *(seen.current, seen.total, seen.epoch, seen.epochs),
        *(seen.elapsed_s, seen.eta_s, seen.at),
    ):
        assert value is None or (math.isfinite(value) and value >= 0)
    for value in (seen.rate_per_s, seen.cap_s, seen.steps_per_epoch):
        assert value is None or (math.isfinite(value) and value > 0)
    assert seen.share is None or 0 <= seen.share <= 100
    assert 0 < seen.confidence <= 1
    if seen.total is not None:
        assert seen.total > 0
        assert seen.unit is not None
        assert seen.current is None or seen.current <= seen.total


def _cpu_s(kind: LineFormat, line: str) -> float:
    """Of the processor's time, which a busy machine does not change."""
    before = time.process_time()
    kind.read(line)
    return time.process_time() - before


def _comparable(sighting: Sighting | None) -> object:
    """NaN is equal to nothing, not even to what it should be."""
    if sighting is None:
        return None
    metrics = {name: str(value) for name, value in sighting.metrics.items()}
    return replace(sighting, metrics={}), metrics
