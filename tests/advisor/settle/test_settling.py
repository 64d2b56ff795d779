"""Claims about one field and between fields: which of them holds."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.advisor.interpret.python.interpretation import interpret
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Dotted, KnownPrefix, Value
from schedmate.advisor.interpret.shell import command_words
from schedmate.advisor.launch.run import Entry, PythonRun
from schedmate.advisor.settle.claim import Claim, Kind
from schedmate.advisor.settle.naming import named_claims
from schedmate.advisor.settle.settling import RULES, settle
from schedmate.advisor.sources.files import Files
from schedmate.model import Evidence, Source

KINDS = {"library": Kind.LIBRARY, "option": Kind.OPTION, "name": Kind.NAME}


def claim(
    data: Any,
    kind: str = "library",
    *,
    field: str = "batch_size",
    name: str = "",
    source: Source = "code",
    reached: Reached = Reached.EXECUTED,
    text: str = "",
    **about: Any,
) -> Claim:
    lines = (Evidence("train.py", 3, text),)
    value = data if isinstance(data, Value) else Value(data, lines, source)
    return Claim(field=field, value=value, kind=KINDS[kind], name=name, reached=reached, **about)


def settled(*claims: Claim) -> dict[str, Any]:
    """The same in whatever order they are made."""
    found = [
        {field: each.value for field, each in settle(order).items()}
        for order in permutations(claims)
    ]
    assert all(each == found[0] for each in found)
    return found[0]


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        pytest.param(claim(1), claim(2, "option", source="cli"), id="library-over-option"),
        pytest.param(claim(1, "option"), claim(2, "name"), id="option-over-name"),
        pytest.param(
            claim(1, "option", source="cli"),
            claim(2, "option", source="config"),
            id="command-line-over-config",
        ),
        pytest.param(claim(1, "name", source="config"), claim(2, "name"), id="config-over-code"),
        pytest.param(claim(1), claim(2, depth=1), id="near-over-far"),
        pytest.param(claim(1), claim(2, confidence=0.8), id="confident-over-less-so"),
        pytest.param(
            claim(1, "option", alias=0), claim(2, "option", alias=3), id="good-name-over-poor"
        ),
        pytest.param(
            claim(1, "name"),
            claim(2, reached=Reached.UNDECIDED),
            id="what-runs-over-a-branch-that-may-not",
        ),
        pytest.param(
            claim(1, "name", confidence=0.3, depth=4),
            claim(2, reached=Reached.UNCALLED, confidence=1.0),
            id="what-runs-over-a-function-that-is-not-called",
        ),
        pytest.param(
            claim(1, "name", reached=Reached.UNDECIDED, depth=4),
            claim(2, reached=Reached.UNCALLED, confidence=1.0),
            id="a-branch-over-a-function-that-is-not-called",
        ),
        pytest.param(
            claim(1, "name", reached=Reached.UNDECIDED),
            claim(2, reached=Reached.OVERWRITTEN),
            id="anything-over-what-is-overwritten",
        ),
        pytest.param(
            claim(1, "option", reached=Reached.UNCALLED, confidence=0.3, depth=4),
            claim(2, reached=Reached.ANOTHER_PROGRAM, confidence=1.0),
            id="anything-over-another-program",
        ),
    ],
)
def test_ranking(winner: Claim, loser: Claim):
    assert settled(winner, loser) == {"batch_size": 1}


@pytest.mark.parametrize("reached", [Reached.OVERWRITTEN, Reached.ANOTHER_PROGRAM])
def test_what_is_overwritten_or_of_another_program_does_not_hold_even_alone(reached: Reached):
    assert settled(claim(8, "name", reached=reached)) == {}


def test_equals_that_disagree_say_nothing_unless_something_lower_agrees_with_one():
    assert settled(claim(1), claim(2)) == {}
    assert settled(claim(1), claim(2), claim(2, "name")) == {"batch_size": 2}
    assert settled(claim(1), claim(2), claim(2, "name"), claim(1, "name", depth=1)) == {}


def test_a_name_whose_value_says_nothing_is_as_if_it_were_not_there():
    steps = {"field": "max_steps", "name": "max_steps"}
    assert settled(claim(-1, "option", source="cli", **steps), claim(100, "option", **steps)) == {}
    other = claim(50, "option", field="max_steps", name="max_iters", alias=2)
    assert settled(claim(-1, "option", **steps), other) == {"max_steps": 50}


def test_an_option_that_is_unknown_hides_the_default():
    unknown = claim(Value(UNKNOWN_DATA, (), "cli"), "option")
    assert settled(unknown, claim(8, "option")) == {}
    assert settled(claim(Value(UNKNOWN_DATA)), claim(8, "option")) == {}
    assert settled(claim(Value(UNKNOWN_DATA), "name"), claim(8, "name")) == {"batch_size": 8}


def test_a_claim_without_a_line_says_nothing():
    assert settled(claim(Value(8))) == {}
    line = Evidence("a.py", 1, "import x")
    assert settled(claim(Value(8), line=line)) == {"batch_size": 8}


def test_values_are_brought_into_normal_form():
    half = Value(Dotted("torch.bfloat16"), (Evidence("a.py", 1, ""),))
    assert settled(claim(half, field="precision")) == {"precision": "bf16"}
    path = KnownPrefix(UNKNOWN_DATA, (Evidence("a.py", 1, ""),), begins="out/run_")
    assert settled(claim(path, field="checkpoint_dir")) == {"checkpoint_dir": "out"}
    assert settled(claim(path, "option", field="model")) == {}


@pytest.mark.parametrize(
    ("help_text", "expected"),
    [
        ("Maximum number of tokens to generate.", {}),
        ("Longest generated sequence.", {}),
        ("Longest text after tokenization.", {"sequence_length": 128}),
    ],
)
def test_how_much_may_be_written_is_no_length_of_what_is_learnt_from(help_text, expected):
    text = f'add_argument("--max_length", default=128, help="{help_text}")'
    assert settled(claim(128, "option", field="sequence_length", text=text)) == expected


def test_one_length():
    epochs = claim(3, field="epochs")
    steps = claim(500, "name", field="max_steps")
    assert settled(epochs, steps) == {"epochs": 3}
    assert settled(claim(500, field="max_steps"), claim(3, "name", field="epochs")) == {
        "max_steps": 500
    }
    both = {"epochs": 3, "max_steps": 500}
    assert settled(epochs, claim(500, "option", field="max_steps")) == both
    assert settled(claim(3, field="epochs", reached=Reached.UNDECIDED), steps) == both


@pytest.mark.parametrize("task", ["evaluation", "inference", "preprocessing"])
def test_no_training_where_none_runs(task: str):
    kept = {
        "task": claim(task, field="task"),
        "learning_rate": claim(0.1, "option", field="learning_rate", source="cli"),
    }
    dropped = (
        claim("out", field="checkpoint_dir"),
        claim(100, field="checkpoint_every"),
        claim("adam", field="optimizer"),
        claim(3, "option", field="epochs", source="config"),
        claim(True, field="resumes", reached=Reached.UNDECIDED),
    )
    assert settled(*kept.values(), *dropped).keys() == kept.keys()


def test_no_batches_of_a_training_where_data_are_prepared():
    batch = claim(8, "option")
    task = claim("preprocessing", field="task")
    assert settled(task, batch) == {"task": "preprocessing"}
    asked = claim(8, "option", source="cli")
    assert settled(task, asked) == {"task": "preprocessing", "batch_size": 8}
    assert settled(claim("inference", field="task"), batch)["batch_size"] == 8


def test_no_heads_without_attention():
    heads = claim(4, "option", field="n_head")
    assert settled(claim("LSTM", field="model"), heads) == {"model": "LSTM"}
    assert settled(claim("Transformer", field="model"), heads)["n_head"] == 4
    assert settled(claim("LSTM", field="model"), claim(4, field="n_head"))["n_head"] == 4


def test_no_sequence_of_pictures():
    task = claim("segmentation", field="task")
    by_name = claim(64, "name", field="sequence_length", confidence=0.7)
    assert settled(task, by_name) == {"task": "segmentation"}
    assert settled(task, claim(64, field="sequence_length"))["sequence_length"] == 64
    assert settled(claim("speech", field="task"), by_name)["sequence_length"] == 64


@pytest.mark.parametrize(("name", "steps"), [("num_steps", None), ("max_steps", 1000)])
def test_one_length_is_not_that_of_a_diffusion(name: str, steps: int | None):
    epochs = claim(9, field="epochs")
    named = claim(1000, "option", field="max_steps", name=name)
    assert settled(epochs, named).get("max_steps") == steps


def test_no_width_alone():
    task = claim("image_classification", field="task")
    width = claim(512, "option", field="d_model", name="model.embed_dim")
    assert settled(task, width) == {"task": "image_classification"}
    assert settled(task, width, claim(12, field="n_layer"))["d_model"] == 512
    assert settled(claim("language_modeling", field="task"), width)["d_model"] == 512


def test_a_mere_name_in_a_function_that_is_not_called_states_nothing():
    assert settled(claim(8, "name", reached=Reached.UNCALLED)) == {}
    assert settled(claim(8, reached=Reached.UNCALLED)) == {"batch_size": 8}


def test_others_that_state_the_same_lend_their_lines():
    coded = Value("cifar10", (Evidence("data.py", 9, ""),))
    named = Value("CIFAR10", (Evidence("config.yaml", 2, ""),), "config")
    found = settle(
        (claim(coded, field="dataset"), claim(named, "option", field="dataset", name="dataset"))
    )
    assert [line.file for line in found["dataset"].evidence] == ["data.py", "config.yaml"]


def test_of_equal_claims_that_agree_the_stronger_source_is_named():
    for order in permutations((claim(8, source="config"), claim(8, source="cli"), claim(8))):
        assert settle(order)["batch_size"].source == "cli"


def test_every_rule_is_tried_here():
    tried = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {rule.__name__ for rule in RULES} <= tried


@given(
    st.lists(
        st.builds(
            claim,
            st.integers(1, 4),
            st.sampled_from(sorted(KINDS)),
            source=st.sampled_from(["cli", "config", "code"]),
            reached=st.sampled_from(Reached),
            depth=st.integers(0, 2),
        ),
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_claims_does_not_matter_and_code_that_runs_wins(claims, rng):
    shuffled = list(claims)
    rng.shuffle(shuffled)
    found = settle(claims).get("batch_size")
    assert found == settle(shuffled).get("batch_size")
    running = {each.value.data for each in claims if each.reached is Reached.EXECUTED}
    assert found is None or not running or found.value in running


CODE = """\
import lib

def unused():
    seq_len = 512
    lib.build(num_epochs=9)

learning_rate = 0.1
learning_rate = 0.2
batch_size = 8
if lib.flag():
    num_epochs = 3
settings = {"eval": 1}
generation_config = {"max_seq_len": 77}
lib.GenerationConfig(early_stopping=True)
lib.evaluate(batch_size=99)
"""


def test_how_a_line_is_reached_goes_with_its_claim(tmp_path):
    (tmp_path / "train.py").write_text(CODE)
    files = Files(tmp_path, "root")
    words = command_words(["python", "train.py"])
    source = files.read(tmp_path / "train.py")
    entry = Entry(name="train.py", source=source, import_root=tmp_path)
    run = PythonRun(entry=entry, arguments=(), command=words[1])
    found = {
        (each.field, each.value.data): each.reached
        for each in named_claims(interpret(run, files).trace)
    }
    assert found == {
        ("learning_rate", 0.1): Reached.OVERWRITTEN,
        ("batch_size", 8): Reached.EXECUTED,
        ("epochs", 3): Reached.UNDECIDED,
        ("epochs", 9): Reached.UNCALLED,
        ("sequence_length", 512): Reached.UNCALLED,
    }
