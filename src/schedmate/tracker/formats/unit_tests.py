"""Test runners: pytest's share, ctest's count of tests, and the line with which each ends."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sample, Sighting, counted

_MAX_LENGTH = 400
_PYTEST = lazy_pattern(
    r"(?:\[gw\d{1,3}\] )?(?:\S{1,200}\.py\b|\S{1,200}::\S{1,200}|[.FEsxXR]{1,200}).{0,300}?"
    r"\[ {0,2}(?P<percent>\d{1,3})%\]"
)
_CTEST = lazy_pattern(r"\s{0,8}(?P<done>\d{1,6})/(?P<all>\d{1,6}) Test\s{1,8}#\d{1,6}: .{1,300}")
_OVER = lazy_pattern(
    r"=*\s?(?:\d{1,7} (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?)"
    r"(?:, )?){1,8} in \d[\d.]{0,12}s.{0,40}"
    r"|\d{1,3}% tests passed, \d{1,6} tests failed out of \d{1,6}"
    r"|Ran \d{1,6} tests? in \d[\d.]{0,12}s"
    r"|(?:\[INFO\] )?BUILD SUCCESS(?:FUL)?(?: in .{1,20})?",
    re.IGNORECASE,
)
_ALL = 100.0


class UnitTests:
    name = "test run"
    hints = (
        "%]", " test ", "passed", "failed", "skipped", "tests in ", "test in ", "warning",
        "deselected", "error", "build success",
    )  # fmt: skip

    def read(self, line: str) -> Sighting | None:
        if len(line) > _MAX_LENGTH:
            return None
        text = line.rstrip()
        if _OVER.fullmatch(text):
            return Sighting(phase="finished")
        found = _CTEST.fullmatch(text)
        pair = counted(found["done"], found["all"]) if found else None
        if pair is not None:
            return Sighting(unit="step", current=pair[0], total=pair[1], series="test")
        share = _PYTEST.fullmatch(text) if text.endswith("%]") else None
        percent = float(share["percent"]) if share else _ALL + 1
        if percent > _ALL:
            return None
        return Sighting(unit="percent", current=percent, total=_ALL, series="test")

    samples: ClassVar[tuple[Sample, ...]] = (
        # after the output of pytest, ctest, unittest and Maven
        Sample(
            "tests/test_a.py ........                                    [ 12%]",
            Sighting(unit="percent", current=12, total=100, series="test"),
        ),
        Sample(
            "tests/test_a.py::test_one PASSED                            [100%]",
            Sighting(unit="percent", current=100, total=100, series="test"),
        ),
        Sample(
            ".......F.......................s........................... [ 36%]",
            Sighting(unit="percent", current=36, total=100, series="test"),
        ),
        Sample(
            " 3/40 Test  #3: unit_io ..........................   Passed    0.03 sec",
            Sighting(unit="step", current=3, total=40, series="test"),
        ),
        Sample("==== 398 passed, 2 skipped in 61.22s (0:01:01) ====", Sighting(phase="finished")),
        Sample("12 passed, 1 warning in 0.31s", Sighting(phase="finished")),
        Sample("100% tests passed, 0 tests failed out of 40", Sighting(phase="finished")),
        Sample("Ran 120 tests in 3.214s", Sighting(phase="finished")),
        Sample("[INFO] BUILD SUCCESS", Sighting(phase="finished")),
        Sample("[ 12%] Building CXX object src/f.cpp.o", None),
        Sample("epoch 3 [ 12%]", None),
        Sample("3/40 Test accuracy 0.9", None),
        Sample("loaded 12 files in 0.31s", None),
        Sample("x.py " * 10_000, None),
    )
