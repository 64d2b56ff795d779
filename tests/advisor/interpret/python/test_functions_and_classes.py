# ruff: noqa: E501 - code of jobs reads better on one line
"""Functions, classes, dataclasses and enums of the job."""

import pytest

from advisor.interpret.python.support import calls_of, last, plain


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(a, b=2, *c, d=4, **e): return [a, b, c, d, e]\nx = f(1)", [1, 2, [], 4, {}]),
        (
            "def f(a, b=2, *c, d=4, **e): return [a, b, c, d, e]\nx = f(1, 3, 5, d=6, z=7)",
            [1, 3, [5], 6, {"z": 7}],
        ),
        ("def f(**k): return k['lr']\nc = {'lr': 3}\nx = f(**c)", 3),
        ("def f(a, b): return a + b\nx = f(*[1, 2])", 3),
        ("def outer(n):\n    def inner(m): return n * m\n    return inner\nx = outer(3)(4)", 12),
        ("f = lambda a, b=2: a * b\nx = f(5)", 10),
        (
            "def twice(g):\n    def w(*a, **k):\n        return g(*a, **k) * 2\n    return w\n@twice\ndef f(n): return n\nx = f(4)",
            8,
        ),
        (
            "R = {}\ndef reg(g):\n    R[g.__name__] = g\n    return g\n@reg\ndef net(): return 9\nx = R['net']()",
            9,
        ),
        (
            "class A:\n    n = 1\n    def __init__(self, m): self.m = m\n    def f(self): return self.n + self.m\nx = A(4).f()",
            5,
        ),
        (
            "class A:\n    def __init__(self, n): self.n = n\nclass B(A):\n    def __init__(self, n):\n        super().__init__(n * 2)\nx = B(4).n",
            8,
        ),
        ("class A:\n    @property\n    def p(self): return 6\nx = A().p", 6),
        (
            "class A:\n    @classmethod\n    def make(cls, n): return cls(n)\n    def __init__(self, n): self.n = n\nx = A.make(3).n",
            3,
        ),
        ("class A:\n    @staticmethod\n    def f(n): return n\nx = A.f(3) + A().f(4)", 7),
        ("class A:\n    def __call__(self, n): return n + 1\nx = A()(1)", 2),
        ("class Cfg(dict):\n    def __getattr__(self, k): return self[k]\nx = Cfg(a=3).a", 3),
        ("from collections import namedtuple\nP = namedtuple('P', 'a b')\nx = P(1, b=2).b", 2),
    ],
)
def test_a_value(job, code, expected):
    assert plain(job.value(code, "x")) == expected


DATACLASSES = """\
from dataclasses import dataclass, field, replace, asdict
from typing import List
@dataclass
class Base:
    lr: float = 1e-3
    betas: List[float] = field(default_factory=lambda: [0.9, 0.99])
@dataclass
class Config(Base):
    steps: int = field(default=10, metadata={"help": "how many"})
    name: str = "run"
    total: int = 0
    def __post_init__(self):
        self.total = self.steps * 2
c = Config(steps=20)
x = asdict(c)
y = replace(c, name="other").name
"""


def test_dataclasses(job):
    seen = job.interpret(DATACLASSES)
    expected = {"lr": 1e-3, "betas": [0.9, 0.99], "steps": 20, "name": "run", "total": 40}
    assert plain(last(seen, "x")) == expected
    assert plain(last(seen, "y")) == "other"
    parts = last(seen, "c").data.parts
    assert [line.line for line in parts["lr"].lines] == [5]
    assert [line.line for line in parts["steps"].lines] == [14]


def test_enums(job):
    code = """\
from enum import Enum
class Mode(str, Enum):
    A = "a"
    B = "b"
x = [Mode.A.value, Mode("b").name, Mode.A == Mode.A, Mode.A == Mode.B, Mode.A == "a"]
"""
    assert plain(job.value(code, "x")) == ["a", "B", True, False, True]


def test_a_librarys_base_is_called_with_the_instance(job):
    code = """\
import torch.nn as nn
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 2)
net = Net(7).to("cuda")
net.parameters()
"""
    seen = job.interpret(code)
    assert [call.callee for call in seen.trace.calls] == [
        "torch.nn.Module",
        "torch.nn.Linear",
        "torch.nn.Module.to",
        "torch.nn.Module.parameters",
    ]
    assert calls_of(seen, "torch.nn.Module")[0].receiver.data.of.name == "Net"
    assert last(seen, "net").data.of.name == "Net"
    assert calls_of(seen, "torch.nn.Linear")[0].target == "fc"
    assert calls_of(seen, "torch.nn.Linear")[0].within == "Net.__init__"


def test_what_a_library_calls_by_itself_is_followed_last(job):
    code = """\
import lightning as L
import torch
class Lit(L.LightningModule):
    def __init__(self, lr=1.0):
        super().__init__()
        self.save_hyperparameters()
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
model = Lit(lr=3e-4)
L.Trainer(max_epochs=3).fit(model)
"""
    seen = job.interpret(code)
    (optimizer,) = calls_of(seen, "torch.optim.AdamW")
    assert optimizer.keywords["lr"].data == 3e-4
    assert optimizer.within == "Lit.configure_optimizers"
    assert not optimizer.certain
    assert calls_of(seen, "lightning.Trainer.fit")[0].positional[0].data.of.name == "Lit"


def test_spawned_functions_run_as_rank_zero(job):
    code = """\
import torch.multiprocessing as mp
import lib
def worker(rank, size, args):
    if rank == 0:
        lib.save(args["lr"])
mp.spawn(worker, nprocs=4, args=(4, {"lr": 2}))
"""
    (save,) = calls_of(job.interpret(code), "lib.save")
    assert (save.positional[0].data, save.certain) == (2, True)


def test_prepared_things_are_what_they_were(job):
    code = """\
from accelerate import Accelerator
import lib
a = Accelerator()
model, opt = lib.Model(), lib.Opt()
model, opt = a.prepare(model, opt)
if a.is_main_process:
    model.save()
"""
    seen = job.interpret(code)
    (save,) = calls_of(seen, "lib.Model.save")
    assert save.certain
    assert calls_of(seen, "accelerate.Accelerator.prepare")


def test_a_generator_has_what_it_yields_and_maybe_more(job):
    assert plain(job.value("def g():\n    yield 1\n    yield 2\nx = g()", "x")) == [1, 2, ...]
