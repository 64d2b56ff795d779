from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedmate.logs.writers import WriterWatch, has_writers, is_written

WRITER = "import sys; open(sys.argv[1], 'a').write('x'); f = open(sys.argv[1], 'a'); input()"


@pytest.mark.processes
def test_a_writer_comes_and_goes(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text("")
    watch = WriterWatch(log)
    assert watch.look(0.0) == "unknown"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(log)], stdin=subprocess.PIPE)
    until = time.monotonic() + 60
    while not has_writers(log) and time.monotonic() < until:
        time.sleep(0.02)
    assert watch.look(10.0) == "writing"
    assert is_written(log) is True
    writer.communicate(b"\n")
    assert watch.look(11.0) == "writing", "another command may open it again"
    assert watch.look(13.0) == "gone"
    assert is_written(log) is False


def test_a_reader_is_no_writer(tmp_path: Path):
    log = tmp_path / "train.log"
    log.write_text("x")
    with log.open("rb"):
        assert not has_writers(log)


def test_of_a_file_system_that_others_may_share_nothing_is_known(tmp_path: Path):
    assert is_written(Path("/proc/self/status")) is None
    assert is_written(tmp_path / "missing.log") is None
