# ruff: noqa: E501 - code of jobs reads better on one line
"""What models and wrappers of libraries see and can do."""

from advisor.interpret.python.support import calls_of, last, plain
from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import Table, Value


def test_a_model_says_what_a_call_returns_and_states_options(job):
    def parse(call, context):
        value = Value(int(context.arguments[1].text), context.arguments[1].evidence, "cli")
        context.state(Option(name="lr", value=value))
        return Value(Table({"lr": value}, "ns"))

    seen = job.interpret(
        "import lib\nx = lib.parse().lr * 2", "--lr", "4", models={"lib.parse": parse}
    )
    assert plain(last(seen, "x")) == 8
    assert [(each.name, each.value.data) for each in seen.trace.options] == [("lr", 4)]


def test_a_wrapper_calls_the_function_with_what_it_knows(job):
    def main(function, decorator, context):
        assert decorator.data.call.keywords["config"].data == "c"
        return context.invoke(Value(function), [Value(Table({"n": Value(3)}, "cfg"))])

    code = "import lib\n@lib.main(config='c')\ndef run(cfg):\n    return cfg.n + 1\nx = run()"
    assert plain(job.value(code, "x", wrappers={"lib.main": main})) == 4


def test_what_a_model_starts_stands_where_it_was_asked(job):
    def build(call, context):
        return context.invoke(call.positional[0], [Value(5)])

    code = "import lib, other\ndef f(n):\n    other.g(n)\n\nlib.build(f)\nlib.build(other.h)\n"
    seen = job.interpret(code, models={"lib.build": build})
    assert calls_of(seen, "other.g")[0].line.line == 3
    assert calls_of(seen, "other.h")[0].line.line == 6


def test_signatures_and_members(job):
    seen = {}

    def ask(call, context):
        function, cls = (value.data for value in call.positional)
        seen["signature"] = [
            (name, default and default.data, annotation and annotation.data.name)
            for name, default, annotation in context.signature(function)
        ]
        seen["members"] = sorted(context.members(cls))

    code = "import lib\ndef f(a, b: int = 2, *, c='x'): pass\nclass A:\n    p = 1\nclass B(A):\n    q = 2\nlib.ask(f, B)"
    job.interpret(code, models={"lib.ask": ask})
    assert seen == {
        "signature": [("a", None, None), ("b", 2, "int"), ("c", "x", None)],
        "members": ["p", "q"],
    }


def test_configs_that_the_code_reads(job):
    job.put("conf/a.yaml", "lr: 0.5\nmodel:\n  depth: 7\n").put("b.json", '{"epochs": 9}')
    code = """\
import yaml, json
from pathlib import Path
with open("conf/a.yaml") as f:
    cfg = yaml.safe_load(f)
more = json.loads(Path("b.json").read_text())
x = [cfg["lr"], cfg["model"]["depth"], more["epochs"]]
"""
    seen = job.interpret(code)
    values = last(seen, "x").data.items
    assert [value.data for value in values] == [0.5, 7, 9]
    assert [(value.lines[0].file, value.lines[0].line) for value in values] == [
        ("conf/a.yaml", 1),
        ("conf/a.yaml", 3),
        ("b.json", 1),
    ]
    assert {value.source for value in values} == {"config"}
    assert [each.name for each in seen.configs] == ["conf/a.yaml", "b.json"]


def test_settings_in_python(job):
    def load(call, context):
        return context.read_python_config(call.positional[0].data)

    job.put("conf/base.py", "import os\nlr = 1e-3\noptim = dict(type='SGD', lr=lr * 2)\n")
    value = job.value(
        "import lib\nx = lib.load('conf/base.py').optim", "x", models={"lib.load": load}
    )
    assert plain(value) == {"type": "SGD", "lr": 2e-3}
    assert value.data.parts["type"].source == "config"


def test_files_of_a_directory(job):
    listed = []

    def ask(call, context):
        listed.extend((context.list_files("conf"), context.list_files("../..")))

    job.put("conf/a/b.yaml", "").put("conf/c.yaml", "")
    job.interpret("import lib\nlib.ask()", models={"lib.ask": ask})
    assert [sorted(listed[0]), listed[1]] == [["a/b.yaml", "c.yaml"], []]
