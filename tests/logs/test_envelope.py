"""What stands around a line: ranks and times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.logs import stamped_at, unwrap
from schedmate.tracker.line_reader import Ranks

NOON = datetime(2024, 5, 10, 12, 30, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("line", "rank", "text"),
    [
        ("[rank3]: step 5", 3, "step 5"),
        ("[default0]:step 5", 0, "step 5"),
        ("107: :::MLLOG {}", 107, ":::MLLOG {}"),
        ("  0: [NeMo I] x", 0, "[NeMo I] x"),
        ("[1,3]<stdout>:step 5", 3, "step 5"),
        ("(RayTrainWorker pid=123, ip=10.0.0.1) step 5", 123, "step 5"),
        ("step 5", None, "step 5"),
        ("10:\tlearn: 0.5", None, "10:\tlearn: 0.5"),
        ("12:30:01 step 5", None, "12:30:01 step 5"),
        ("[120/500] loss", None, "[120/500] loss"),
        ("", None, ""),
    ],
)
def test_ranks(line: str, rank: int | None, text: str):
    assert unwrap(line) == (rank, text)


def test_a_number_that_rises_line_by_line_is_no_rank():
    ranks = Ranks()
    lines = [f"{step}: loss 0.3" for step in range(100, 200)]
    assert [ranks.unwrap(line) for line in lines] == [(None, line) for line in lines]


def test_a_number_that_comes_again_and_again_is_a_rank():
    ranks = Ranks()
    for _ in range(20):
        ranks.unwrap("3: hello")
    assert ranks.unwrap("3: hello") == (3, "hello")


@pytest.mark.parametrize(
    "line",
    [
        "2024-05-10 12:30:01,250 INFO step 5",
        "[2024-05-10 12:30:01.250] step 5",
        "2024-05-10T12:30:01.250Z step 5",
        "[2024/05/10 12:30:01.250] ppcls INFO: step 5",
        "05/10/2024 12:30:01.250 - INFO - step 5",
        "RUN AT 2024-05-10 12:30:01.250 PM",
        "[NeMo I 2024-05-10 12:30:01.250 attention:436] step 5",
    ],
)
def test_times_with_a_date(line: str):
    assert stamped_at(line) == pytest.approx(NOON + 0.25)


def test_clocks_of_twelve_hours():
    hours = ("12:30:01 AM", "01:30:01 AM", "12:30:01 PM", "01:30:01 PM", "13:30:01 PM")
    begin = NOON - 12 * 3600
    times = [stamped_at(f"2024-05-10 {hour} step 5") for hour in hours]
    assert times == [begin + hour * 3600 for hour in (0, 1, 12, 13, 13)]


def test_times_without_a_date_or_a_year():
    noon = 12 * 3600 + 30 * 60 + 1
    assert stamped_at("12:30:01 step 5") == noon
    assert stamped_at("[12:30:01.5] step 5") == noon + 0.5
    one, two = (stamped_at(f"I0510 12:30:0{second}.000000 77 train.py:3] x") for second in (1, 4))
    assert one is not None
    assert two == one + 3


@pytest.mark.parametrize(
    "line",
    ["", "step 5", "2024-13-40 12:30:01 x", "99:99:99 x", "version 2024.05.10", "1:02:03 left"],
)
def test_what_is_no_time(line: str):
    assert stamped_at(line) is None


@given(st.text(max_size=80))
def test_anything_may_stand_there(line: str):
    unwrap(line)
    stamped_at(line)
