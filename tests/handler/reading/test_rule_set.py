"""A rule_set finds the same rule as asking one rule after the other, only sooner."""

from __future__ import annotations

import re

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from schedmate.handler import RULES, Case, NamedLog, Rule
from schedmate.handler.reading import gather
from schedmate.handler.reading.prefilter import prefilter_of
from schedmate.handler.rules import BUILT_IN, RuleSet
from schedmate.handler.rules.needles import widened

EXAMPLES = [
    example
    for rule in RULES
    for example in (*rule.positives, *rule.negatives)
    if isinstance(example, str)
]


def slowly(text: str, *, errors: bool) -> Rule | None:
    asked = (rule for rule in RULES if rule.pattern and (errors or not rule.errors_only))
    return next((rule for rule in asked if rule.matches_text(text)), None)


@pytest.mark.slow
@pytest.mark.parametrize("change", [str, "é {} ü".format, lambda text: text.replace(" ", "\u00a0")])
def test_the_book_answers_as_its_rules_do(change):
    for text in map(change, EXAMPLES):
        assert BUILT_IN.for_line(text) is slowly(text, errors=False), text
        assert BUILT_IN.for_error(text) is slowly(text, errors=True), text


@given(st.lists(st.sampled_from(EXAMPLES), max_size=3), st.text(max_size=20))
def test_the_book_answers_as_its_rules_do_about_mixtures(parts, between):
    text = between.join(parts)
    assert BUILT_IN.for_error(text) is slowly(text, errors=True)


def test_re2_reads_every_built_in_pattern():
    unread = [rule.reason for rule in RULES if rule.pattern and not widened(rule.pattern).whole]
    assert unread == []


@pytest.mark.parametrize(
    ("pattern", "needles"),
    [
        (r"\bfoo .{0,200}bar baz\b", [b"bar baz"]),
        (r"^(?:abc|defg)$", [b"abc", b"defg"]),
        (r"loss\s{0,3}(?:nan|inf)", [rb"loss(?:[\s\x80-\xaf\xc2\xe2])*(?:(?:nan|inf))"]),
        (r"ab?c{2}", [b"a(?:b)?(?:c)+"]),
        (r"(?:x|)", []),
        (r".{0,9}", []),
        (r"abc(?!def)", [b"abc"]),
        (r"(?i)abc", [b"(?i:abc)"]),
    ],
)
def test_the_needle_is_the_most_telling_stretch(pattern, needles):
    assert list(widened(re.compile(pattern)).needles) == needles


@given(
    st.from_regex(re.compile(r"(?:foo|ba[rz]) \d{1,3}(?:x.{0,40}y)?[^a]{1,3}end"), fullmatch=True)
)
def test_whatever_a_pattern_matches_has_its_needle(text):
    wide = widened(re.compile(r"(?:foo|ba[rz]) \d{1,3}(?:x.{0,40}y)?[^a]{1,3}end"))
    raw = text.encode("utf-8", "replace")
    assert any(re2.search(needle, raw) for needle in wide.needles)
    assert wide.whole.search(raw)


def test_a_learned_rule_of_re2_is_asked_and_its_lines_are_found():
    learned = Rule(
        name="rotten-shard",
        reason="data_error",
        pattern=re2.compile(r"(?i)shard \d+ is rotten"),
        confidence=0.8,
        positives=("Shard 7 is rotten",),
    )
    rule_set = RuleSet([*RULES, learned])
    log = NamedLog("a.log", b"step 1\n" * 5 + b"[rank2]: SHARD 7 is rotten, sorry\n")
    (clue,) = gather(Case(logs=(log,)), rule_set).clues
    assert clue.rule is learned
    assert not gather(Case(logs=(log,))).clues


def test_words_find_the_lines_of_a_pattern_that_has_no_needle():
    vague = Rule(
        name="rotten-or-moldy",
        reason="data_error",
        pattern=re.compile(r"[rR][oO]tten|[mM]oldy"),
        words=("rotten", "moldy"),
        confidence=0.8,
        positives=("rotten",),
    )
    assert prefilter_of(RuleSet([vague])).search(b"a moldy shard")
