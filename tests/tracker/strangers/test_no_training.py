"""Work that is no training: what is counted has its name, and its end is seen."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import pytest

from schedmate.model import Progress
from schedmate.tracker import track_stream


def tracked(lines: list[str]) -> Progress:
    return track_stream(BytesIO("\n".join([*lines, ""]).encode()), name="run.log")


def pytest_run() -> Iterator[str]:
    yield from ("===== test session starts =====", "collected 400 items", "")
    for module in range(1, 41):
        yield f"tests/test_mod{module}.py ..........           [{int(module * 2.5):3d}%]"
    yield from ("", "===== 398 passed, 2 skipped in 61.22s (0:01:01) =====")


def ctest_run() -> Iterator[str]:
    yield "Test project /build"
    for test in range(1, 41):
        yield f"      Start {test:2d}: unit_{test}"
        yield f"{test:2d}/40 Test {'#' + str(test):>3}: unit_{test} .........   Passed    0.31 sec"
    yield from ("", "100% tests passed, 0 tests failed out of 40", "")


@pytest.mark.parametrize("run", [pytest_run, ctest_run])
def test_test_runs(run):
    lines = list(run())
    for share in (0.3, 0.6, 0.9):
        seen = tracked(lines[: round(share * len(lines))])
        assert seen.fraction == pytest.approx(share, abs=0.07)
        assert (seen.phase, seen.counted or seen.unit) in (
            ("unknown", "test"),
            ("unknown", "percent"),
        )
    assert tracked(lines).phase == "finished"


def test_a_test_run_is_declared_over_while_others_write():
    """The last line of a runner is a sign of its own, without a count at its end."""
    lines = [*list(pytest_run())[:30], "===== 2 failed, 258 passed in 61.22s ====="]
    assert tracked(lines).phase == "finished"


def test_trials_are_trials():
    lines = [
        line
        for trial in (1, 2, 3)
        for line in (f"trial {trial}/12", *(f"epoch {e}/5 loss {1 / e:.2f}" for e in range(1, 6)))
    ]
    seen = tracked(lines)
    assert (seen.counted, seen.current, seen.total) == ("trial", 3, 12)
