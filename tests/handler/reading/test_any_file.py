"""What is no log at all is said to be unreadable, and holds up nobody."""

from __future__ import annotations

import os
from pathlib import Path

from schedmate.handler import Case, Handler
from schedmate.handler.reading import gather

OOM = b"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"


def test_a_device_and_a_pipe_are_unreadable_and_the_other_logs_are_read(tmp_path):
    pipe, log = tmp_path / "pipe", tmp_path / "job.log"
    os.mkfifo(pipe)
    log.write_bytes(OOM)
    case = Case(logs=(Path("/dev/zero"), pipe, log, tmp_path, tmp_path / "gone"), exit_code=1)
    found = gather(case)
    assert [one.partition(" ")[0] for one in found.unreadable] == [
        "/dev/zero", str(pipe), str(tmp_path), str(tmp_path / "gone"),
    ]  # fmt: skip
    assert "no regular file" in found.unreadable[0]
    assert Handler().diagnose(case).reason == "gpu_oom"


def test_who_has_nothing_but_a_device_is_told_so():
    told = Handler().diagnose(Case(logs=(Path("/dev/zero"),), exit_code=1))
    assert told.reason == "unknown"
    assert "/dev/zero (no regular file)" in told.summary
