"""The reference cannot drift from the code."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from docs.generate import REFERENCE, SCHEMAS, TABLES, WORDS, schema_text, settings, with_table
from docs.pages import ROOT, name_of
from schedmate.model import SchedMateError, errors
from schedmate.model.wire import to_json
from schedmate.testing.builders import a_diagnosis, a_progress, an_advice

AGAIN = "run: python tests/docs/generate.py"
EXAMPLES = {"advice": an_advice(), "progress": a_progress(), "diagnosis": a_diagnosis()}


def source() -> str:
    return "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))


@pytest.mark.parametrize("page", TABLES, ids=name_of)
def test_a_table_is_what_the_code_says(page):
    text = page.read_text("utf-8")

    assert TABLES[page]() in text, AGAIN
    assert with_table(text, TABLES[page]()) == text, AGAIN


def test_every_setting_is_explained_and_no_other():
    assert set(WORDS) == set(settings())


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_what_the_code_says(name):
    published = (REFERENCE / "schemas" / f"{name}.json").read_text("utf-8")

    assert published == schema_text(name), AGAIN
    jsonschema.validate(to_json(EXAMPLES[name]), json.loads(published))


def test_every_variable_that_the_code_reads_or_sets_is_listed():
    page = (REFERENCE / "settings.md").read_text("utf-8")

    known = set(re.findall(r"\bSCHEDMATE_[A-Z_]*[A-Z]\b", source()))

    assert known
    assert {name for name in known if f"`{name}`" not in page} == set()


def test_every_schema_that_a_verb_prints_is_listed():
    page = (REFERENCE / "verbs.md").read_text("utf-8")

    printed = set(re.findall(r"schedmate\.[a-z]+/\d+", source()))

    assert printed
    assert {name for name in printed if f"`{name}`" not in page} == set()


def test_every_error_is_listed_with_its_exit_code():
    page = (REFERENCE / "exit-codes.md").read_text("utf-8")
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, SchedMateError)
    ]

    for kind in kinds:
        assert re.search(rf"^\| {kind.exit_code} \|.*`{kind.__name__}`", page, re.MULTILINE), kind
