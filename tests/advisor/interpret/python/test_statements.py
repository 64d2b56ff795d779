# ruff: noqa: E501 - code of jobs reads better on one line
"""Branches, loops and the like."""

import pytest

from advisor.interpret.python.support import calls_of, last, plain


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1\nif 2 > 1:\n    x = 2", 2),
        ("x = 1\nif unknown:\n    x = 2\nx = x", ...),
        ("if unknown:\n    x = 2\nelse:\n    x = 2\nx = x", 2),
        ("x = 1\nif unknown:\n    raise ValueError\nx = x", 1),
        ("x = None\nif x is None:\n    x = 4", 4),
        ("d = {'a': 1}\nif unknown:\n    d['a'] = 2\nx = d", {"a": ...}),
        ("d = {'a': 1}\nif unknown:\n    d['b'] = 2\nx = d['a']", 1),
        ("try:\n    x = 1\nexcept ValueError:\n    x = 2\nx = x", 1),
        ("try:\n    x = int('a')\nexcept ValueError:\n    x = 2\nx = x", 2),
        ("try:\n    import apex\nexcept ImportError:\n    apex = None\nx = apex is None", False),
        ("x = 0\nfor i in range(9):\n    x += 1\nx = x", ...),
        ("x = 3\nfor i in unknown:\n    y = x\nx = x", 3),
        ("d = {}\nfor k in ['a', 'b']:\n    d[k] = 1\nx = d", {"a": 1, "b": 1}),
        ("x = 1\nwhile unknown:\n    x = 2\nx = x", ...),
        ("def f():\n    if unknown:\n        return 1, 2\n    return 1, 3\nx = f()", [1, ...]),
        ("x = [*range(3)]", [0, 1, 2]),
        ("x = 0\nwhile False:\n    x = 1\nx = x", 0),
        ("x = 1\ndel x\nx = 2", 2),
        ("def f():\n    global x\n    x = 8\nx = 1\nf()\nx = x", 8),
        (
            "def f():\n    n = 1\n    def g():\n        nonlocal n\n        n = 5\n    g()\n    return n\nx = f()",
            5,
        ),
        (
            "match 'adam':\n    case 'sgd': x = 1\n    case 'adam' | 'adamw': x = 2\n    case _: x = 3",
            2,
        ),
        ("m = 'z'\nmatch m:\n    case 'sgd': x = 1\n    case other: x = other", "z"),
        ("def f(a):\n    if a:\n        return 1\n    return 2\nx = f(0)", 2),
        ("def f(a):\n    if a:\n        return 1\n    return 2\nx = f(unknown)", ...),
        ("def f(a):\n    if a:\n        return 1\n    return 1\nx = f(unknown)", 1),
    ],
)
def test_a_value(job, code, expected):
    assert plain(job.value(code, "x")) == expected


def test_a_branch_that_may_not_be_taken_is_uncertain(job):
    seen = job.interpret("import a\na.f()\nif unknown:\n    a.g()\nelse:\n    a.h()\na.i()")
    found = {call.callee: call.certain for call in seen.trace.calls}
    assert found == {"a.f": True, "a.g": False, "a.h": False, "a.i": True}


def test_bounds_of_loops(job):
    code = """\
import lib
epochs, steps = 7, 100
def train():
    for epoch in range(epochs):
        for batch in lib.loader():
            lib.step()
train()
step = 0
while step < steps:
    step += 1
while True:
    step += 1
    if step >= 50:
        break
for i in range(1, epochs + 1):
    pass
"""
    found = [
        (each.kind, each.variable, each.bound and each.bound.data, each.inside, each.within)
        for each in job.interpret(code).trace.loops
    ]
    assert found == [
        ("for", "epoch", 7, 0, "train"),
        ("for", "batch", None, 1, "train"),
        ("while", "step", 100, 0, ""),
        ("while", "", None, 0, ""),
        ("break", "step", 50, 1, ""),
        ("for", "i", 7, 0, ""),
    ]


def test_a_call_knows_the_loops_around_it_and_how_often_it_runs(job):
    code = """\
import lib
def save():
    lib.save()
for epoch in range(3):
    for i, batch in enumerate(lib.loader()):
        lib.step()
        if (i + 1) % 20 == 0:
            save()
"""
    seen = job.interpret(code)
    (save,), (step,) = calls_of(seen, "lib.save"), calls_of(seen, "lib.step")
    assert (save.certain, save.every.data, save.within) == (True, 20, "save")
    assert [seen.trace.loops[index].variable for index in save.loops] == ["epoch", "(i, batch)"]
    assert step.every is None


def test_the_entry_point_is_main_and_what_it_imports_is_not(job):
    job.write(other="y = 1\nif __name__ == '__main__':\n    y = 2\n")
    seen = job.interpret("import other\nx = 1\nif __name__ == '__main__':\n    x = other.y")
    assert last(seen, "x").data == 1
    assert [each.value.data for each in seen.trace.bindings if each.name == "y"] == [1]


def test_sys_exit_ends_a_branch(job):
    assert (
        plain(job.value("import sys\nx = 1\nif unknown:\n    x = 2\n    sys.exit(1)\nx = x", "x"))
        == 1
    )
