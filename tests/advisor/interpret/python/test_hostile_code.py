# ruff: noqa: E501 - code of jobs reads better on one line
"""Whatever the code, there is an answer, and nothing of it costs more than the budget."""

import ast
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.interpret.python.support import last, plain
from schedmate.advisor.interpret.python.budget import Limits

HOSTILE = {
    "recursion": "def f(x):\n return f(x+1) + f(x-1)\nf(1)",
    "endless": "while True:\n x = 1\n while True:\n  pass",
    "numbers": "x = [9**9**9**9, 2**100000, 1 << 10**9, 'a' * 10**9, [0] * 10**9]",
    "formats": "x = [f'{1:99999999}', '%999999999d' % 1, '{:>999999999}'.format(1), '%(a)s' % {}]",
    "long": "x = [" + "1," * 50_000 + "]\nfor i in x:\n print(i)",
    "brackets": "x = " + "(" * 80 + "1" + ")" * 80,
    "attributes": "x = a" + ".b" * 2000,
    "nested": "".join(" " * i + "if u:\n" for i in range(60)) + " " * 60 + "x = 1",
    "itself": "x = []\nx.append(x)\ny = {}\ny['y'] = y\nimport copy\ncopy.deepcopy(y)\nx == x",
    "doubling": "x = [1]\n" + "x = [x, x]\n" * 60 + "import copy\ny = copy.deepcopy(x)\nx == y",
    "text": "x = 'a'\n" + "x = x + x\n" * 60,
    "properties": "class A:\n @property\n def x(self): return self.x\nA().x",
    "getattr": "class A:\n def __getattr__(self, n): return getattr(self, n + 'x')\nA().foo",
    "bases": "class A(A): pass\nclass A(A): pass\nA().x.y.z()",
    "lambda": "(lambda f: f(f))(lambda f: f(f))",
    "exec": "exec(open('train.py').read())",
    "comprehension": "[a for a in range(60) for b in range(60) for c in range(60) for d in range(60)]",
    "unrolling": "for a in 'ab' * 30:\n for b in 'ab' * 30:\n  for c in 'ab' * 30:\n   setattr(x, c, c)",
    "errors": "1 // 0\n1 % 0\n0 ** -1\n[].pop()\n{}['a']\n'a'[5]\nmin([])\nint('a')\nfloat('x')\nrange(0, 1, 0)\n[1][::0]",
    "infinite": "int(float('inf'))\nround(float('nan'))\nimport math\nmath.exp(1e9)\nx = 1e308 * 10",
    "paths": "open('\\0').read()\nimport yaml\nyaml.safe_load(open('\\0'))\nexec(open('/etc/passwd').read())",
    "star": "def g(*a, **k): return g(*a, *a, **k)\ng(1)\nf(*f, **f)",
    "eval": "x = 'eval(x)'\neval(x)",
}


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_code_is_answered(job, code):
    seen = job.interpret(f"{code}\nafter = 5\n")
    assert seen.problems or plain(last(seen, "after")) == 5


def test_the_budget_ends_it(job):
    code = "\n".join(f"x{n} = {n}" for n in range(500))
    seen = job.interpret(code, limits=Limits(steps=100))
    assert seen.trace.exhausted
    assert 0 < len(seen.trace.bindings) < 100


def test_a_file_that_never_ends_in_files(job):
    for n in range(30):
        job.write(**{f"m{n}": f"from m{n + 1} import v\n"})
    seen = job.interpret("from m0 import v\nx = v", limits=Limits(files=10))
    assert seen.trace.exhausted
    assert len(seen.modules) == 10


PIECES = [
    *("x = 1", "y = x + z", "def f(a, *b, c=1, **d):\n    return a\n", "f(*x, **y)", "del x"),
    *("class A(B):\n    z: int = 3\n    def m(self): return super().m()\n", "A().m().n[0](1)"),
    *("for i, j in x:\n    y[i] = j\n    if i > 3: break\n", "while x < 5:\n    x += 1\n"),
    *(
        "with open(x) as f, g() as h: yaml.load(f)",
        "try:\n    int('a')\nexcept ValueError as e: raise\n",
    ),
    *(
        "import os, a.b as c",
        "from . import q",
        "from x import *",
        "lambda: (yield)",
        "x = y = [x]",
    ),
    *("[a for a in x if a]", "{**x, 'a': y}", "f'{x!r:>{y}}'", "x if y else z", "(x := y)"),
    *("global x", "nonlocal y", "assert x, y", "x[1:2, ::3] = 4", "a.b.c = d", "setattr(x, y, z)"),
    *("globals()[x] = y", "vars(x).update(y)", "exec(x)", "type('T', (A,), {})", "super()"),
    *("match x:\n    case [1, *r]: y = r\n    case {'a': b}: pass\n    case A(z=1): pass\n",),
    *(
        "@property\n@x.y(1)\ndef g(self): return g\n",
        "async def h():\n    await x\n",
        "x.append(x)",
    ),
    *("isinstance(x, (int, A))", "sys.path.insert(0, x)", "sys.exit()", "x = x.get('a', {}).b"),
    *("dict(x, **y)", "list(zip(x, y))", "sorted(x)", "sum(x)", "max(x, default=1)", "x @ y"),
]


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=12), st.randoms(use_true_random=False)
)
def test_any_code_is_answered(job, spans, chance):
    """Random statements, with expressions put where others were."""
    tree = ast.parse("\n".join(spans))
    expressions = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    for node in ast.walk(tree):
        for name, part in ast.iter_fields(node):
            loaded = isinstance(part, ast.expr) and not isinstance(
                getattr(part, "ctx", None), ast.Store
            )
            if loaded and chance.random() < 0.1:
                setattr(node, name, chance.choice(expressions))
    try:
        code = ast.unparse(ast.fix_missing_locations(tree))
    except (RecursionError, ValueError, AttributeError):
        return
    job.interpret(code[:5000] or "pass", limits=Limits(steps=3000, afterwards=1000))


def test_random_bytes_are_no_code(job):
    chance = random.Random(5)
    for _ in range(20):
        text = "".join(chr(chance.randrange(1, 0x250)) for _ in range(200))
        assert job.interpret(text).trace is not None


def test_what_is_parsed_counts_so_that_every_machine_reads_as_much(job):
    for name in ("a", "b", "c"):
        job.put(f"{name}.py", "x = 1\n" + f"# {'-' * 1000}\n" * 40)
    code = "import a, b, c\nfor m in (a, b, c):\n    m.x\nlast = a.x, b.x, c.x\n"
    assert not job.interpret(code, limits=Limits(steps=10_000)).trace.exhausted
    assert job.interpret(code, limits=Limits(steps=4_000)).trace.exhausted
