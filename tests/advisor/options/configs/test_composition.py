"""Interpolation, merging, inheritance, dotted names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.options.configs.job_files import JobFiles, bare
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs import (
    assign,
    inherit,
    merge,
    parse_value,
    read,
    remove,
    resolve,
    select,
)
from schedmate.advisor.sources.files import SourceFile, evidence


def config(text: str) -> Value:
    value = read(SourceFile("c.yaml", text))
    assert value is not None
    return value


ENVIRONMENT = {
    "DATA": Word("/data/c4", (evidence("run.sh", 2, "export DATA=/data/c4"),)),
    "SECRET": Word("$X", (), known=False),
}


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("${b.c}", 3),
        ("${b}", {"c": 3, "d": 3, "e": [1, 3]}),
        ("x-${b.c}-${n}", "x-3-null"),
        ("${b.e.0}", 1),
        ("${b.e[1]}", 3),
        ("${pick.${which}}", "yes"),
        ("${oc.env:DATA}/train", "/data/c4/train"),
        ("${oc.env:UNSET,7}", "7"),
        ("${oc.env:UNSET,'a, b'}", "a, b"),
        ("${oc.env:UNSET,null}", None),
        ("${oc.env:UNSET}", "?"),
        ("${oc.env:HOME,/root}", "?"),
        ("${oc.env:SLURM_JOB_ID,0}", "?"),
        ("${oc.env:SECRET,x}", "?"),
        ("${oc.select:b.zzz,5}", 5),
        ("${oc.select:b.c,5}", 3),
        ("${hydra:runtime.cwd}", "?"),
        ("${now:%Y}", "?"),
        ("a_${now:%Y}", "?"),
        ("${gone}", "?"),
        ("???", "?"),
        ("${x", "?"),
        ("${x}", "?"),
        ("${loop1}", "?"),
        ("$x {y}", "$x {y}"),
    ],
)
def test_interpolations(text: str, data: object):
    whole = config(
        "b: {c: 3, d: '${.c}', e: [1, '${..c}']}\nn: null\npick: {q: 'yes'}\nwhich: q\n"
        "loop1: ${loop2}\nloop2: ${loop1}\n"
    )
    whole = assign(whole, "x", Value(text, (evidence("c.yaml", 9, text),), "config"))
    value = select(resolve(whole, ENVIRONMENT), "x")
    assert value is not None
    assert bare(value) == data


def test_the_line_that_states_the_value_comes_first():
    value = select(resolve(config("a: 1\nb: ${a}\nd: ${oc.env:DATA}\n"), ENVIRONMENT), "b")
    assert value is not None
    assert [line.line for line in value.lines] == [1, 2]
    value = select(resolve(config("d: ${oc.env:DATA}\n"), ENVIRONMENT), "d")
    assert value is not None
    assert (value.lines[0].file, value.source) == ("run.sh", "script")


@pytest.mark.slow
def test_interpolations_that_double_end():
    text = "\n".join(f"a{i}: ['${{a{i + 1}}}', '${{a{i + 1}}}']" for i in range(40))
    assert isinstance(resolve(config(text + "\na40: x\n"), {}).data, Table)
    text = "\n".join(f"a{i}: ${{a{i + 1}}}${{a{i + 1}}}" for i in range(40))
    assert isinstance(resolve(config(text + "\na40: x\n"), {}).data, Table)


def test_merge_replaces_leaves_and_lists_and_what_asks_for_it():
    base = config("a: {x: 1, y: 2}\nl: [1, 2]\nm: {t: A, p: 1}\n")
    over = config("a: {y: 3}\nl: [9]\nm: {_delete_: true, t: B}\n")
    assert bare(merge(base, over)) == {"a": {"x": 1, "y": 3}, "l": [9], "m": {"t": "B"}}
    assert bare(base)["a"] == {"x": 1, "y": 2}


def test_dotted_names():
    value = config("a: {b: [{c: 1}, {c: 2}]}\n")
    found = select(value, "a.b[1].c")
    assert found is not None
    assert found.data == 2
    assert select(value, "a.b.7.c") is None
    assert select(value, "a.x.y") is None
    assert bare(assign(value, "a.b.0.c", Value(5)))["a"]["b"][0] == {"c": 5}
    assert bare(assign(value, "x.y", Value(5)))["x"] == {"y": 5}
    assert bare(remove(value, "a.b")) == {"a": {}}
    assert bare(remove(value, "q.r")) == bare(value)


def test_a_part_of_what_is_incomplete_is_not_said_to_be_missing():
    value = Value(Table({"a": Value(1)}, complete=False))
    found = select(value, "b.c")
    assert found is not None
    assert not found.known


def test_inherited_configs():
    files = {
        "configs/_base_/schedule.yaml": "lr: 0.1\nmodel: {type: A, depth: 50}\n",
        "configs/_base_/runtime.json": '{"_base_": "schedule.yaml", "log": 10}',
        "configs/x/mine.yaml": "_base_: [../_base_/runtime.json]\nmodel: {depth: 101}\n",
        "configs/d2.yaml": "_BASE_: x/mine.yaml\nlr: 0.2\n",
    }
    context = JobFiles(files)
    value = inherit(config(files["configs/d2.yaml"]), "configs/d2.yaml", context)
    assert bare(value) == {"lr": 0.2, "model": {"type": "A", "depth": 101}, "log": 10}
    depth = select(value, "model.depth")
    assert depth is not None
    assert depth.lines[0].file == "configs/x/mine.yaml"


def test_bases_in_circles_and_bases_that_are_not_there():
    files = {
        "a.yaml": "_base_: [b.yaml, b.yaml]\nx: 1\n",
        "b.yaml": "_base_: [a.yaml, b.yaml]\ny: 2\n",
    }
    context = JobFiles(files)
    assert bare(inherit(config(files["a.yaml"]), "a.yaml", context)) == {"x": 1, "y": 2}
    assert len(context.asked) < 100
    value = inherit(
        config("_base_: [gone.yaml, /etc/passwd, 'https://x/y.yaml', 3]\nz: 1\n"), "a", context
    )
    assert bare(value) == {"z": 1}
    assert not value.data.complete
    assert "/etc/passwd" not in context.asked


@pytest.mark.parametrize(
    ("text", "data"),
    [("3e-4", 3e-4), ("[1, a]", [1, "a"]), ("{a: 1}", {"a": 1}), ("a: b", {"a": "b"}), ("x", "x"),
     ("", None), ("true", True), ("[", "["), ("'1'", "1")],
)  # fmt: skip
def test_values_of_a_command_line(text: str, data: object):
    word = Word(f"key={text}", (evidence("run.sh", 4, "…"),))
    value = parse_value(word, text)
    assert bare(value) == data
    assert value.source == "script"
    assert value.lines == word.evidence


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from("abc"),
        st.text(alphabet="${}ab.:,'\\", max_size=16) | st.sampled_from(["${a}", "${.b}", "${b.c}"]),
    )
)
def test_no_interpolation_makes_it_raise(settings_: dict[str, str]):
    table = Table({name: Value(text) for name, text in settings_.items()})
    resolve(Value(Table({**table.parts, "t": Value(table)})), {})
