from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pytest

from schedmate.tracker.tailing import tailer as tailer_module
from schedmate.tracker.tailing.lines import MAX_LINE
from schedmate.tracker.tailing.tailer import LogTailer
from tracker.tailing import append, news, restarted


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


def test_a_log_that_is_not_there_yet_is_followed_from_its_first_line(log: Path):
    tailer = LogTailer(log)
    assert news(tailer) == []
    append(log, b"one\r\ntwo\rthree")
    assert news(tailer) == [b"one", b"two"]
    append(log, b" and a half\n")
    assert news(tailer) == [b"three and a half"]
    assert news(tailer) == []


def test_an_unended_bar_is_seen_once_it_rests(log: Path):
    append(log, b"start\n\r 10%\r 20%")
    tailer = LogTailer(log)
    assert news(tailer) == [b"start", b" 10%"]
    assert tailer.open_bar is None
    assert news(tailer) == []
    assert tailer.open_bar == b" 20%"
    again = restarted(tailer)
    assert news(again) == []
    assert news(again) == []
    assert again.open_bar == b" 20%"


def test_truncation_and_a_requeued_job_start_anew(log: Path):
    append(log, b"step 1\nstep 2\nhalf a li")
    tailer = LogTailer(log)
    news(tailer)
    log.write_bytes(b"new\n")
    assert news(tailer) == [b"new"]
    assert tailer.rewritten
    assert tailer.lines == 1


def test_a_truncation_is_told_before_anything_is_written_anew(log: Path):
    append(log, b"step 1\n")
    tailer = LogTailer(log)
    news(tailer)
    log.write_bytes(b"")
    assert list(tailer.read_new()) == [[]]
    assert tailer.rewritten


def test_a_file_written_anew_beyond_the_old_offset_is_noticed(log: Path):
    append(log, b"step 1 at noon\n")
    tailer = LogTailer(log)
    news(tailer)
    log.write_bytes(b"step 1 at three\nstep 2 at four\nand much more\n")
    assert news(tailer) == [b"step 1 at three", b"step 2 at four", b"and much more"]
    assert tailer.rewritten


def test_a_restart_reads_nothing_twice_and_loses_nothing(log: Path):
    append(log, b"one\ntwo\nthr")
    before = LogTailer(log)
    assert news(before) == [b"one", b"two"]
    after = restarted(before)
    assert after.position == before.position
    append(log, b"ee\nfour\n")
    assert news(after) == [b"three", b"four"]


def test_a_position_in_a_file_that_was_written_anew_is_void(log: Path):
    append(log, b"one\ntwo\n")
    before = LogTailer(log)
    news(before)
    log.write_bytes(b"uno\ndos\ntres\n")
    assert news(LogTailer(log, before.position)) == [b"uno", b"dos", b"tres"]


def test_what_is_no_regular_file_is_never_opened(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert news(LogTailer(pipe)) == []
    assert news(LogTailer(tmp_path)) == []
    assert news(LogTailer(Path("/dev/zero"))) == []
    assert news(LogTailer(tmp_path / "no\0name")) == []


def test_a_log_that_becomes_a_directory_and_comes_back_goes_on(log: Path, tmp_path: Path):
    append(log, b"one\n")
    tailer = LogTailer(log)
    news(tailer)
    log.rename(tmp_path / "auxiliary")
    log.mkdir()
    assert news(tailer) == []
    log.rmdir()
    (tmp_path / "auxiliary").rename(log)
    append(log, b"two\n")
    assert news(tailer) == [b"two"]


def test_a_permission_that_is_lost_and_regained_costs_nothing(log: Path):
    append(log, b"one\n")
    tailer = LogTailer(log)
    news(tailer)
    append(log, b"two\n")
    log.chmod(0)
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        log.parent.chmod(0o755) if me else None
        assert news(tailer) == []
    finally:
        os.seteuid(me)
    log.chmod(0o600)
    assert news(tailer) == [b"two"]


def test_sizes_that_a_network_file_system_shows_late_are_doubted(
    log: Path, monkeypatch: pytest.MonkeyPatch
):
    append(log, b"one\n")
    tailer = LogTailer(log)
    news(tailer)
    cached = log.stat()
    append(log, b"two\n")
    monkeypatch.setattr(tailer_module.os, "stat", lambda _: cached)
    looks = [news(tailer) for _ in range(40)]
    assert looks.count([b"two"]) == 1


def test_zeros_at_the_end_are_awaited_and_in_a_hole_are_skipped(log: Path):
    append(log, b"one\ntwo")
    os.truncate(log, 20)
    tailer = LogTailer(log)
    assert news(tailer) == [b"one"]
    with log.open("r+b") as file:
        file.seek(7)
        file.write(b" is here\n")
    assert news(tailer) == [b"two is here"]
    os.truncate(log, 50 * 2**30)
    append(log, b"after the hole\n")
    lines = [line for _ in range(3) for line in news(tailer)]
    assert lines == [b"after the hole"]
    assert news(restarted(tailer)) == []


def test_a_backlog_is_read_over_several_looks(log: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tailer_module, "CHUNK", 10)
    monkeypatch.setattr(tailer_module, "MAX_PER_POLL", 20)
    append(log, b"".join(b"line %d\n" % number for number in range(20)))
    tailer = LogTailer(log)
    first = news(tailer)
    assert tailer.behind
    assert len(first) < 20
    rest = [line for _ in range(20) for line in news(tailer)]
    assert first + rest == [b"line %d" % number for number in range(20)]
    assert not tailer.behind


def test_of_a_long_backlog_the_head_the_end_and_what_tells_something_is_read(log: Path):
    body = b"".join(b"step %d/100000 loss 0.5\n" % n for n in range(60_000))
    append(log, b"".join((body, b"saving checkpoint to out/7\n", body, b"the end\n")))
    tailer = LogTailer(log)
    seen: list[bytes] = []
    while not seen or tailer.behind:
        seen += news(tailer)
    assert len(seen) < 20_000
    assert seen[:5000] == [b"step %d/100000 loss 0.5" % n for n in range(5000)]
    assert seen[-500:-1] == [b"step %d/100000 loss 0.5" % n for n in range(59_501, 60_000)]
    assert seen[-1] == b"the end"
    assert b"saving checkpoint to out/7" in seen
    assert tailer.lines == pytest.approx(120_002, rel=0.05)


def test_skip_to_end_takes_everything_as_read(log: Path):
    append(log, b"old\nolder\n")
    tailer = LogTailer(log)
    tailer.skip_to_end()
    append(log, b"new\n")
    assert news(tailer) == [b"new"]


def test_skip_to_end_of_a_long_log_and_of_a_packed_one(log: Path):
    append(log, b"x" * 100_000 + b"\n" + b"y" * 50_000)
    tailer = LogTailer(log)
    tailer.skip_to_end()
    append(log, b"z\nnew\n")
    assert news(tailer) == [b"new"]
    packed = log.with_suffix(".gz")
    packed.write_bytes(gzip.compress(b"old\n"))
    tailer = LogTailer(packed)
    tailer.skip_to_end()
    append(packed, gzip.compress(b"new\n"))
    assert news(tailer) == [b"new"]


def test_a_line_of_megabytes_is_handed_out_once_and_its_end_not_taken_for_a_line(log: Path):
    append(log, b"x" * 1_000_000)
    tailer = LogTailer(log)
    assert news(tailer) == [b"x" * MAX_LINE]
    tailer = restarted(tailer)
    append(log, b"y" * 300_000)
    assert news(tailer) == []
    append(log, b"\nshort\n")
    assert news(restarted(tailer)) == [b"short"]


def test_a_growing_archive_is_read_as_far_as_it_goes(log: Path):
    text = b"".join(b"step %d of 5000 took %d ms\n" % (n, n * 7919 % 1000) for n in range(5000))
    packed = gzip.compress(text[:60_000]) + gzip.compress(text[60_000:])
    tailer, seen = LogTailer(log), []
    for at in range(0, len(packed), 1000):
        append(log, packed[at : at + 1000])
        seen += news(tailer)
        if at % 3000 == 0:
            tailer = restarted(tailer)
    assert seen == text.splitlines()


def test_a_damaged_archive_ends_where_the_damage_begins(log: Path):
    packed = bytearray(gzip.compress(os.urandom(50_000).hex().encode() + b"\n") * 2)
    packed[len(packed) // 4 : len(packed) // 4 + 100] = bytes(100)
    append(log, gzip.compress(b"one\n") + bytes(packed))
    tailer = LogTailer(log)
    assert news(tailer)[0] == b"one"
    append(log, b"more")
    assert news(restarted(tailer)) == []


def test_an_idle_log_costs_little_memory(log: Path):
    append(log, b"step\n" + b"x" * MAX_LINE)
    tailer = LogTailer(log)
    news(tailer)
    cursor = tailer._cursor
    parts = [getattr(cursor, name) for name in cursor.__slots__] + [cursor.cutter.open_line]
    assert sum(map(sys.getsizeof, parts)) < 20_000
