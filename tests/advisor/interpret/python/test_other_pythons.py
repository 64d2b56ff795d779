"""Syntax of Pythons that are newer or older than the one that reads."""

import ast

import pytest

from schedmate.advisor.interpret.python.other_pythons import in_older_words
from schedmate.advisor.interpret.python.parsed import ParsedFile, Unparsable, parse_file
from schedmate.advisor.sources.files import SourceFile


def parsed(text):
    return parse_file(SourceFile("train.py", text), 0)


@pytest.mark.parametrize(
    "text",
    [
        'x = f"{a["b"]}"',
        'x = f"{f"{a["b"]}"}"',
        "x = f'{'\\n'.join(z)}'",
        'x = f"{a["b"]:>{w["c"]}} {y!r} {{no}}"',
        'x = f"{\n  a\n}"',
        'print(f"{d["a"]} # {len(q["x"])}")  # it\'s',
        "def first[T](items: list[T]) -> T:\n    return items[0]",
        "class Stack[T](list):\n    pass",
        "type Pair = tuple[int, int]",
    ],
)
def test_newer_syntax_is_read_and_no_problem(text):
    module = parsed(f"{text}\nlast = 1\n")
    assert isinstance(module, ParsedFile)
    assert module.problem is None
    assert module.tree.body[-1].lineno == text.count("\n") + 2


@pytest.mark.parametrize(
    "text",
    [
        'print "loss", loss',
        "if a: print 'x'",
        'print "x %d" % (\n    step)\nprint >>log, a',
        "try:\n    pass\nexcept ValueError, error:\n    pass",
        'raise ValueError, "no"',
        "mode = 0755",
        "if a <> b:\n    pass",
        "if a:\n        b = 1\n\tc = 2",
    ],
)
def test_older_syntax_is_read_though_it_is_a_problem(text):
    module = parsed(f"{text}\nlast = 1\n")
    assert isinstance(module, ParsedFile)
    assert module.problem is not None
    assert module.tree.body[-1].lineno == text.count("\n") + 2


@pytest.mark.parametrize("text", ["def f(:\n", 'x = f"{a', "x = 'a", 'f"{"', "f'{x:", "type ="])
def test_what_no_python_understands_stays_a_problem(text):
    assert isinstance(parsed(text), Unparsable)


def test_a_string_of_many_quotes_takes_no_long_time():
    text = 'f"{' * 20_000
    assert in_older_words(text) is None
    assert in_older_words("'" + "\\" * 200_001) is None


def test_what_is_understood_is_left_alone():
    text = 'x = f"{a[\'b\']} {c!r:>{d}}" + "f\'{" + \'\'\'f"{"\'\'\'  # f"{a["b"]}"\n'
    ast.parse(text)
    assert in_older_words(text) is None


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import broken", ["broken.py"]),
        ("from broken import x", ["broken.py"]),
        ("from pack import broken", ["pack/broken.py"]),
        ("try:\n    import broken\nexcept Exception:\n    pass", []),
        ("def never():\n    import broken", []),
        ("import fine", []),
    ],
)
def test_a_module_that_is_no_python_ends_the_job_even_if_nothing_uses_it(job, code, found):
    job.put("broken.py", "def (:\n").put("pack/broken.py", "def (:\n").put("fine.py", "x = 1\n")
    job.put("pack/__init__.py", "")
    problems = job.interpret(code + "\nlast = 1\n").problems
    assert [each.source.name for each in problems] == found
