"""Parts of a log: every line once, with its number, however the pages are cut."""

from __future__ import annotations

import gzip
from itertools import count, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schedmate.model import NotFound
from schedmate.model.account import account_name
from schedmate.service.views import log_ranges, log_search
from schedmate.service.views.log_fold import folded
from schedmate.service.views.log_ranges import open_log
from schedmate.service.views.log_search import next_trouble, previous_trouble, search
from schedmate.service.views.log_terminal import masked_text, screen_line


@pytest.fixture
def small(monkeypatch):
    """Blocks and pages so small that every edge is met."""
    monkeypatch.setattr(log_ranges, "BLOCK", 64)
    monkeypatch.setattr(log_ranges, "_MOST_BYTES", 96)


@pytest.fixture
def opened(tmp_path):
    numbers = count()

    def opens(content, name="a.log"):
        path = tmp_path / f"{next(numbers)}-{name}"  # what is known of a log is kept by its inode
        path.write_bytes(content)
        return open_log(path, account_name())

    return opens


def texts(found):
    return [line.screen.text for line in found.lines]


LINES = st.lists(st.text("abc ", max_size=40), min_size=1, max_size=60)


@pytest.mark.usefixtures("small")
def test_a_coloured_secret_is_masked_too():
    key = "sk-abcdefghijklmnopqrstuvwxyz"
    lines = (
        f"key {key[:8]}\x1b[31m{key[8:]}\x1b[0m",
        "\x1b[1mpassword\x1b[0m=\x1b[32m'hunter2hunter2'\x1b[0m",
        f"{key[:8]}\x1b[0K{key[8:]}",
    )
    for line in lines:
        shown = screen_line(line.encode(), masked=True).text
        raw = masked_text(f"before\n{line}\nafter")
        for text in (shown, raw):
            assert "[redacted]" in text
            assert "hunter2" not in text
            assert key[8:] not in text
        assert "[redacted]" not in screen_line(line.encode(), masked=False).text
    plain = "\x1b[32mloss 0.5\x1b[0m"
    assert masked_text(plain) == plain
    assert [span.style for span in screen_line(plain.encode(), masked=True).spans] == ["green"]


def test_a_line_of_a_key_that_began_elsewhere():
    """The block before held its first line."""
    assert masked_text("A" * 64 + "\nepoch 1") == "[redacted]\nepoch 1"


def test_pages_forwards_hold_every_line_once_with_its_number(opened):
    @given(LINES, st.integers(1, 7))
    def check(lines, count):
        with opened("".join(f"{line}\n" for line in lines).encode()) as log:
            at, seen = 0, []
            while at < log.size:
                found = log.forwards(at, lines=count, masked=False)
                seen += found.lines
                assert found.end > at
                at = found.end
        assert [line.number for line in seen] == list(range(1, len(lines) + 1))
        assert [line.screen.text.rstrip() for line in seen] == [line.rstrip() for line in lines]

    check()


@pytest.mark.usefixtures("small")
def test_pages_backwards_hold_every_line_once(opened):
    @given(LINES, st.integers(1, 7))
    def check(lines, count):
        with opened("".join(f"{line}\n" for line in lines).encode()) as log:
            at, numbers = log.size, []
            while at > 0:
                found = log.backwards(at, lines=count, masked=False)
                numbers = [line.number for line in found.lines] + numbers
                assert found.begin < at
                at = found.begin
        assert numbers == list(range(1, len(lines) + 1))

    check()


@pytest.mark.usefixtures("small")
def test_a_line_is_found_by_its_number(opened):
    with opened(b"".join(b"line %d\n" % number for number in range(1, 200))) as log:
        for number in (1, 2, 9, 10, 64, 150, 199):
            found = log.forwards(log.offset_of(number), lines=1, masked=False)
            assert texts(found) == [f"line {number}"]
            assert found.lines[0].number == number
        with pytest.raises(NotFound, match="no line 900"):
            log.offset_of(900)


def test_a_log_that_grows_keeps_its_numbers(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("one\n")
    with open_log(path, account_name()) as log:
        assert log.backwards(log.size, masked=False).lines[-1].number == 1
    with path.open("a") as more:
        more.write("two\nthree\n")
    with open_log(path, account_name()) as log:
        last = log.backwards(log.size, masked=False).lines[-1]
    assert (last.number, last.screen.text) == (3, "three")


def test_a_log_that_was_begun_anew_is_counted_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(log_ranges, "BLOCK", 16)
    path = tmp_path / "a.log"
    path.write_text("first line\n" * 50)
    with open_log(path, account_name()) as log:
        log.offset_of(50)
    path.write_text("another\n" * 60)
    with open_log(path, account_name()) as log:
        assert log.backwards(log.size, masked=False).lines[-1].number == 60


def test_bars_collapse_as_in_a_terminal():
    shown = screen_line(b" 10%|#   |\r 50%|##  |\r100%|####|\n", masked=False)
    assert shown.text == "100%|####|"
    assert shown.redrawn == 2


def test_colours_become_words_and_other_escapes_go():
    shown = screen_line(b"\x1b[2K\x1b[1;31mfailed\x1b[0m: \x1b]0;title\x07x", masked=False)
    assert [(span.text, span.style) for span in shown.spans] == [
        ("failed", "bold red"),
        (": x", ""),
    ]


def test_what_looks_like_a_secret_is_masked():
    line = b"export HF_TOKEN=hf_abcdefghijklmnopqrstuvwx"
    assert "hf_abc" in screen_line(line, masked=False).text
    assert "hf_abc" not in screen_line(line, masked=True).text
    assert screen_line(b"M" * 64, masked=True).text == "[redacted]"


def test_an_endless_line_is_cut():
    shown = screen_line(b"x" * 100_000, masked=False)
    assert len(shown.text) == 4000
    assert shown.cut == 96_000


def test_a_packed_log_is_unpacked(opened):
    with opened(gzip.compress(b"one\ntwo\n"), "a.log.gz") as log:
        assert texts(log.forwards(0, masked=False)) == ["one", "two"]


def test_search_has_no_end_before_the_logs(opened):
    lines = [f"step {number} {'ERROR' if number % 100 == 0 else 'ok'}" for number in range(1, 2001)]
    with opened("\n".join(lines).encode()) as log:
        found = search(log, "error", masked=False)
        assert [line.number for line in found.lines] == list(range(100, 2001, 100))
        assert found.complete
        assert not search(log, "Error", masked=False).lines
        first = search(log, "ok", masked=False)
        assert len(first.lines) == 100
        assert not first.complete
        second = search(log, "ok", begin=first.searched, masked=False)
        assert second.lines[0].number == 102


def test_a_masked_secret_is_not_found_by_a_search(opened):
    with opened(b"password=hunter2hunter2\n") as log:
        assert search(log, "hunter2", masked=False).lines
        assert not search(log, "hunter2", masked=True).lines


def test_the_next_error(opened):
    with opened(b"fine\nterror of the seas\nValueError: no\nfine\nKilled\n") as log:
        first = next_trouble(log, 0).line
        assert log.number_at(first) == 3
        assert log.number_at(next_trouble(log, first + 1).line) == 5
        assert next_trouble(log, log.size).line is None


@pytest.mark.usefixtures("small")
def test_errors_are_the_same_in_both_directions(opened, monkeypatch):
    monkeypatch.setattr(log_search, "BLOCK", 1024)
    monkeypatch.setattr(log_ranges, "_LONGEST_LINE", 300)
    word = st.sampled_from(["ok", "error", "\x1b[31mfailed\x1b[0m", "bar\r" * 40, "x" * 100])

    @given(st.lists(st.lists(word, max_size=4).map(" ".join), min_size=1, max_size=30))
    def check(lines):
        with opened("".join(f"{line}\n" for line in lines).encode()) as log:
            down, at = [], 0
            while (found := next_trouble(log, at).line) is not None:
                down.append(found)
                at = found + 1
            up, at = [], log.size
            while (found := previous_trouble(log, at).line) is not None:
                up.insert(0, found)
                at = found
            numbers = [log.number_at(place) for place in down]
        assert up == down
        assert numbers == [
            n for n, line in enumerate(lines, 1) if "error" in line or "failed" in line
        ]

    check()


def test_a_search_for_errors_goes_on_where_one_request_ends(opened, monkeypatch):
    monkeypatch.setattr(log_search, "BLOCK", 64)
    monkeypatch.setattr(log_search, "_READ_AT_ONCE", 128)
    with opened(b"Error\n" + b"fine\n" * 100 + b"Error\n") as log:
        later, steps = next_trouble(log, 1), 0
        while later.line is None and later.reached < log.size:
            later, steps = next_trouble(log, later.reached), steps + 1
        assert log.number_at(later.line) == 102
        assert steps > 1
        earlier = previous_trouble(log, later.line)
        while earlier.line is None and earlier.reached > 0:
            earlier = previous_trouble(log, earlier.reached)
        assert earlier.line == 0


def test_a_log_is_folded_to_the_cause_and_its_end(opened):
    with opened(b"".join(b"line %d\n" % number for number in range(1, 1001))) as log:
        ranges = folded(log, [500], masked=False)
    assert [(found.lines[0].number, found.lines[-1].number) for found in ranges] == [
        (492, 508),
        (976, 1000),
    ]


def test_what_is_folded_never_overlaps(opened):
    @given(st.sets(st.integers(1, 120), max_size=6), st.integers(1, 120))
    @example({29}, 20)
    def check(numbers, length):
        with opened(b"".join(b"%d\n" % number for number in range(1, length + 1))) as log:
            shown = [
                line.number for found in folded(log, numbers, masked=False) for line in found.lines
            ]
        assert shown == sorted(set(shown))
        assert {number for number in numbers if number <= length} <= set(shown)
        assert shown[-1] == length

    check()


BAR = b"".join(b"%3d%%|####| %d/20000 [1.2it/s]\r" % (n // 200, n) for n in range(20_000)) * 3


@pytest.mark.parametrize("end", [b"", b"\n", b"\nTraceback\nRuntimeError: no\n"])
def test_a_long_bar_is_one_line_as_a_terminal_leaves_it(opened, end):
    with opened(BAR + b"RuntimeError: no" + end) as log:
        for ranges in (
            folded(log, [1], masked=False),
            [log.forwards(0, masked=False)],
            [log.backwards(log.size, masked=False)],
        ):
            [found] = ranges
            assert [line.number for line in found.lines] == list(
                range(1, max(1, end.count(b"\n")) + 1)
            )
            assert (found.begin, found.end) == (0, log.size)
            assert found.lines[0].screen.text == "RuntimeError: no"
            assert found.lines[0].screen.redrawn == 60_000
        assert [line.number for line in search(log, "RuntimeError: no", masked=False).lines][
            :1
        ] == [1]


def test_pages_of_long_lines_have_every_byte_once(opened, monkeypatch):
    """Also of lines that are too long to be shown as a whole."""
    monkeypatch.setattr(log_ranges, "_MOST_BYTES", 32)
    monkeypatch.setattr(log_ranges, "_LONGEST_LINE", 100)
    line = st.integers(0, 200).flatmap(lambda size: st.sampled_from(["x" * size, "y\r" * size]))

    @given(st.lists(line, min_size=1, max_size=8), st.integers(1, 5), st.sampled_from(["", "\n"]))
    def check(lines, count, end):
        with opened(("\n".join(lines) + end).encode()) as log:
            at, down = 0, []
            while at < log.size:
                found = log.forwards(at, lines=count, masked=False)
                assert (found.begin, found.end > at) == (at, True)
                down += found.lines
                at = found.end
            up = []
            while at > 0:
                found = log.backwards(at, lines=count, masked=False)
                assert (found.end, found.begin < at) == (at, True)
                up[:0] = found.lines
                at = found.begin
            whole = folded(log, [1, 7], masked=False)
        for shown in (down, up, [one for part in whole for one in part.lines]):
            numbers = [one.number for one in shown if one.number is not None]
            assert numbers == sorted(set(numbers))
        assert all(one.end <= other.begin for one, other in pairwise(whole))

    check()


def test_what_its_owner_may_not_read_is_not_there(tmp_path):
    with pytest.raises(NotFound), open_log(tmp_path / "none.log", account_name()):
        pass
    (tmp_path / "a.log").write_text("x")
    with pytest.raises(NotFound), open_log(tmp_path / "a.log", "no-such-user"):
        pass
