"""Config files as values: what they say, and on which line."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Sequence, Table, Value
from schedmate.advisor.options.configs import read
from schedmate.advisor.sources.files import SourceFile


def config(text: str, name: str = "conf/train.yaml") -> Value:
    value = read(SourceFile(name, text))
    assert value is not None
    return value


def bare(value: Value) -> Any:
    """The data alone, as Python would have it."""
    match value.data:
        case Table() as table:
            return {name: bare(part) for name, part in table.parts.items()}
        case Sequence() as sequence:
            return [bare(item) for item in sequence.items]
        case data:
            return data


def at(value: Value, *path: str | int) -> Value:
    for step in path:
        value = value.data.items[step] if isinstance(step, int) else value.data.parts[step]
    return value


def count(value: Value) -> int:
    match value.data:
        case Table() as table:
            return 1 + sum(count(part) for part in table.parts.values())
        case Sequence() as sequence:
            return 1 + sum(count(item) for item in sequence.items)
    return 1


def test_every_leaf_of_yaml_has_its_file_line_and_text():
    value = config("a: 1\nb:\n  c: [x,\n    y]\n  d: two\n")
    assert bare(value) == {"a": 1, "b": {"c": ["x", "y"], "d": "two"}}
    leaf = at(value, "b", "c", 1)
    assert (leaf.lines[0].file, leaf.lines[0].line, leaf.lines[0].text) == (
        "conf/train.yaml",
        4,
        "y]",
    )
    assert leaf.source == "config"
    assert at(value, "b").lines[0].line == 2


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("1e-4", 1e-4),
        ("1E5", 1e5),
        ("3.e-2", 0.03),
        ("5e-05", 5e-5),
        ("2.0e-5", 2e-5),
        (".5", 0.5),
        ("1_000_000", 1_000_000),
        ("0x10", 16),
        ("017", 15),
        ("1:30:00", 5400),
        ("00:08:00:00", "00:08:00:00"),
        ("on", True),
        ("No", False),
        ("~", None),
        ("", None),
        ("'1e-4'", "1e-4"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("!!float 3", 3.0),
        ("-.inf", -math.inf),
        ("1.2.3", "1.2.3"),
        ("e5", "e5"),
        ("2024-01-01", "2024-01-01"),
        ("0b_", "0b_"),
        ("tRuE", "tRuE"),
    ],
)
def test_a_plain_yaml_word_is_what_a_trainer_takes_it_for(text: str, data: object):
    found = at(config(f"x: {text}"), "x").data
    assert found == data
    assert type(found) is type(data)


@pytest.mark.parametrize(
    "text",
    ["!ENV ${HOME}", "!include other.yaml", "!!python/object/apply:os.system [id]", "!!set {}"],
)
def test_what_a_tag_would_make_is_unknown(text: str):
    value = config(f"x: {text}\ny: 2\n")
    assert at(value, "x").data is UNKNOWN_DATA
    assert at(value, "y").data == 2


def test_merge_keys_count_less_than_what_stands_beside_them():
    value = config(
        "base: &b\n  lr: 0.1\n  bs: 8\nmore: &m {bs: 16, z: 1}\nrun:\n  <<: [*b, *m]\n  lr: 0.2\n"
    )
    assert bare(value)["run"] == {"bs": 8, "z": 1, "lr": 0.2}
    assert at(value, "run", "bs").lines[0].line == 3


def test_an_alias_shows_where_the_value_stands_and_where_it_is_used():
    value = config("lr: &lr 0.1\nother: 1\nwarmup_lr: *lr\n")
    assert [line.line for line in at(value, "warmup_lr").lines] == [1, 3]


def test_of_several_documents_and_of_equal_keys():
    assert bare(config("a: 1\na: 2\n---\na: 3\n")) == {"a": 2}


def test_an_empty_config_is_an_empty_table_and_a_lone_word_is_no_config():
    assert bare(config("# nothing\n")) == {}
    assert read(SourceFile("x.yaml", "just words")) is None
    assert read(SourceFile("x.yaml", "a: [1")) is None
    assert read(SourceFile("notes.txt", "a: 1")) is None


def test_ten_thousand_keys_are_read():
    value = config("\n".join(f"k{i}: {i}" for i in range(10_000)))
    assert at(value, "k9999").lines[0].line == 10_000
    assert value.data.complete


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("big.yaml", "a: 1\nb: [" + "1," * 100_000 + "]"),
        ("big.json", '{"a": 1, "b": [' + "1," * 100_000 + "1]}"),
        ("big.toml", "a = 1\nb = [" + "1," * 100_000 + "]"),
    ],
)
def test_what_is_beyond_the_budget_is_left_out_and_said_to_be(name: str, text: str):
    value = config(text, name)
    assert at(value, "a").data == 1
    assert not at(value, "b").data.complete
    assert count(value) < 200_000


def test_a_billion_laughs_cost_nothing():
    levels = ["a0: &a0 [ha, ha]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    value = config("\n".join([*levels, "lr: 0.1"]))
    assert count(value) < 100_000
    assert at(value, "lr").data == 0.1


def test_an_alias_within_itself_is_unknown():
    value = config("a: &a\n  - 1\n  - *a\nb: &b\n  <<: *b\n  c: 2\n")
    assert at(value, "a", 1).data is UNKNOWN_DATA
    assert at(value, "b", "c").data == 2
    assert not at(value, "b").data.complete


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.yaml", "[" * 100_000),
        ("x.yaml", "{a: " * 100_000),
        ("x.yaml", "\n".join(" " * i + "a:" for i in range(1000))),
        ("x.json", "[" * 100_000),
        ("x.json", '{"a":' * 100_000),
        ("x.json", "/*" * 100_000),
        ("x.json", '{"a": ' + "9" * 100_000 + "}"),
        ("x.toml", "a = " + "[" * 100_000),
        ("x.toml", ".".join("a" * 50_000) + " = 1"),
        ("x.toml", "[" + ".".join("a" * 50_000) + "]\n" + "b = 1\n" * 1000),
        ("x.toml", "a = 1\n" * 100_000),
        ("x.ini", "[a\n" * 10),
    ],
)
def test_nesting_without_end_is_no_config(name: str, text: str):
    assert read(SourceFile(name, text)) is None


def test_json_with_the_comments_and_commas_that_editors_tolerate():
    text = '{\n // rate\n "lr": 1e-4, /* two\n lines */ "n": [1,\n 2,],\n "s": "a//b\\n",\n}\n'
    value = config(text, "ds.json")
    assert bare(value) == {"lr": 1e-4, "n": [1, 2], "s": "a//b\n"}
    assert at(value, "lr").lines[0].line == 3
    assert at(value, "n", 1).lines[0].line == 5
    assert at(value, "s").lines[0].line == 6


@pytest.mark.parametrize("text", ["", "{", '{"a" 1}', '{"a": 1} x', "{'a': 1}", '{"a": tru}', "3"])
def test_what_is_no_json(text: str):
    assert read(SourceFile("x.json", text)) is None


def test_toml_with_the_lines_of_its_keys():
    text = (
        'title = """\n[no.header]\nx = 1\n"""\n[train]\nsteps = 1_000\nmodel.name = "a"\n'
        "list = [\n  1,\n  2,\n]\nafter = 2.5\n[[runs]]\nlr = 1e-4\n[[runs]]\nlr = 2e-4\n"
        '[runs.opt]\n"a b" = {c = 1}\nday = 2024-01-01\n'
    )
    value = config(text, "train.toml")
    assert bare(value)["train"] == {
        "steps": 1000,
        "model": {"name": "a"},
        "list": [1, 2],
        "after": 2.5,
    }
    assert at(value, "title").lines[0].line == 1
    assert at(value, "train", "steps").lines[0].line == 6
    assert at(value, "train", "model", "name").lines[0].line == 7
    assert at(value, "train", "after").lines[0].line == 12
    assert at(value, "runs", 1, "lr").lines[0].line == 16
    assert at(value, "runs", 1, "opt", "a b", "c").lines[0].line == 18
    assert at(value, "runs", 1, "opt", "day").data == "2024-01-01"


def test_ini_sections_hold_words():
    value = config("; c\n[train]\nLR = 0.1\nname: x=y\nflag\n", "x.cfg")
    assert bare(value) == {"train": {"lr": "0.1", "name": "x=y", "flag": None}}
    assert at(value, "train", "lr").lines[0].line == 3
    assert read(SourceFile("x.ini", "lr = 1")) is None


def test_secrets_in_a_config_are_not_shown():
    value = config("hf_token: hf_abcdefghijklmnopqrstuvwxyzABCDEFGH\n")
    assert "hf_abcdefghijklmnop" not in at(value, "hf_token").lines[0].text


_WORDS = st.sampled_from(
    [
        *":[]{},=#?|>.1e \n\t\r\\'\"\x85\ud800\x00é",
        "- ",
        "&a ",
        "*a",
        "<<",
        "!x ",
        "//",
        "/*",
        "---",
    ]
)


@given(
    st.sampled_from(["a.yaml", "a.json", "a.toml", "a.ini"]),
    st.lists(_WORDS, max_size=40).map("".join) | st.text(max_size=60),
)
@example("a.yaml", "? [a]\n: b\n? {c: d}\n: e\n*x : 1\n")
@example("a.yaml", "<<: 1\na: 2\n")
@example("a.yaml", "\ud800: 1")
def test_nothing_makes_reading_raise(name: str, text: str):
    value = read(SourceFile(name, text))
    assert value is None or isinstance(value.data, (Table, Sequence))
