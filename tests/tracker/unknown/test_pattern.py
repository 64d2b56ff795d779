from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.model import BadInput, LearnedPattern
from schedmate.tracker.unknown import LearnedFormat
from schedmate.tracker.unknown.behaviour import meaning_of
from schedmate.tracker.unknown.fields import table_of
from schedmate.tracker.unknown.pattern import pattern_of
from schedmate.tracker.unknown.templates import Miner


def learnt(lines: list[str]) -> LearnedFormat:
    miner = Miner()
    for order, line in enumerate(lines):
        miner.add(line, order, None)
    (template,) = miner.templates.values()
    table = table_of(template)
    assert table is not None
    meaning = meaning_of(table)
    assert meaning is not None
    pattern = pattern_of(table, meaning)
    assert pattern is not None
    return LearnedFormat(pattern)


def test_later_lines_are_read_with_their_metrics():
    kind = learnt([f"<{i * 10} of 5000> nll={4 - i / 10:.2f}, 3.1 img/s" for i in range(8)])
    seen = kind.read("<4,990 of 5000> nll=nan, 12 img/s")
    assert seen is not None
    assert (seen.current, seen.total, seen.unit) == (4990, 5000, "step")
    assert kind.read("<9 of 5000> nll=1.5e-3, 1 img/s").metrics == {"nll": 0.0015}
    assert kind.read("so much for <10 of 5000>") is None


def test_varying_words_and_bars_are_read():
    kind = learnt([f"[{'#' * i:<20}] {i}/20 file {name}.wav" for i, name in enumerate("abcdefgh")])
    assert kind.read("[####################] 20/20 file zz.wav").current == 20


def test_what_is_left_counts_too():
    kind = learnt([f"ok={i * 3} open={90 - i * 3}" for i in range(8)])
    seen = kind.read("ok=30 open=60")
    assert (seen.current, seen.total) == (30, 90)
    assert (kind.read("ok=30 open=170").total) == 200, "the next run may be longer"


def test_a_share_becomes_percent():
    kind = learnt([f"progress: {i / 50:.2f}" for i in range(8)])
    seen = kind.read("progress: 0.55")
    assert (seen.current, seen.total, seen.unit) == (55, 100, "percent")


def test_elapsed_time_in_its_unit():
    kind = learnt([f"n={i}/60 elapsed {i * 1500 + i % 3}ms" for i in range(8)])
    assert kind.read("n=9/60 elapsed 9000ms").elapsed_s == 9
    clock = learnt([f"n={i}/60 elapsed 0:0{i}:1{i}" for i in range(8)])
    assert clock.read("n=9/60 elapsed 1:00:05").elapsed_s == 3605


@pytest.mark.parametrize(
    "expression",
    [
        r"(?P<current>\d+",
        r"(\d+)/(\d+)",
        r"(?P<total>\d+)",
        r"(?P<current>\d+)(?P<action>.*)",
        r"(?P<current>\d+) (\w+)",
        r"(?P<current>\d+) (?=x)",
        r"(?P<current>(?:(?:a{0,900}){0,900}){0,900})",
        r"(?P<current>\d+)" + "x" * 9000,
        "(?P<current>\ud800)",
        "",
    ],
)
def test_a_hostile_or_foreign_expression_is_refused(expression: str):
    with pytest.raises(BadInput):
        LearnedFormat(LearnedPattern(expression=expression, unit="step"))


def test_an_expression_that_others_choke_on_is_read_in_linear_time():
    slow = LearnedPattern(expression=r"(?:(?:\d+)+)+(?P<current>\d+)!$", unit="step")
    assert LearnedFormat(slow).read("1" * 100_000) is None


@pytest.mark.parametrize("group", ["current", "elapsed", "m_loss"])
def test_halves_of_characters_and_endless_numbers_are_survived(group: str):
    count = "" if group == "current" else r"(?P<current>\d)"
    kind = LearnedFormat(LearnedPattern(expression=rf"{count}(?P<{group}>\C+)", unit="step"))
    for text in ("1é", "1" * 399, "1e999", "\ud800", "1:99:99", "nan", ""):
        seen = kind.read(text)
        assert seen is None or seen.elapsed_s is None or seen.elapsed_s < 1e15


@given(st.text(max_size=200))
def test_any_text_is_read_or_not(text: str):
    pattern = LearnedPattern(expression=r"\D*(?P<current>\d+)\D+(?P<total>\d+)?", unit="step")
    seen = LearnedFormat(pattern).read(text)
    assert seen is None or seen.current is not None
