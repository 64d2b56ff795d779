# ruff: noqa: E501 - code of jobs reads better on one line
"""Local modules are found where Python would find them, and read only when they are used."""

import ast
import gc
import time
import weakref

import pytest

from advisor.interpret.python.support import calls_of, last, plain
from schedmate.advisor.interpret.python import parsed
from schedmate.advisor.interpret.python.reached import Reached


def files_of(seen):
    return [each.source.name for each in seen.modules]


def test_names_of_other_files(job):
    job.write(settings="LR = 3e-4\nclass C:\n    n = 5\n")
    job.put("pkg/__init__.py", "from .deep import value\n")
    job.put("pkg/deep.py", "from ..settings import LR\nfrom . import more\nvalue = more.m * 2\n")
    job.put("pkg/more.py", "m = 21\n")
    seen = job.interpret(
        "import settings as s\nfrom pkg import value\nfrom settings import C as K\nx = [s.LR, value, K.n]"
    )
    assert plain(last(seen, "x")) == [3e-4, 42, 5]
    assert last(seen, "x").data.items[0].lines[0].file == "settings.py"


def test_a_package_imports_its_own_modules(job):
    job.put("pkg/__init__.py", "from . import layers, optional\n").put("pkg/layers.py", "n = 3\n")
    seen = job.interpret("import pkg\nfrom pkg import layers\nx = [pkg.layers.n, layers.n]")
    assert plain(last(seen, "x")) == [3, 3]
    assert not seen.trace.exhausted


def test_modules_that_import_a_name_from_each_other(job):
    job.write(one="from two import n\n", two="from one import n\n")
    seen = job.interpret("from one import n\ny = n\nx = 5")
    assert plain(last(seen, "x")) == 5
    assert not seen.trace.exhausted


def test_only_what_is_used_is_read(job):
    job.write(used="a = 1\n", unused="b = 2\n", half="from unused import b\nfrom used import a\n")
    seen = job.interpret("import unused\nfrom unused import b\nfrom half import a\nx = a")
    assert plain(last(seen, "x")) == 1
    assert files_of(seen) == ["train.py", "half.py", "used.py"]


def test_stars_submodules_and_dynamic_imports(job):
    job.write(names="n = 1\n_hidden = 2\n", nets__one="size = 11\n", nets__two="size = 22\n")
    code = """\
from names import *
import importlib
import nets.one
which = 'two'
x = [n, nets.one.size, importlib.import_module('nets.' + which).size]
"""
    assert plain(job.value(code, "x")) == [1, 11, 22]


def test_roots_src_pythonpath_and_sys_path(job):
    job.put("src/inside.py", "a = 1\n").put("lib/other.py", "b = 2\n").put(
        "extra/third.py", "c = 3\n"
    )
    code = "import sys, os\nsys.path.append(os.path.join(os.path.dirname(__file__), 'extra'))\nimport inside, other, third\nx = [inside.a, other.b, third.c]"
    assert plain(job.value(code, "x", env={"PYTHONPATH": "lib:$PYTHONPATH"})) == [1, 2, 3]


def test_libraries_go_by_their_dotted_names(job):
    code = "import torch.nn as nn\nfrom torch.optim import AdamW as Opt\nfrom torch.optim import lr_scheduler\nnn.Linear(3, 4)\nOpt([], lr=1)\nlr_scheduler.StepLR(None)\nimport torch\ntorch.save(1)\n"
    seen = job.interpret(code)
    assert [call.callee for call in seen.trace.calls] == [
        "torch.nn.Linear",
        "torch.optim.AdamW",
        "torch.optim.lr_scheduler.StepLR",
        "torch.save",
    ]
    assert [each.name for each in seen.trace.imports] == [
        "torch.nn",
        "torch.optim.AdamW",
        "torch.optim.lr_scheduler",
        "torch",
    ]


def test_cycles_end(job):
    job.write(one="from two import b\na = 1\nc = b\n", two="from one import a\nb = 2\nd = a\n")
    assert plain(job.value("from one import c, a\nx = [a, c]", "x")) == [1, 2]


def test_a_file_that_does_not_parse_is_a_problem_of_its_depth(job):
    job.write(bad="def (:\n")
    seen = job.interpret("import bad\nx = bad.y")
    assert [(each.source.name, each.line, each.depth) for each in seen.problems] == [
        ("bad.py", 1, 1)
    ]
    assert plain(last(seen, "x")) == ...


def test_depth_is_how_far_a_file_is_from_the_entry_point(job):
    job.write(
        near="from far import f\ndef g():\n    f()\n", far="import lib\ndef f():\n    lib.call()\n"
    )
    (call,) = calls_of(job.interpret("from near import g\ng()"), "lib.call")
    assert call.depth == 2


def test_a_console_script_calls_its_function(job):
    job.put(
        "train.py",
        "x = 1\ndef main():\n    global x\n    x = 2\nif __name__ == '__main__':\n    x = 3\n",
    )
    assert last(job.interpret(function="main"), "x").data == 2


def test_nothing_outside_the_jobs_directory_is_read(job, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.py").write_text("x = 1\n")
    (job.directory / "link.py").symlink_to(outside / "secret.py")
    code = f"import sys\nsys.path.insert(0, {str(outside)!r})\nimport secret, link\nfrom .. import up\ny = [link.x]\nexec(open({str(outside / 'secret.py')!r}).read())"
    seen = job.interpret(code)
    assert files_of(seen) == ["train.py"]
    assert plain(last(seen, "y")) == [...]


def test_what_a_module_does_only_where_it_is_started_itself_is_of_another_program(job):
    job.put(
        "evaluate.py",
        "import lib\n"
        "def accuracy():\n    lib.used()\n"
        "def plot():\n    lib.helper()\n"
        "def main():\n    lib.batch(77)\n    inner()\n"
        "def inner():\n    lib.inner()\n"
        'if __name__ == "__main__":\n    main()\n',
    )
    seen = job.interpret("from evaluate import accuracy\naccuracy()")
    reached = {call.callee: call.reached for call in seen.trace.calls}
    assert reached["lib.used"] is Reached.EXECUTED
    assert reached["lib.helper"] is Reached.UNCALLED
    assert reached["lib.batch"] is reached["lib.inner"] is Reached.ANOTHER_PROGRAM


@pytest.fixture
def trees(monkeypatch):
    """How many are left of those that are made from now on."""
    monkeypatch.setattr(parsed, "_recent", parsed._Recent())
    made, parse = [], ast.parse

    def noting(*args, **named):
        tree = parse(*args, **named)
        made.append(weakref.ref(tree))
        return tree

    def count():
        gc.collect()
        return sum(each() is not None for each in made)

    monkeypatch.setattr(ast, "parse", noting)
    return count


def read_another_program(job, number):
    job.put(
        "evaluate.py",
        f"import lib\ndef accuracy():\n    lib.used()\ndef main():\n    lib.batch({number})\n"
        'if __name__ == "__main__":\n    main()\n',
    )
    job.interpret(f"from evaluate import accuracy\nx = [{number}, accuracy(), unbound]\n")


def test_code_that_gave_way_to_newer_code_is_not_kept(job, trees, monkeypatch):
    """Its tree takes forty times as much as its text."""
    monkeypatch.setattr(parsed, "_MAX_KEPT", 500)
    for number in range(50):
        read_another_program(job, number)
    assert 1 <= trees() <= 500 / 50


def test_code_that_was_not_needed_lately_is_not_kept(job, trees, monkeypatch):
    now = time.monotonic()
    read_another_program(job, 1)
    parsed.forget_idle_trees()
    assert trees() == 2
    monkeypatch.setattr("time.monotonic", lambda: now + 3600.0)
    parsed.forget_idle_trees()
    assert trees() == 0


def test_the_entry_point_is_no_other_program(job):
    code = 'import lib\ndef main():\n    lib.batch(7)\nif __name__ == "__main__":\n    main()\n'
    (call,) = calls_of(job.interpret(code), "lib.batch")
    assert call.reached is Reached.EXECUTED
