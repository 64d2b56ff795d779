from __future__ import annotations

import traceback

import pytest

from schedmate.tracker.failure_signs import FatalEnding


def fall(left: int) -> None:
    if left == 0:
        raise ValueError("no such thing")
    fall_further(left)


def fall_further(left: int) -> None:
    fall(left - 1)


def real_traceback(depth: int) -> list[str]:
    try:
        fall(depth)
    except ValueError:
        return traceback.format_exc().splitlines()
    raise AssertionError


def after(lines: list[str]) -> FatalEnding:
    ending = FatalEnding()
    for line in lines:
        ending.see(line)
    return ending


@pytest.mark.parametrize("prefix", ["", "[rank3]: ", "3: "])
@pytest.mark.parametrize("depth", [1, 200])
def test_a_traceback_at_the_end_is_a_failure(prefix: str, depth: int):
    lines = [prefix + line for line in real_traceback(depth)]
    assert after(["fine", *lines]).failed
    assert after([*lines, *["launcher says bye"] * 20]).failed


def test_a_run_that_goes_on_has_not_failed():
    lines = real_traceback(3)
    assert not after([*lines, *["still here"] * 40]).failed
    survived = after(lines)
    survived.progressed()
    assert not survived.failed


def test_cancelled_by_the_scheduler():
    line = "slurmstepd: error: *** STEP 17.0 ON node4 CANCELLED AT 2021-05-24T01:23:45 ***"
    assert after([line, *["Killing subprocess 4"] * 100]).failed
    assert not after(["slurmstepd: error: something else"]).failed


def test_a_word_is_not_enough():
    assert not after(["Error: 3 warnings", "ValueError handled", "killed time"]).failed
