"""The bytes of a log: no device, no pipe, no growth and no hole holds up who reads it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedmate.logs import chunks_of, open_regular, pieces_of
from schedmate.logs.files import CHUNK_BYTES


def read(path: Path) -> bytes:
    with open_regular(path) as stream:
        return b"".join(chunks_of(stream))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/full"])
def test_a_device_is_no_log(device):
    with pytest.raises(OSError, match="no regular file"):
        open_regular(Path(device))


def test_a_pipe_that_nobody_writes_to_does_not_wait(tmp_path):
    pipe = tmp_path / "job.out"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="no regular file"):
        open_regular(pipe)


@pytest.mark.parametrize("name", ["", "nowhere", "a\0b"])
def test_what_cannot_be_opened_is_an_error_of_the_system(tmp_path, name):
    with pytest.raises(OSError, match=r"(?i)directory|regular|null"):
        open_regular(tmp_path / name)


def test_a_log_is_read_to_its_end(tmp_path):
    log = tmp_path / "job.out"
    content = b"step 1\n" * CHUNK_BYTES
    log.write_bytes(content)
    assert read(log) == content == b"".join(pieces_of(content))


def test_a_log_that_grows_while_it_is_read_ends_with_the_line_it_was_opened_in(tmp_path):
    log = tmp_path / "job.out"
    log.write_bytes(b"step 1\nstep")
    with open_regular(log) as stream, log.open("ab") as writer:
        chunks = chunks_of(stream)
        first = next(chunks)
        writer.write(b" 2\nstep 3\n")
        writer.flush()
        assert first + b"".join(chunks) == b"step 1\nstep 2\n"


def test_a_log_that_shrinks_while_it_is_read_just_ends(tmp_path):
    log = tmp_path / "job.out"
    log.write_bytes(b"step 1\n" * CHUNK_BYTES)
    with open_regular(log) as stream:
        chunks = chunks_of(stream)
        assert len(next(chunks)) == CHUNK_BYTES
        os.truncate(log, CHUNK_BYTES)
        assert b"".join(chunks) == b""


def test_holes_are_left_out_however_large(tmp_path):
    log = tmp_path / "job.out"
    with log.open("wb") as writer:
        writer.write(b"step 1\n")
        writer.seek(1 << 40)
        writer.write(b"step 2\n")
    content = read(log)
    assert len(content) < 4 * CHUNK_BYTES
    assert content.replace(b"\0", b"") == b"step 1\nstep 2\n"
    os.truncate(log, 1 << 42)
    assert read(log).replace(b"\0", b"") == b"step 1\nstep 2\n"
