"""A line becomes a pattern for lines like it, and for no others."""

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from schedmate.handler.learning.proposals import compiled, propose, rule_id
from schedmate.model import BadInput

CASES = [
    (
        "[2026-01-05 09:00:10,123] ERROR [pump.py:17] valve 7 of '/dev/v3' does not close (3.5 s)",
        "12:00:01 CRITICAL valve 12 of '/dev/other' does not close (120 s)",
        "valve 7 of '/dev/v3' does not open (3.5 s)",
    ),
    (
        "record 371 of shard s3://b/x/3.tar is cut short: 512 bytes announced, 128 found",
        "rank 3 says: record 1 of shard /data/7.tar is cut short: 2048 bytes announced, 0 found",
        "record 371 of shard s3://b/x/3.tar is complete: 512 bytes announced, 512 found",
    ),
    (
        "内存 分配 请求 失败: 需要 12 GiB",
        "内存 分配 请求 失败: 需要 300 MiB",
        "内存 分配 请求 成功",
    ),
    (
        r"what (on earth) [does] {brace}? a+b*c^d$ | x\y",
        r"so: what (on earth) [does] {brace}? a+b*c^d$ | x\y",
        "what on earth does brace",
    ),
]


@pytest.mark.parametrize(("line", "alike", "other"), CASES)
def test_it_matches_lines_like_it(line, alike, other):
    proposal = propose(line)
    search = compiled(proposal.pattern).search
    assert search(line)
    assert search(alike)
    assert not search(other)
    for text in (line, alike):
        without_digits = "".join(c for c in text.lower() if not c.isdigit())
        assert proposal.words[0] in without_digits


@pytest.mark.parametrize(
    "line",
    [
        "",
        "error",
        "Error: 17",
        "step 3 loss 0.5",
        "failed with exit code 1",
        "/a/b/c: 3",
        "'x' 'y'",
    ],
)
def test_what_is_too_general_is_refused(line):
    with pytest.raises(BadInput, match="too general"):
        propose(line)


@given(st.text(max_size=1500))
def test_any_text_gives_a_pattern_that_matches_it_or_a_refusal(line):
    line = " ".join(line.split())
    try:
        proposal = propose(line)
    except BadInput:
        return
    assert compiled(proposal.pattern).search(line)
    assert proposal.words[0]


@pytest.mark.parametrize("pattern", ["(", "a{1,9999}", r"(?=x)", r"(a)\1", "x" * 5000])
def test_a_pattern_that_is_none_is_reported_in_a_sentence(pattern):
    with pytest.raises(BadInput):
        compiled(pattern)


def test_the_same_rule_has_the_same_id():
    assert rule_id("a", "b") == rule_id("a", "b") != rule_id("b", "b")
    assert re2.fullmatch(r"r[0-9a-f]{7}", rule_id("a", "b"))
