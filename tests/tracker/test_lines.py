from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.tracker.tailing.lines import MAX_LINE, LineCutter, clean

PIECES = [
    b"a",
    b"b\n",
    b"\r",
    b"\n",
    b"\xff",
    b"c\r\nd",
    b"\b\b",
    b"\0",
    b"z" * (MAX_LINE // 2),
]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_lines_do_not_depend_on_how_the_stream_is_chunked(chunks: list[bytes]):
    piecewise, at_once = LineCutter(), LineCutter()
    pieces = [line for chunk in chunks for line in piecewise.feed(chunk)]
    assert pieces + piecewise.finish() == at_once.feed(b"".join(chunks)) + at_once.finish()
    assert all(0 < len(line) <= MAX_LINE for line in pieces)


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_the_open_bytes_are_those_after_the_last_line_end(chunks: list[bytes]):
    cutter, stream = LineCutter(), b"".join(chunks)
    for chunk in chunks:
        cutter.feed(chunk)
    assert cutter.open_bytes == len(stream) - 1 - max(stream.rfind(end) for end in b"\n\r\b")


def test_a_line_of_megabytes_is_cut_and_the_next_one_is_whole():
    cutter = LineCutter()
    lines = [line for _ in range(200) for line in cutter.feed(b"x" * 100_000)]
    assert lines == [b"x" * MAX_LINE]
    assert cutter.open_line == b""
    assert cutter.feed(b"end\nstep 3/5\n") == [b"step 3/5"]


def test_backspaces_draw_a_bar_anew_as_returns_do():
    cutter = LineCutter()
    bar = b"1/2 [==>...]" + b"\b" * 12 + b"\r2/2 [=====]" + b"\b" * 11 + b"\r"
    assert cutter.feed(bar) == [b"1/2 [==>...]", b"2/2 [=====]"]


def test_a_log_in_utf_16_is_read_as_far_as_it_is_ascii():
    cutter = LineCutter()
    assert cutter.feed("step 1\r\nstep 2\r\n".encode("utf-16-le")) == [b"step 1", b"step 2"]


def test_only_what_draws_over_the_line_before_is_an_open_bar():
    cutter = LineCutter()
    cutter.feed(b"\n 10%")
    assert cutter.open_bar is None
    cutter.feed(b"\r 20%")
    assert cutter.open_bar == b" 20%"
    cutter.feed(b"\n")
    assert cutter.open_bar is None


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"\x1b[A\x1b[32mstep\x1b[0m 1 \xff\xfe ", "step 1 \ufffd\ufffd"),
        (b"\x1b[38;2;114;156;31m5/9\x1b[0m\x1b[?25h", "5/9"),
        (b"\x1b]8;id=1;https://a.b\x1b\\run\x1b]8;;\x07 3", "run 3"),
        (b"\x1b(B\x1b[m  indented\x1b[K", "  indented"),
        (b"\xef\xbb\xbfstep,loss", "step,loss"),
        (b"\x1b[", "\x1b["),
    ],
)
def test_clean_drops_escapes_and_survives_rubbish(line: bytes, text: str):
    assert clean(line) == text
