"""Numbers of tasks, several jobs in a word, and times to begin at."""

from __future__ import annotations

from datetime import datetime

import pytest

from schedmate.model import BadInput
from schedmate.model.arrays import expand_job_ids, read_array
from schedmate.model.begin_time import read_begin


@pytest.mark.parametrize(
    ("text", "indices", "most"),
    [
        ("0-3", (0, 1, 2, 3), None),
        ("1,3,7", (1, 3, 7), None),
        ("0-15:5%2", (0, 5, 10, 15), 2),
        ("7,1-2,2", (1, 2, 7), None),
        ("5", (5,), None),
    ],
)
def test_arrays(text, indices, most):
    assert read_array(text) == (indices, most)


@pytest.mark.parametrize("text", ["", "a", "3-1", "0-9:0", "1-2%0", "1-2%x", "0-99999999", "-3"])
def test_what_is_no_array(text):
    with pytest.raises(BadInput):
        read_array(text)


def test_several_jobs_in_one_word():
    words = ["1-3", "12_[1-3,7]", "12_2", "40", "sleep"]
    assert expand_job_ids(words) == [
        *("1", "2", "3", "12_1", "12_2", "12_3", "12_7", "40", "sleep")
    ]
    with pytest.raises(BadInput, match="too many jobs"):
        expand_job_ids(["1-999999999"])


NOON = datetime(2026, 11, 18, 12, 0)  # noqa: DTZ001 - people mean their own clock


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now", "2026-11-18T12:00:00"),
        ("now+90", "2026-11-18T12:01:30"),
        ("now+2hours", "2026-11-18T14:00:00"),
        ("now+1week", "2026-11-25T12:00:00"),
        ("16:00", "2026-11-18T16:00:00"),
        ("4:30pm", "2026-11-18T16:30:00"),
        ("09:15:10", "2026-11-19T09:15:10"),
        ("midnight", "2026-11-19T00:00:00"),
        ("teatime", "2026-11-18T16:00:00"),
        ("tomorrow", "2026-11-19T00:00:00"),
        ("2026-12-24T18:30", "2026-12-24T18:30:00"),
        ("12/24/26", "2026-12-24T00:00:00"),
        ("122426", "2026-12-24T00:00:00"),
    ],
)
def test_times_to_begin_at(text, moment):
    assert datetime.fromtimestamp(read_begin(text, NOON.timestamp())).isoformat() == moment  # noqa: DTZ006


@pytest.mark.parametrize("text", ["", "soon", "25:00", "now+3moons", "2026-13-01", "tomorrowT9"])
def test_what_is_no_time(text):
    with pytest.raises(BadInput, match="--begin wants a time such as"):
        read_begin(text, NOON.timestamp())
