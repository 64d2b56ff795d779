"""The contract that every reader fulfils, and the ways of each."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.advisor.modules import Module, parse
from schedmate.advisor.readers import READERS, UNSTATED, Reading
from schedmate.advisor.shell import command_words
from schedmate.advisor.sources import SourceFile

SNIPPETS = st.lists(
    st.sampled_from(
        [
            "import argparse",
            "p = argparse.ArgumentParser()",
            "p.add_argument('--epochs', type=int, default=3)",
            "p.add_argument(*names, default=None)",
            "p.add_argument()",
            "p.add_argument('')",
            "p.add_argument('--x', action='store_true', dest=3)",
            "p.add_argument('-e', nargs='*', default=[1, 2])",
            "p.set_defaults(epochs=f())",
            "s = p.add_subparsers().add_parser('fit')",
            "s.add_argument('data', nargs='?')",
            "EPOCHS = EPOCHS2 = 1 / 0",
            "EPOCHS = 10 ** 10 ** 10",
            "a = b",
            "b = a",
            "batch_size = -(-(-a))",
            "x: int",
            "Trainer(max_time=dict(hours=2), max_steps=x)",
            "Trainer(max_time=timedelta(hours='a'), **more)",
            "fit({**a, 'max_time': timedelta(days=1e300), (): 1})",
            "EarlyStopping(patience=a)",
            "hooks = [dict(type='EarlyStoppingHook'), {'type': 3}]",
        ]
    )
)
WORDS = st.lists(
    st.one_of(st.sampled_from(["--epochs", "--epochs=", "-e", "--", "-", "=", "fit"]), st.text())
)


def reading(text, words=()):
    module = parse(SourceFile("train.py", text), 0)
    modules = (module,) if isinstance(module, Module) else ()
    return Reading(modules=modules, configs=modules, arguments=command_words(words))


def stated(reader_name, text, *words):
    reader = next(reader for reader in READERS if reader.name == reader_name)
    return {each.name: each.value for each in reader.read(reading(text, words))}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
class TestEveryReader:
    @settings(max_examples=60, deadline=None)
    @given(lines=SNIPPETS, words=WORDS)
    def test_reads_anything_and_shows_the_line(self, reader, lines, words):
        text = "\n".join(lines)
        for each in reader.read(reading(text, words)):
            assert each.name
            assert 0 < each.confidence <= 1
            assert each.evidence
            for line in each.evidence:
                if line.file == "train.py":
                    assert lines[line.line - 1].strip() == line.text

    @settings(max_examples=60, deadline=None)
    @given(text=st.text(), words=WORDS)
    def test_reads_any_text(self, reader, text, words):
        list(reader.read(reading(text, words)))

    def test_has_a_name_of_its_own(self, reader):
        assert [each.name for each in READERS].count(reader.name) == 1


PARSER = """
import argparse
WIDTH = 128
def options(p):
    p.add_argument("-e", "--epochs", default=3)
    p.add_argument("--wide", default=WIDTH * 2)
    p.add_argument("--size", default=compute())
    p.add_argument("--fast", action="store_true")
    p.add_argument("--no-shuffle", dest="shuffle", action="store_false")
    p.add_argument("--log", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--milestones", nargs="+", default=[1, 2])
    p.add_argument("--resume", nargs="?", const="last")
    p.add_argument("data")
    p.add_argument("model", nargs="?", default="mlp")
"""


def test_argparse_defaults():
    assert stated("argparse", PARSER) == {
        "epochs": 3,
        "wide": 256,
        "size": UNSTATED,
        "fast": False,
        "shuffle": True,
        "log": True,
        "milestones": (1, 2),
        "resume": None,
        "data": None,
        "model": "mlp",
    }


def test_argparse_command_line():
    words = "here -e 5 --wi=7 --fast --no-shuffle --no-log --milestones 3 4 --resume --size -1 big"
    assert stated("argparse", PARSER, *words.split()) == {
        "data": "here",
        "epochs": "5",
        "wide": "7",
        "fast": True,
        "shuffle": False,
        "log": False,
        "milestones": ("3", "4"),
        "resume": "last",
        "size": "-1",
        "model": "big",
    }


def test_constants_set_twice_or_computed_are_not_stated():
    text = (
        "A = 1\nB = 2\nB = 3\nC = f()\nD = A * 4\nE: float = 1e-3\nfor F in range(3):\n    G = 1\n"
    )
    assert stated("constants", text) == {"A": 1, "D": 4, "E": 1e-3}


def test_command_line_pairs_and_flags():
    words = ["--epochs", "3", "trainer.max_steps=5", "--fp16", "--lr=1e-3", "--lr=2e-3", "+x=1"]
    assert stated("command_line", "", *words) == {
        "epochs": "3",
        "trainer.max_steps": "5",
        "fp16": True,
        "lr": "2e-3",
        "x": "1",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Trainer(max_time='00:01:00:00')", {"max_time": "00:01:00:00"}),
        ("Trainer(max_time=datetime.timedelta(hours=2))", {"max_time": timedelta(hours=2)}),
        ("Trainer(max_time=dict(hours=H))\nH = 2", {"max_time": {"hours": 2}}),
        ("Trainer(max_time={'hours': 2})", {"max_time": {"hours": 2}}),
        ("Trainer(max_time=args.max_time)", {}),
        ("Trainer(max_duration='10ep')", {"max_duration": "10ep"}),
        ("predictor.fit(train, time_limit=600)", {"time_limit": 600}),
        ("make_env(time_limit=600)", {}),
        ("keras.callbacks.EarlyStopping(patience=3)", {"early_stopping": True}),
        ("cb = [EarlyStoppingCallback(args.n)]", {"early_stopping": True}),
        ("lgb.train(p, callbacks=[lgb.early_stopping(50)])", {"early_stopping": True}),
        ("XGBClassifier(early_stopping_rounds=10)", {"early_stopping_rounds": 10}),
        ("params = {'early_stopping_round': 10}", {"early_stopping_round": 10}),
        ("hooks = [dict(type='EarlyStoppingHook')]", {"early_stopping": True}),
        ("ReduceLROnPlateau(opt, patience=3)", {}),
        ("class EarlyStopping(Callback): pass", {}),
    ],
)
def test_endings_in_the_code(text, said):
    assert stated("endings", text) == said
