from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedmate.model.wire import dumps, loads
from schedmate.tracker import follow
from schedmate.tracker.follow import LogFollower, LogPosition


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


def news(follower: LogFollower) -> list[bytes]:
    return [line for lines in follower.look() for line in lines]


def append(log: Path, data: bytes) -> None:
    with log.open("ab") as file:
        file.write(data)


def test_a_log_that_is_not_there_yet_is_followed_from_its_first_line(log: Path):
    follower = LogFollower(log)
    assert news(follower) == []
    append(log, b"one\r\ntwo\rthree")
    assert news(follower) == [b"one", b"two"]
    append(log, b" and a half\n")
    assert news(follower) == [b"three and a half"]
    assert news(follower) == []


def test_an_unended_bar_is_seen_once_it_rests(log: Path):
    append(log, b"start\n\r 10%\r 20%")
    follower = LogFollower(log)
    assert news(follower) == [b"start", b" 10%"]
    assert follower.open_bar is None
    assert news(follower) == []
    assert follower.open_bar == b" 20%"


def test_rotation_goes_on_with_the_new_file(log: Path):
    append(log, b"one\n")
    follower = LogFollower(log)
    news(follower)
    log.rename(log.with_suffix(".1"))
    assert news(follower) == []
    append(log, b"two\n")
    assert news(follower) == [b"two"]
    assert not follower.rewritten


def test_truncation_and_a_requeued_job_start_anew(log: Path):
    append(log, b"step 1\nstep 2\nhalf a li")
    follower = LogFollower(log)
    news(follower)
    log.write_bytes(b"new\n")
    assert news(follower) == [b"new"]
    assert follower.rewritten


def test_a_file_written_anew_beyond_the_old_offset_is_noticed(log: Path):
    append(log, b"step 1 at noon\n")
    follower = LogFollower(log)
    news(follower)
    log.write_bytes(b"step 1 at three\nstep 2 at four\nand much more\n")
    assert news(follower) == [b"step 1 at three", b"step 2 at four", b"and much more"]
    assert follower.rewritten


def test_a_restart_reads_nothing_twice_and_loses_nothing(log: Path):
    append(log, b"one\ntwo\nthr")
    before = LogFollower(log)
    assert news(before) == [b"one", b"two"]
    kept = loads(LogPosition, dumps(before.position))
    assert kept == before.position
    append(log, b"ee\nfour\n")
    after = LogFollower(log, kept)
    assert after.position == kept
    assert news(after) == [b"three", b"four"]


def test_a_position_in_a_file_that_was_written_anew_is_void(log: Path):
    append(log, b"one\ntwo\n")
    before = LogFollower(log)
    news(before)
    log.write_bytes(b"uno\ndos\ntres\n")
    assert news(LogFollower(log, before.position)) == [b"uno", b"dos", b"tres"]


def test_what_is_no_regular_file_is_never_opened(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert news(LogFollower(pipe)) == []
    assert news(LogFollower(tmp_path)) == []


def test_a_backlog_is_read_over_several_looks(log: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(follow, "CHUNK", 10)
    monkeypatch.setattr(follow, "MOST_PER_LOOK", 20)
    append(log, b"".join(b"line %d\n" % number for number in range(20)))
    follower = LogFollower(log)
    first = news(follower)
    assert follower.behind
    assert len(first) < 20
    rest = [line for _ in range(20) for line in news(follower)]
    assert first + rest == [b"line %d" % number for number in range(20)]
    assert not follower.behind


def test_skip_to_end_takes_everything_as_read(log: Path):
    append(log, b"old\nolder\n")
    follower = LogFollower(log)
    follower.skip_to_end()
    append(log, b"new\n")
    assert news(follower) == [b"new"]
