"""Logs that are rotated, copied and truncated under the tailer's eyes."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.tracker.tailing import tailer as tailer_module
from schedmate.tracker.tailing.tailer import LogTailer
from tracker.tailing import append, news, restarted


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


def copytruncate(log: Path, copy: str = "train.log.1") -> None:
    shutil.copyfile(log, log.with_name(copy))
    os.truncate(log, 0)


def test_rotation_reads_the_rest_of_the_old_file_and_goes_on_with_the_new(log: Path):
    append(log, b"one\n")
    tailer = LogTailer(log)
    news(tailer)
    append(log, b"two\nunen")
    log.rename(log.with_suffix(".old"))
    assert news(tailer) == []
    append(log.with_suffix(".old"), b"ded\n")
    append(log, b"three\n")
    assert news(tailer) == [b"two", b"unended", b"three"]
    assert not tailer.rewritten


def test_several_rotations_between_two_looks_lose_nothing(log: Path):
    first, second = log.with_name("train.log.1"), log.with_name("train.log.2")
    append(log, b"one\n")
    tailer = LogTailer(log)
    news(tailer)
    append(log, b"two\n")
    log.rename(first)
    append(log, b"three\n")
    first.rename(second)
    log.rename(first)
    append(log, b"four\n")
    for age, path in enumerate((log, first, second)):
        os.utime(path, (1e9 - age, 1e9 - age))
    assert news(restarted(tailer)) == [b"two", b"three", b"four"]


def test_older_rotated_files_are_not_read(log: Path):
    append(log.with_name("train.log.2"), b"long ago\n")
    os.utime(log.with_name("train.log.2"), (1, 1))
    append(log, b"one\n")
    tailer = LogTailer(log)
    news(tailer)
    log.rename(log.with_name("train.log.1"))
    append(log, b"two\n")
    assert news(tailer) == [b"two"]


def test_copytruncate_reads_the_rest_from_the_copy_even_within_a_line(log: Path):
    append(log, b"one\ntw")
    tailer = LogTailer(log)
    assert news(tailer) == [b"one"]
    append(log, b"o\nthr")
    copytruncate(log)
    append(log, b"ee\nfo")
    assert news(tailer) == [b"two", b"three"]
    assert not tailer.rewritten
    append(log, b"ur\n")
    assert news(restarted(tailer)) == [b"four"]


def test_a_carried_beginning_survives_a_restart(log: Path):
    append(log, b"one\ntw\xff")
    tailer = LogTailer(log)
    news(tailer)
    copytruncate(log)
    append(log, b"o")
    assert news(tailer) == []
    append(log, b"\n")
    assert news(restarted(restarted(tailer))) == [b"tw\xffo"]


def test_an_old_copy_is_not_taken_for_the_rest(log: Path):
    append(log.with_name("train.log.1"), b"one\ntwo\nthree\n")
    os.utime(log.with_name("train.log.1"), (1, 1))
    append(log, b"one\n")
    tailer = LogTailer(log)
    news(tailer)
    log.write_bytes(b"")
    assert news(tailer) == []
    assert tailer.rewritten


def test_a_log_that_is_replaced_by_a_longer_copy_of_itself_goes_on(log: Path):
    append(log, b"one\ntwo\n")
    tailer = LogTailer(log)
    news(tailer)
    synced = log.with_suffix(".tmp")
    synced.write_bytes(b"one\ntwo\nthree\n")
    synced.replace(log)
    assert news(tailer) == [b"three"]


def test_a_link_that_is_turned_to_another_file_is_followed(log: Path, tmp_path: Path):
    append(tmp_path / "a", b"one\n")
    append(tmp_path / "b", b"other\n")
    log.symlink_to("a")
    tailer = LogTailer(log)
    assert news(tailer) == [b"one"]
    log.unlink()
    log.symlink_to("b")
    assert news(tailer) == [b"other"]


def test_the_hole_that_an_open_writer_leaves_after_copytruncate_is_no_line(log: Path):
    with log.open("wb", buffering=0) as writer:
        writer.write(b"one\n" * 5000)
        tailer = LogTailer(log)
        news(tailer)
        writer.write(b"two\n")
        copytruncate(log)
        writer.write(b"three\n")
        assert news(tailer) == [b"two", b"three"]


def test_a_rest_that_takes_several_looks_survives_restarts(
    log: Path, monkeypatch: pytest.MonkeyPatch
):
    append(log, b"line 0\n")
    tailer = LogTailer(log)
    assert news(tailer) == [b"line 0"]
    append(log, b"".join(b"line %d\n" % number for number in range(1, 20)))
    log.rename(log.with_suffix(".1"))
    append(log, b"line 20\n")
    monkeypatch.setattr(tailer_module, "CHUNK", 10)
    monkeypatch.setattr(tailer_module, "MAX_PER_POLL", 20)
    seen: list[bytes] = []
    for _ in range(12):
        tailer = restarted(tailer)
        seen += news(tailer)
    assert seen == [b"line %d" % number for number in range(1, 21)]


LINES = st.lists(
    st.tuples(st.sampled_from([b"\n", b"\r", b"\r\n", b"\b\b"]), st.integers(0, 90)), max_size=12
)


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["write", "write", "read_new", "restart", "rename", "copytruncate", "anew"]
        ),
        st.integers(1, 200),
    ),
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(LINES, EVENTS)
def test_whenever_it_is_cut_rotated_truncated_and_restarted_every_line_comes_once(
    lines: list[tuple[bytes, int]], events: list[tuple[str, int]]
):
    """The reference is the list of lines written, as whole ones, split where a file ended."""
    stream = b"".join(b"%d:" % n + b"x" * size + end for n, (end, size) in enumerate(lines))
    with tempfile.TemporaryDirectory() as directory:
        writer = _Writer(Path(directory) / "train.log", stream)
        for event, amount in events:
            writer.do(event, amount)
        writer.do("write", len(stream))
        writer.do("read_new", 0)
        assert writer.seen == writer.expected()


class _Writer:
    """Writes a stream into a log under all that happens to logs, and tails it."""

    def __init__(self, log: Path, stream: bytes) -> None:
        self.log, self.rest = log, stream
        self.tailer = LogTailer(log)
        self.seen: list[bytes] = []
        self.written = [b""]
        """What was written, in pieces that do not go on in each other."""
        self.unseen_file = True

    def expected(self) -> list[bytes]:
        last = [line for piece in self.written[:-1] for line in _lines(piece, complete=True)]
        return last + _lines(self.written[-1], complete=False)

    def do(self, event: str, amount: int) -> None:
        getattr(self, event)(amount)

    def write(self, amount: int) -> None:
        part, self.rest = self.rest[:amount], self.rest[amount:]
        append(self.log, part)
        self.written[-1] += part

    def read_new(self, _: int = 0) -> None:
        self.seen += news(self.tailer)
        self.unseen_file = not self.log.exists() or self.tailer.position.offset == 0

    def restart(self, _: int) -> None:
        self.tailer = restarted(self.tailer)

    def rename(self, _: int) -> None:
        if not self.log.exists() or self.unseen_file:
            return
        self._make_room()
        self.log.rename(self.log.with_name("train.log.1"))
        self.log.touch()
        self.written.append(b"")
        self.unseen_file = True

    def copytruncate(self, _: int) -> None:
        if not self.log.exists() or self.unseen_file:
            return
        self._make_room()
        copytruncate(self.log)
        self.unseen_file = True

    def anew(self, _: int) -> None:
        """A requeued job opens the file anew: what was not yet read is gone."""
        if not self.log.exists() or not self.log.stat().st_size:
            return
        self.read_new()
        for old in self.log.parent.glob("train.log.*"):
            old.unlink()
        self.log.write_bytes(b"")
        whole = self.written.pop()
        cut = max(whole.rfind(end) for end in (b"\n", b"\r", b"\b")) + 1
        self.written += [whole[:cut], b""]
        self.read_new()

    def _make_room(self) -> None:
        first = self.log.with_name("train.log.1")
        if first.exists():
            first.rename(self.log.with_name("train.log.2"))


def _lines(piece: bytes, *, complete: bool) -> list[bytes]:
    parts = piece.replace(b"\r", b"\n").replace(b"\b", b"\n").split(b"\n")
    return [part for part in (parts if complete else parts[:-1]) if part]
