from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pytest

from schedmate.tracker.tailing import follow
from schedmate.tracker.tailing.lines import LONGEST_LINE
from schedmate.tracker.tailing.tailer import LogFollower
from tracker.following import append, news, restarted


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


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
    again = restarted(follower)
    assert news(again) == []
    assert news(again) == []
    assert again.open_bar == b" 20%"


def test_truncation_and_a_requeued_job_start_anew(log: Path):
    append(log, b"step 1\nstep 2\nhalf a li")
    follower = LogFollower(log)
    news(follower)
    log.write_bytes(b"new\n")
    assert news(follower) == [b"new"]
    assert follower.rewritten
    assert follower.lines == 1


def test_a_truncation_is_told_before_anything_is_written_anew(log: Path):
    append(log, b"step 1\n")
    follower = LogFollower(log)
    news(follower)
    log.write_bytes(b"")
    assert list(follower.look()) == [[]]
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
    after = restarted(before)
    assert after.position == before.position
    append(log, b"ee\nfour\n")
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
    assert news(LogFollower(Path("/dev/zero"))) == []
    assert news(LogFollower(tmp_path / "no\0name")) == []


def test_a_log_that_becomes_a_directory_and_comes_back_goes_on(log: Path, tmp_path: Path):
    append(log, b"one\n")
    follower = LogFollower(log)
    news(follower)
    log.rename(tmp_path / "aside")
    log.mkdir()
    assert news(follower) == []
    log.rmdir()
    (tmp_path / "aside").rename(log)
    append(log, b"two\n")
    assert news(follower) == [b"two"]


def test_a_permission_that_is_lost_and_regained_costs_nothing(log: Path):
    append(log, b"one\n")
    follower = LogFollower(log)
    news(follower)
    append(log, b"two\n")
    log.chmod(0)
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        log.parent.chmod(0o755) if me else None
        assert news(follower) == []
    finally:
        os.seteuid(me)
    log.chmod(0o600)
    assert news(follower) == [b"two"]


def test_sizes_that_a_network_file_system_shows_late_are_doubted(
    log: Path, monkeypatch: pytest.MonkeyPatch
):
    append(log, b"one\n")
    follower = LogFollower(log)
    news(follower)
    cached = log.stat()
    append(log, b"two\n")
    monkeypatch.setattr(follow.os, "stat", lambda _: cached)
    looks = [news(follower) for _ in range(40)]
    assert looks.count([b"two"]) == 1


def test_zeros_at_the_end_are_awaited_and_in_a_hole_are_skipped(log: Path):
    append(log, b"one\ntwo")
    os.truncate(log, 20)
    follower = LogFollower(log)
    assert news(follower) == [b"one"]
    with log.open("r+b") as file:
        file.seek(7)
        file.write(b" is here\n")
    assert news(follower) == [b"two is here"]
    os.truncate(log, 50 * 2**30)
    append(log, b"after the hole\n")
    lines = [line for _ in range(3) for line in news(follower)]
    assert lines == [b"after the hole"]
    assert news(restarted(follower)) == []


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


def test_of_a_long_backlog_the_head_the_end_and_what_tells_something_is_read(log: Path):
    body = b"".join(b"step %d/100000 loss 0.5\n" % n for n in range(60_000))
    append(log, b"".join((body, b"saving checkpoint to out/7\n", body, b"the end\n")))
    follower = LogFollower(log)
    seen: list[bytes] = []
    while not seen or follower.behind:
        seen += news(follower)
    assert len(seen) < 20_000
    assert seen[:5000] == [b"step %d/100000 loss 0.5" % n for n in range(5000)]
    assert seen[-500:-1] == [b"step %d/100000 loss 0.5" % n for n in range(59_501, 60_000)]
    assert seen[-1] == b"the end"
    assert b"saving checkpoint to out/7" in seen
    assert follower.lines == pytest.approx(120_002, rel=0.05)


def test_skip_to_end_takes_everything_as_read(log: Path):
    append(log, b"old\nolder\n")
    follower = LogFollower(log)
    follower.skip_to_end()
    append(log, b"new\n")
    assert news(follower) == [b"new"]


def test_skip_to_end_of_a_long_log_and_of_a_packed_one(log: Path):
    append(log, b"x" * 100_000 + b"\n" + b"y" * 50_000)
    follower = LogFollower(log)
    follower.skip_to_end()
    append(log, b"z\nnew\n")
    assert news(follower) == [b"new"]
    packed = log.with_suffix(".gz")
    packed.write_bytes(gzip.compress(b"old\n"))
    follower = LogFollower(packed)
    follower.skip_to_end()
    append(packed, gzip.compress(b"new\n"))
    assert news(follower) == [b"new"]


def test_a_line_of_megabytes_is_handed_out_once_and_its_end_not_taken_for_a_line(log: Path):
    append(log, b"x" * 1_000_000)
    follower = LogFollower(log)
    assert news(follower) == [b"x" * LONGEST_LINE]
    follower = restarted(follower)
    append(log, b"y" * 300_000)
    assert news(follower) == []
    append(log, b"\nshort\n")
    assert news(restarted(follower)) == [b"short"]


def test_a_growing_archive_is_read_as_far_as_it_goes(log: Path):
    text = b"".join(b"step %d of 5000 took %d ms\n" % (n, n * 7919 % 1000) for n in range(5000))
    packed = gzip.compress(text[:60_000]) + gzip.compress(text[60_000:])
    follower, seen = LogFollower(log), []
    for at in range(0, len(packed), 1000):
        append(log, packed[at : at + 1000])
        seen += news(follower)
        if at % 3000 == 0:
            follower = restarted(follower)
    assert seen == text.splitlines()


def test_a_damaged_archive_ends_where_the_damage_begins(log: Path):
    packed = bytearray(gzip.compress(os.urandom(50_000).hex().encode() + b"\n") * 2)
    packed[len(packed) // 4 : len(packed) // 4 + 100] = bytes(100)
    append(log, gzip.compress(b"one\n") + bytes(packed))
    follower = LogFollower(log)
    assert news(follower)[0] == b"one"
    append(log, b"more")
    assert news(restarted(follower)) == []


def test_an_idle_log_costs_little_memory(log: Path):
    append(log, b"step\n" + b"x" * LONGEST_LINE)
    follower = LogFollower(log)
    news(follower)
    place = follower._place
    parts = [getattr(place, name) for name in place.__slots__] + [place.cutter.open_line]
    assert sum(map(sys.getsizeof, parts)) < 20_000
