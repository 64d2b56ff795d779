# ruff: noqa: E501 - code of jobs reads better on one line
"""Values of expressions, each as the last binding of `x`."""

import pytest

from advisor.interpret.python.support import last, plain


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 3e-4", 3e-4),
        ("x = -2 ** 4 + 7 // 2 % 3", -16),
        ("x = 1 if 2 > 1 else 0", 1),
        ("x = None or 5", 5),
        ("x = 0 and open('f')", 0),
        ("x = not []", True),
        ("n = 4\nx = f'run-{n:02d}-{n!r}'", "run-04-4"),
        ("x = '%s/%d' % ('a', 3)", "a/3"),
        ("x = '{}-{b}'.format('a', b=2)", "a-2"),
        ("x = '-'.join(['a', 'b'])", "a-b"),
        ("x = 'A_B'.lower().split('_')", ["a", "b"]),
        ("x = [1, 2, 3][1:]", [2, 3]),
        ("x = {'a': 1, **{'b': 2}}", {"a": 1, "b": 2}),
        ("x = {'a': 1} | {'a': 2}", {"a": 2}),
        ("x = dict(a=1)\nx.update(b=2)\ny = x.pop('a')\nx = x", {"b": 2}),
        ("d = {'a': 1}\nx = d.get('z', 7)", 7),
        ("d = {}\nd.setdefault('a', 3)\nx = d['a']", 3),
        ("l = [1]\nl.append(2)\nl += [3]\nx = l", [1, 2, 3]),
        ("x = {k: v * 2 for k, v in {'a': 1, 'b': 2}.items() if v > 1}", {"b": 4}),
        ("x = [i * 2 for i in range(3)]", [0, 2, 4]),
        ("x = [a for a in unknown]", [..., ...]),
        ("a, (b, *c) = 1, (2, 3, 4)\nx = [a, b, c]", [1, 2, [3, 4]]),
        ("x = (y := 5) + 1", 6),
        ("x = len({'a': 1}) + max(3, 4) + min([1, 2]) + sum([1, 2]) + abs(-1)", 10),
        ("import math\nx = math.ceil(10 / 4)", 3),
        ("import os\nx = os.path.join('a', 'b', os.path.basename('/c/d.yaml'))", "a/b/d.yaml"),
        ("from pathlib import Path\nx = str(Path('out') / 'run' / 'log.txt')", "out/run/log.txt"),
        ("from pathlib import Path\nx = Path('out/run.tar').stem", "run"),
        ("x = int('7') + float('0.5')", 7.5),
        ("x = isinstance(3, (int, str)), isinstance('a', int)", [True, False]),
        ("class A: pass\na = A()\na.b = 3\nx = getattr(a, 'b') + getattr(a, 'c', 4)", 7),
        ("class A: pass\na = A()\nsetattr(a, 'b', 3)\nx = vars(a)", {"b": 3}),
        ("import copy\na = {'l': [1]}\nb = copy.deepcopy(a)\nb['l'].append(2)\nx = a", {"l": [1]}),
        ("from types import SimpleNamespace as N\nx = N(a=1).a", 1),
        ("from functools import partial\ndef f(a, b): return a - b\nx = partial(f, b=2)(5)", 3),
        ("import ast\nx = ast.literal_eval('[1, 2]')", [1, 2]),
        ("x = globals()['__name__']", "__main__"),
        ("x = torch.cuda.is_available() and unknown", ...),
        ("import torch\nx = torch.cuda.is_available()", True),
        ("import torch.distributed as dist\nx = dist.get_rank() == 0", True),
        ("x = unknown or 5", ...),
        ("x = 10 ** 10 ** 10", ...),
        ("x = unknown + 1", ...),
        ("x = 5 in (1, 5)\ny = x", True),
        ("x = 1 < 2 < 2", False),
        ("x = sorted([3, 1, 2])[0]", 1),
        ("x = {'int': 1, int: 2, float: 3}[int]", 2),
        ("x = list(zip(['a'], [1]))", [["a", 1]]),
        ("x = [p for p in enumerate(['a'])]", [[0, "a"]]),
    ],
)
def test_a_value(job, code, expected):
    assert plain(job.value(code, "x")) == expected


def test_lines_are_those_of_what_states_a_value(job):
    code = (
        "a = 3\nb = a\ndef f(n):\n    return n * 2\nx = f(b)\ny = dict(\n    k=7,\n)\nz = y['k']\n"
    )
    seen = job.interpret(code)
    found = {each.name: [line.line for line in each.value.lines] for each in seen.trace.bindings}
    assert found["b"] == [1]
    assert found["x"] == [1, 4]
    assert found["z"] == [7]


def test_what_the_command_line_says_stays_known_to_come_from_it(job):
    value = job.value("import sys\nx = int(sys.argv[1]) * 2", "x", "21")
    assert (value.data, value.source, value.lines[0].file) == (42, "cli", "<command>")


def test_the_environment_is_the_scripts(job):
    code = "import os\nx = [os.environ['A'], os.environ.get('B', '2'), os.getenv('A'), os.environ.get('C')]"
    assert plain(job.value(code, "x", env={"A": "1"})) == ["1", "2", "1", ...]


@pytest.mark.parametrize(("launchers", "expected"), [((), False), (("torchrun",), True)])
def test_a_launcher_sets_ranks(job, launchers, expected):
    code = "import os\nx = int(os.environ.get('RANK', -1)) != -1"
    assert job.value(code, "x", launchers=launchers).data is expected
    code = "import os\nx = 'RANK' in os.environ"
    assert job.value(code, "x", launchers=launchers).data is expected
    code = "import os\nx = int(os.environ.get('WORLD_SIZE', 1))"
    assert plain(job.value(code, "x", launchers=launchers)) == (... if launchers else 1)


def test_an_unknown_that_is_multiplied_and_divided_away_again_is_no_obstacle(job):
    code = """\
import math
epochs = 3
per_epoch = math.ceil(len(loader) / 4)
steps = epochs * per_epoch
x = math.ceil(steps / per_epoch)
y = math.ceil(steps / math.ceil(len(loader) / 4))
"""
    seen = job.interpret(code)
    assert plain(last(seen, "x")) == 3
    assert plain(last(seen, "y")) == ...


def test_what_a_library_counts_may_be_divided_away_too(job):
    code = "import lib\nn = lib.count()\nsteps = 3 * n\nx = steps // n"
    assert plain(job.value(code, "x")) == 3
