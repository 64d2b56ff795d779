"""Names and values in files that could not be interpreted: what is stated is found, no more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.advisor.agent.choices import choices
from schedmate.advisor.agent.fields import TOPICS
from schedmate.advisor.agent.grounding import stands_in
from schedmate.advisor.agent.searching import written_values
from schedmate.advisor.sources.files import SourceFile


def found(name, text):
    return {(each.name, each.value) for each in written_values([SourceFile(name, text)])}


@pytest.mark.parametrize(
    ("name", "text", "pair"),
    [
        ("c.yaml", "batch: 40", ("batch", 40)),
        ("c.yaml", "opt: {name: adam, lr: 2e-3}", ("lr", 0.002)),
        ("c.toml", 'corpus = "corpora/conll"', ("corpus", "corpora/conll")),
        ("c.json", '{"seq_len": 512,', ("seq_len", 512)),
        ("job.sh", "export BATCH=48", ("BATCH", 48)),
        ("job.sh", "OUT=${OUT:-runs/a}", ("OUT", "runs/a")),
        ("job.sh", "train --set train.epochs=6 --lr 0.1", ("train.epochs", 6)),
        ("job.sh", "train --set train.epochs=6 --lr 0.1", ("lr", 0.1)),
        ("a.py", "def f(x, n_epoch=5): pass", ("n_epoch", 5)),
        ("a.py", "c = {'warm': 3}", ("warm", 3)),
        ("a.py", "self.x = Net(1)", ("x", "Net")),
        ("a.py", "save('out/x')", ("save", "out/x")),
        ("a.py", "n: int = 7", ("n", 7)),
    ],
)
def test_what_is_stated_is_found(name, text, pair):
    assert pair in found(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.yaml", "# batch: 40"),
        ("job.sh", "module load cuda/11"),
        ("job.sh", "#SBATCH --time=4"),
        ("a.py", '"""n = 3"""'),
        ("a.py", "# n = 3"),
        ("a.py", "n = 3 +"),
        ("a.py", "x = y = True"),
    ],
)
def test_what_is_not_is_not(name, text):
    assert found(name, text) == set()


@given(st.text(max_size=400), st.sampled_from(["a.py", "a.yaml", "a.sh"]))
def test_no_file_makes_it_raise_and_every_choice_stands_in_its_line(text, name):
    named = list(written_values([SourceFile(name, text)]))
    for topic in TOPICS:
        for choice in choices(topic, named):
            if topic.field != "task":
                assert stands_in(choice.value, choice.line.text)


@pytest.mark.parametrize("number", ["1e999", "9" * 21, "1e-999", "." * 50, "10**99999"])
def test_no_number_is_too_large(number):
    written = [*written_values([SourceFile("c.yaml", f"batch: {number}\nepochs: {number}\n")])]
    written += written_values([SourceFile("c.py", f"batch = {number}\n")])
    for topic in TOPICS:
        choices(topic, written)
