from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from schedmate.logs.file_times import WrittenSpan, written_span


def test_a_log_that_was_written_for_long(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text("step 1\n")
    born = time.time()
    os.utime(log, (born + 90, born + 90))
    with log.open("rb") as stream:
        span = written_span(stream.fileno())
    if span is None:
        pytest.skip("this file system keeps no birth times")
    assert span.seconds == pytest.approx(90, abs=5)


def test_a_copy_shows_nothing(tmp_path: Path):
    log = tmp_path / "copied.log"
    log.write_text("step 1\n" * 1000)
    with log.open("rb") as stream:
        assert written_span(stream.fileno()) is None
    os.utime(log, (1e9, 1e9))
    with log.open("rb") as stream:
        assert written_span(stream.fileno()) is None, "older than its own file"


def test_a_span_lasts():
    assert WrittenSpan(100.0, 160.0).seconds == 60.0
