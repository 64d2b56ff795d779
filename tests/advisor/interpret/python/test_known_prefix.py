"""Texts of which only the beginning is known."""

import pytest

from schedmate.advisor.interpret.python.known_prefix import before_holes, beginning, unset_in
from schedmate.advisor.interpret.python.truth import any_of, truth
from schedmate.advisor.interpret.python.values import UNKNOWN, KnownPrefix, Value
from schedmate.model import Evidence

LINE = Evidence("train.py", 3, "out = 'runs'")


@pytest.mark.parametrize(
    ("parts", "glue", "begins"),
    [
        (["runs/a", None], "/", "runs/a/"),
        (["runs/", "a", None, "b"], "/", "runs/a/"),
        (["runs/epoch_", None, ".pt"], "", "runs/epoch_"),
    ],
)
def test_as_far_as_it_is_known(parts, glue, begins):
    values = [UNKNOWN if part is None else Value(part, (LINE,), "cli") for part in parts]
    found = beginning(values, glue)
    assert isinstance(found, KnownPrefix)
    assert (found.begins, found.lines, found.source) == (begins, (LINE,), "cli")
    assert not found.known


def test_what_follows_something_begun_is_not_known():
    begun = beginning([Value("out/"), UNKNOWN])
    assert beginning([begun, Value("/last.pt")], "/").begins == "out/"


@pytest.mark.parametrize(("text", "begins"), [("a/%d.pt", "a/"), ("a/{}.pt", "a/"), ("a", "a")])
def test_a_template_before_its_first_hole(text, begins):
    assert before_holes(Value(text)).begins == begins


@pytest.mark.parametrize("text", ["%s/x", "", "x" * 10_000])
def test_nothing_or_too_much_is_no_beginning(text):
    assert before_holes(Value(text)) is UNKNOWN


@pytest.mark.parametrize(
    ("text", "whole", "directory"),
    [
        ("$SCRATCH/run/x", "$SCRATCH/run/x", None),
        ("${WORK}/x", "${WORK}/x", None),
        ("runs/a/seed$SEED", None, "runs/a"),
        ("$SCRATCH/a/b_$(date)/c", None, "$SCRATCH/a"),
        ("$SCRATCH", None, None),
        ("$1/x", None, None),
        ("x$SEED", None, ""),
    ],
)
def test_a_word_with_variables_that_nobody_sets(text, whole, directory):
    found = unset_in(text, (LINE,), "script")
    assert (found.data if found.known else None) == whole
    assert (found.directory if isinstance(found, KnownPrefix) else None) == directory
    assert truth(found) is (None if whole is None and directory is None else True)


def test_an_absolute_part_begins_anew():
    assert beginning([Value("a"), Value("/b"), UNKNOWN], "/").begins == "/b/"


@pytest.mark.parametrize(
    ("template", "values", "begins"),
    [
        ("%s/net_%d.pth", ["out", None], "out/net_"),
        ("{}/{}_{}.pt", ["out", "a", None], "out/a_"),
        ("{}/{:03d}.pt", ["out", "a"], "out/"),
        ("%5.2f/%s", ["x", "y"], None),
    ],
)
def test_a_template_with_some_of_its_holes_filled(template, values, begins):
    filled = [UNKNOWN if each is None else Value(each) for each in values]
    found = before_holes(Value(template), filled)
    assert (found.begins if isinstance(found, KnownPrefix) else None) == begins


def test_files_of_one_directory():
    begun = beginning([Value("out/epoch_"), UNKNOWN])
    assert any_of([Value("out/last.pt"), begun]).directory == "out"
    assert any_of([Value("a/x"), Value("b/x")]) is UNKNOWN
    assert any_of([Value("./x"), Value("./y")]) is UNKNOWN
