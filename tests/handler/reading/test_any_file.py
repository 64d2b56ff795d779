"""What is no log is reported as unreadable, and takes no time."""

from __future__ import annotations

import base64
import gzip
import lzma
import os
import random
from pathlib import Path

import pytest

from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.reading import Clue, gather

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


def test_a_device_is_reported_as_no_log():
    diagnosis = Handler().diagnose(Case(logs=(Path("/dev/zero"),), exit_code=1))
    assert diagnosis.reason == "unknown"
    assert "/dev/zero (no regular file)" in diagnosis.summary


def clues_of(content: bytes) -> tuple[Clue, ...]:
    return gather(Case(logs=(NamedLog("a.log", content),))).clues


@pytest.mark.parametrize(
    "line",
    [
        b"\x81\x03\x17\xfeCUDA out of memory\xff\x90\x02\x01\x99\x98\xc1\x05\x06\x9c\x04\xfd\n",
        b"A" * 40 + b"/ENOSPC/" + b"z9" * 20 + b"==\n",
        b'{"image": "' + b"iVBORw0KGgo" * 20 + b"/ENOSPC/" + b"AAAANSUh" * 20 + b'"}\n',
        b"x" * 1000 + b"+ENOSPC+" + b"y" * 1000 + b"\n",
    ],
)
def test_words_amid_random_bytes_or_base64_are_no_evidence(line):
    assert not clues_of(line * 3)


@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_hold_no_evidence(seed):
    content = random.Random(seed).randbytes(1 << 20)
    assert not clues_of(content)
    assert not clues_of(base64.b64encode(content))
    assert not clues_of(base64.encodebytes(content))


@pytest.mark.parametrize(
    "line",
    [
        bytes(4000) + OOM,
        b"\x1b[31mOSError: [Errno 28] No space left on device\x1b[0m\n",
        "OSError: [Errno 28] 设备上没有空间 No space left on device\n".encode("gbk"),
        b"OSError: [Errno 28] No space left on device: '/" + b"a" * 200 + b"'\n",
    ],
)
def test_holes_colours_other_encodings_and_long_names_are_read(line):
    assert clues_of(line)


FAILED = (
    b"step 1 loss 0.3\n" * 50 + b'Traceback (most recent call last):\n  File "a.py", line 1\n' + OOM
)


@pytest.mark.parametrize(
    "written",
    [
        FAILED.decode().encode("utf-16"),
        FAILED.decode().encode("utf-16-le"),
        FAILED.decode().encode("utf-32-be"),
        gzip.compress(FAILED),
        lzma.compress(FAILED.decode().encode("utf-16")),
        b"\xef\xbb\xbf" + FAILED,
    ],
)
def test_other_encodings_and_archives_give_the_same_answer(written, tmp_path):
    log = tmp_path / "job.log"
    log.write_bytes(FAILED)
    expected = Handler().diagnose(Case(logs=(log,), exit_code=1))
    log.write_bytes(written)
    diagnosis = Handler().diagnose(Case(logs=(log,), exit_code=1))
    assert diagnosis.reason == "gpu_oom"
    assert diagnosis.evidence == expected.evidence


def test_an_archive_that_is_too_large_is_read_as_far_as_the_bound(monkeypatch):
    monkeypatch.setattr("schedmate.logs.decoding.MAX_UNPACKED", 1 << 20)
    packed = gzip.compress(OOM + b"step\n" * (1 << 20))
    found = gather(Case(logs=(NamedLog("a.log", packed),)))
    assert [clue.rule.reason for clue in found.clues] == ["gpu_oom"]
    assert "unpacked" in found.unreadable[0]
