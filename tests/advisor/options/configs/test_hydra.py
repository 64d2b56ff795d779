"""Hydra's composition, on configs of our own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.options.configs.job_files import JobFiles, bare, words
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs import compose, read_arguments, select
from schedmate.advisor.sources.files import evidence

FILES = {
    "conf/config.yaml": (
        "defaults:\n  - _self_\n  - model: small\n  - optim/adam@opt\n  - optional local: mine\n"
        "  - experiment: null\n  - override hydra/launcher: slurm\n"
        "lr: 0.1\nsteps: 10\nname: ${model.name}-${lr}\nhydra:\n  run: {dir: x}\n"
    ),
    "conf/model/small.yaml": "name: small\nlayers: 2\n",
    "conf/model/large.yaml": "defaults:\n  - small\n  - parts: deep\nlayers: 24\n",
    "conf/model/parts/deep.yaml": "depth: 9\nwide: ${..layers}\n",
    "conf/model/parts/flat.yaml": "depth: 1\n",
    "conf/optim/adam.yaml": "type: adam\nlr: ${lr}\n",
    "conf/experiment/big.yaml": (
        "# A comment first.\n# @package _global_\n\n"
        "defaults:\n  - override /model: large\nsteps: 500\nopt:\n  type: adamw\n"
    ),
}


def composed(command: str = "", files: dict[str, str] | None = None, **more) -> Value:
    given = read_arguments(words(command))
    context = JobFiles(FILES if files is None else files)
    name = given.config_name.text if given.config_name else "config"
    return compose(context, "conf", name, given.overrides, **more)


def test_a_primary_config_with_its_defaults():
    value = composed()
    assert bare(value) == {
        "lr": 0.1,
        "steps": 10,
        "name": "small-0.1",
        "model": {"name": "small", "layers": 2},
        "opt": {"type": "adam", "lr": 0.1},
    }
    assert value.data.complete
    layers = select(value, "model.layers")
    assert layers is not None
    assert (layers.lines[0].file, layers.lines[0].line) == ("conf/model/small.yaml", 2)
    rate = select(value, "opt.lr")
    assert rate is not None
    assert [(line.file, line.line) for line in rate.lines] == [
        ("conf/config.yaml", 8),
        ("conf/optim/adam.yaml", 2),
    ]


def test_an_experiment_overrides_a_choice_that_stands_before_it():
    value = bare(composed("experiment=big lr=3e-4"))
    assert value["model"] == {"name": "small", "layers": 24, "parts": {"depth": 9, "wide": 24}}
    assert value["steps"] == 500
    assert value["opt"] == {"type": "adamw", "lr": 3e-4}


def test_the_command_line_has_the_last_word_on_choices():
    value = bare(composed("experiment=big model=small"))
    assert value["model"]["layers"] == 2
    value = bare(composed("model=large model/parts=flat"))
    assert value["model"]["parts"] == {"depth": 1}


@pytest.mark.parametrize(
    ("override", "path", "data"),
    [
        ("steps=3", "steps", 3),
        ("model.layers=1_0", "model.layers", 10),
        ("+new.deep=[1,[a,'b,c']]", "new.deep", [1, ["a", "b,c"]]),
        ("++model.extra={a:1,b:{c:x}}", "model.extra", {"a": 1, "b": {"c": "x"}}),
        ("model={layers:7}", "model", {"name": "small", "layers": 7}),
        ("name='a b'", "name", "a b"),
        ("name=", "name", ""),
        ("name=null", "name", None),
        ("name=on", "name", "on"),
        ("name=a/b-${steps}.ckpt", "name", "a/b-10.ckpt"),
        ("name=1:30", "name", "1:30"),
        ("lr=1,2", "lr", "?"),
        ("lr=range(1,5)", "lr", "?"),
        ("lr=True", "lr", True),
        ("lr=-1e-3", "lr", -1e-3),
        ("name=x\\,y", "name", "x,y"),
    ],
)
def test_overrides_of_values(override: str, path: str, data: object):
    given = (Word(override, (evidence("<command>", 1, override),)),)
    value = select(compose(JobFiles(FILES), "conf", "config", given), path)
    assert value is not None
    assert bare(value) == data


def test_what_was_overridden_is_shown_with_the_word_that_did():
    value = select(composed("steps=3"), "steps")
    assert value is not None
    assert (value.source, value.lines[0].file) == ("cli", "<command>")


def test_a_variable_that_nobody_knows_makes_the_setting_unknown():
    given = (Word("steps=$N", (evidence("run.sh", 3, "steps=$N"),), known=False),)
    value = compose(JobFiles(FILES), "conf", "config", given)
    assert bare(value)["steps"] == "?"


def test_deletions_and_additions():
    assert "steps" not in bare(composed("~steps"))
    assert "model" not in bare(composed("~model"))
    assert bare(composed("+experiment=big"))["steps"] == 500
    assert bare(composed("+optim@second=adam"))["second"]["type"] == "adam"


def test_arguments_of_hydra_itself():
    given = read_arguments(
        words("--config-name other -cp=a/b --config-dir x -m lr=1 +a=2 --cfg job")
    )
    assert [word.text for word in given.overrides[:2]] == ["lr=1", "+a=2"]
    assert given.config_name is not None
    assert given.config_name.text == "other"
    assert given.config_path is not None
    assert given.config_path.text == "a/b"
    assert given.config_dir is not None
    assert given.config_dir.text == "x"


def test_a_config_overrides_its_defaults_unless_it_says_otherwise():
    files = {"conf/config.yaml": "defaults: [base]\na: 1\n", "conf/base.yaml": "a: 2\nb: 3\n"}
    assert bare(composed(files=files)) == {"a": 1, "b": 3}
    files["conf/config.yaml"] = "defaults: [_self_, base]\na: 1\n"
    assert bare(composed(files=files)) == {"a": 2, "b": 3}


def test_several_options_of_one_group():
    files = {
        "conf/config.yaml": "defaults:\n  - callbacks: [a, b]\n",
        "conf/callbacks/a.yaml": "a: 1\n",
        "conf/callbacks/b.yaml": "b: 2\n",
        "conf/callbacks/c.yaml": "c: 3\n",
    }
    assert bare(composed(files=files)) == {"callbacks": {"a": 1, "b": 2}}
    assert bare(composed("callbacks=[c,a]", files)) == {"callbacks": {"a": 1, "c": 3}}


def test_packages_as_hydra_places_them():
    files = {
        "conf/config.yaml": "defaults:\n  - server/apache@admin\n  - /db@_global_.x: my\n",
        "conf/server/apache.yaml": "defaults:\n  - db@backup: my\n  - /db@_here_: my\nname: A\n",
        "conf/server/db/my.yaml": "kind: inner\n",
        "conf/db/my.yaml": "kind: outer\n",
    }
    assert bare(composed(files=files)) == {
        "admin": {"backup": {"kind": "inner"}, "kind": "outer", "name": "A"},
        "x": {"kind": "outer"},
    }


@pytest.mark.parametrize("order", [1, -1])
def test_an_option_may_depend_on_another_choice(order: int):
    entries = ["  - sched: ${model}_sched\n", "  - model: m\n"][::order]
    files = {
        "conf/config.yaml": "defaults:\n" + "".join(entries),
        "conf/model/m.yaml": "a: 1\n",
        "conf/sched/m_sched.yaml": "b: 2\n",
    }
    assert bare(composed(files=files)) == {"model": {"a": 1}, "sched": {"b": 2}}


@pytest.mark.parametrize("package", ["_group_", "_global_"])
def test_the_primary_config_may_have_a_directive(package: str):
    files = {"conf/config.yaml": f"# @package {package}\ndefaults: [{{m: a}}]\nx: 1\n"}
    files["conf/m/a.yaml"] = f"# @package {package}\ny: 2\n"
    below = {"m": {"y": 2}} if package == "_group_" else {"y": 2}
    assert bare(composed(files=files)) == {"x": 1, **below}


def test_nodes_of_a_config_store_stand_in_for_files():
    node = Value(Table({"lr": Value(0.5)}))
    files = {"conf/config.yaml": "defaults:\n  - opt: sgd\n  - opt@other: sgd\n"}
    value = composed("opt.lr=2", files, store={"opt/sgd": node})
    assert bare(value) == {"opt": {"lr": 2}, "other": {"lr": 0.5}}


def test_a_config_that_is_nowhere_leaves_the_result_incomplete():
    value = composed(files={"conf/config.yaml": "defaults:\n  - model: gone\na: 1\n"})
    assert bare(value) == {"a": 1, "model": {}}
    model = select(value, "model")
    assert model is not None
    assert not model.data.complete
    assert not composed(files={}).data.complete


def test_searchpath_and_config_dir_are_searched_too():
    files = {
        "conf/config.yaml": "defaults: [{m: a}, {m@n: b}]\nhydra: {searchpath: ['file://more']}\n",
        "more/m/a.yaml": "x: 1\n",
        "extra/m/b.yaml": "y: 2\n",
    }
    assert bare(composed(files=files, more_dirs=["extra"])) == {"m": {"x": 1}, "n": {"y": 2}}


def test_no_path_leads_out_of_the_directory():
    files = {"conf/config.yaml": "defaults: [../../etc/passwd, {m: ../../x}, /../../y]\n"}
    context = JobFiles(files)
    compose(context, "conf", "config", words("m=../../../etc/shadow ../z=1"))
    assert all(path.startswith("conf/") and ".." not in path for path in context.asked)


def test_a_group_beside_that_of_the_config():
    files = {
        "conf/config.yaml": "defaults: [{actor: a}]\n",
        "conf/actor/a.yaml": "defaults:\n  - ../optim@optim: adam\n",
        "conf/optim/adam.yaml": "lr: 1\n",
    }
    assert bare(composed(files=files)) == {"actor": {"optim": {"lr": 1}}}


def test_lists_that_name_each_other_end():
    files = {
        "conf/config.yaml": "defaults: [a, a]\nz: 1\n",
        "conf/a.yaml": "defaults: [b, b, _self_]\nx: 1\n",
        "conf/b.yaml": "defaults: [a, a]\ny: 2\n",
    }
    assert bare(composed(files=files)) == {"x": 1, "y": 2, "z": 1}


@pytest.mark.parametrize("text", ["/=", "//=3"])
def test_an_override_of_nothing_changes_nothing(text):
    plain = compose(JobFiles(FILES), "conf", "config", [])
    over = compose(JobFiles(FILES), "conf", "config", [Word(text)])
    assert over.data.parts.keys() == plain.data.parts.keys()


@settings(deadline=None)
@given(
    st.lists(
        st.text(alphabet="ab=+~@/.[]{}'\"\\,:$ ()1e-", max_size=20)
        | st.sampled_from(["model=large", "model@=x", "~model", "+model=x", "a.b.c={", "=", "~"]),
        max_size=5,
    )
)
def test_no_command_line_makes_it_raise(given: list[str]):
    value = compose(JobFiles(FILES), "conf", "config", [Word(text) for text in given])
    assert isinstance(value.data, Table)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["- _self_", "- a", "- b: a", "- override b: c", "- optional a@x: b", "- a: [a, b]",
             "- /a@_group_: a", "- a@_here_: b", "- 3", "- [a]", "- null", "- ${b}: x", "- a: ${a}"]
        ),
        max_size=8,
    )
)  # fmt: skip
def test_no_defaults_list_makes_it_raise(entries: list[str]):
    text = "\n".join(["defaults:", *entries, "z: 1"])
    files = {f"conf/{name}.yaml": text for name in ("config", "a", "b", "a/a", "a/b", "b/a")}
    assert isinstance(composed("b=a", files).data, Table)
