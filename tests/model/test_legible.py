"""Nothing in a text that a person sees is hidden."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from schedmate.model.legible import escaped_json, has_hidden, legible

FORMAT = [chr(code) for code in range(sys.maxunicode) if unicodedata.category(chr(code)) == "Cf"]
SIGNS_OVER_NUMBERS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Characters of that category that have a shape."""


def test_no_character_of_format_is_invisible():
    found = [one for one in FORMAT if not has_hidden(one) and one not in SIGNS_OVER_NUMBERS]
    assert found == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ro\u200bot", r"ro\u200bot"),
        ("a\xadb", r"a\xadb"),
        ("\ufeffname", r"\ufeffname"),
        ("x\U000e0041", r"x\U000e0041"),
        ("a\u202eb", r"a\u202eb"),
        ("größe 名前", "größe 名前"),
    ],
)
def test_it_is_shown_as_an_escape(text, shown):
    assert legible(text) == shown


def test_json_has_the_same_text():
    text = "a\u200bb\U000e0041\x1b\x7fc"
    written = escaped_json(json.dumps(text, ensure_ascii=False))
    assert written.isprintable()
    assert json.loads(written) == text
