from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schedmate.tracker.lines import LONGEST_LINE, LineCutter, clean, thinned


@given(st.lists(st.sampled_from([b"a", b"b\n", b"\r", b"\n", b"\xff", b"c\r\nd"]), max_size=30))
def test_lines_do_not_depend_on_how_the_stream_is_chunked(chunks: list[bytes]):
    piecewise, at_once = LineCutter(), LineCutter()
    pieces = [line for chunk in chunks for line in piecewise.feed(chunk)]
    assert pieces + piecewise.finish() == at_once.feed(b"".join(chunks)) + at_once.finish()


def test_a_line_of_megabytes_is_cut_and_the_next_one_is_whole():
    cutter = LineCutter()
    for _ in range(200):
        assert cutter.feed(b"x" * 100_000) == []
        assert len(cutter._open) <= LONGEST_LINE
    assert cutter.open_bytes == 20_000_000
    first, second = cutter.feed(b"end\nstep 3/5\n")
    assert len(first) == LONGEST_LINE
    assert second == b"step 3/5"


def test_only_what_draws_over_the_line_before_is_an_open_bar():
    cutter = LineCutter()
    cutter.feed(b"\n 10%")
    assert cutter.open_bar is None
    cutter.feed(b"\r 20%")
    assert cutter.open_bar == b" 20%"
    cutter.feed(b"\n")
    assert cutter.open_bar is None


def test_clean_drops_escapes_and_survives_rubbish():
    assert clean(b"\x1b[A\x1b[32mstep\x1b[0m 1 \xff\xfe ") == "step 1 \ufffd\ufffd"


def test_thinning_keeps_the_last_of_each_shape_in_order():
    lines = [b"start", b"step 1/9 loss 0.5", b"saved a", b"step 2/9 loss 1e-3", b"step 3/9 loss 7"]
    assert thinned(lines) == [b"start", b"saved a", b"step 3/9 loss 7"]
