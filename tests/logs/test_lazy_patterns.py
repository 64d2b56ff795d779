"""A lazy pattern is the compiled one from its first use on."""

from __future__ import annotations

import re

import pytest

from schedmate.logs.lazy_patterns import LazyPattern, lazy_pattern


def test_nothing_is_compiled_before_the_first_use():
    broken = LazyPattern("(")

    assert (broken.pattern, broken.flags) == ("(", 0)
    with pytest.raises(re.error):
        broken.search("x")


@pytest.mark.parametrize("make", [LazyPattern, lazy_pattern])
def test_it_answers_as_the_compiled_pattern_does(make):
    lazy, compiled = make(r"a(\d)", re.IGNORECASE), re.compile(r"a(\d)", re.IGNORECASE)

    for text in ("A1 a2", "none"):
        for _ in range(2):
            assert lazy.findall(text) == compiled.findall(text)
            assert (lazy.search(text) is None) == (compiled.search(text) is None)
    with pytest.raises(AttributeError):
        lazy.no_method  # noqa: B018 - that it is refused
