"""The same failure is recognised, another one is not."""

import random
from contextlib import closing
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.signature import is_distinctive, masked
from schedmate.model import JobState
from schedmate.model.lessons import Origin
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.hostile_lines import hostile_line

STEPS = "".join(f"step {n} loss {2 - n / 100:.2f}\n" for n in range(40))
RAISED = """\
Traceback (most recent call last):
  File "/home/ada/train.py", line 12, in main
    fit(model)
  File "/home/ada/data.py", line 88, in load_sample
    raise SampleTrouble(path)
SampleTrouble: cannot make sense of '/data/a/17.bin' (code 4711)
"""
SPOKEN = "[pump] valve 7 of host n12 does not close, pressure 3.25 stays\n"
CLEARING = "".join(f"[sweeper] {n} files looked at\n" for n in range(300))


def signature(text, *more, **verdict):
    logs = (NamedLog("a.log", text.encode()), *(NamedLog("b.log", m.encode()) for m in more))
    return Handler().diagnose(Case(logs=logs, **({"exit_code": 1} | verdict))).signature


@pytest.mark.parametrize(
    "other",
    [
        RAISED.replace("/home/ada", "/users/bob/proj").replace("17.bin", "x/9.npz"),
        RAISED.replace("4711", "12").replace("line 88", "line 91"),
        STEPS + RAISED + "bye\n",
        "".join(f"[rank3]: {line}\n" for line in RAISED.splitlines()),
        "".join(f"[rank{r}]: {line}\n" for line in RAISED.splitlines() for r in (0, 1)),
    ],
    ids=["other paths", "other numbers", "noise", "a rank", "interleaved ranks"],
)
def test_an_exception_is_the_same(other):
    assert signature(other) == signature(RAISED) != ""


@pytest.mark.parametrize(
    "other",
    [
        RAISED.replace("cannot make sense of", "did not find"),
        RAISED.replace("SampleTrouble:", "SampleMissing:"),
        RAISED.replace("load_sample", "load_labels"),
        SPOKEN,
    ],
)
def test_another_exception_or_place_is_another_failure(other):
    assert signature(other) != signature(RAISED)


@pytest.mark.parametrize(
    "other",
    [
        SPOKEN.replace("7", "3").replace("n12", "gpu-041.example.org").replace("3.25", "1e-5"),
        STEPS + SPOKEN,
        SPOKEN + CLEARING,
        "".join(f"[rank{r}]: {SPOKEN}" for r in range(8)),
    ],
    ids=["numbers and host", "noise before", "noise after", "said by all ranks"],
)
def test_a_programs_own_words_are_the_same(other):
    assert signature(other) == signature(SPOKEN) != ""


def test_the_verdict_does_not_matter_where_the_log_says_why():
    assert signature(SPOKEN, state=JobState.FAILED) == signature(SPOKEN, exit_code=3)
    assert signature(RAISED, state=JobState.FAILED) == signature(RAISED)


def test_it_does_where_the_log_says_nothing():
    assert signature(STEPS, exit_code=1) != signature(STEPS, exit_code=2)


def test_a_run_that_did_not_fail_has_none():
    assert signature(STEPS, exit_code=0) == ""
    assert signature(SPOKEN, exit_code=None) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("no route to host n7", "no route to host gpu041"),
        ("denied for user ada", "denied for user bob"),
        ("mail to ada@example.org", "mail to bob@other.example.org"),
        ("needs 2.5 GiB", "needs 300 MiB"),
        ("loss 1e-05 too small", "loss 0.1 too small"),
        ("id 0b1c2d3e-1111-2222-3333-444455556666", "id 1c9d2d3e-aaaa-2222-3333-444455556666"),
        ("get https://a.example.org/x?y=1", "get s3://bucket/key"),
        ("can't open the file 'a'", "can't open the file 'b'"),
        ("tabs\tand  blanks", "tabs and blanks"),
    ],
)
def test_what_changes_is_masked(one, other):
    assert masked(one) == masked(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("connection refused", "connection reset"),
        ("can't open, doesn't exist", "can't read, doesn't exist"),
        ("torch.distributed.elastic failed", "torch.utils.data failed"),
    ],
)
def test_what_matters_is_kept(one, other):
    assert masked(one) != masked(other)


def test_a_line_of_numbers_and_common_words_is_not_telling():
    assert not is_distinctive(masked("step 3: error 17 in '/a/b'"))
    assert is_distinctive(masked("valve 7 does not close"))


@given(st.text(max_size=2000))
def test_masking_is_stable(text):
    assert masked(masked(text)) == masked(text) or len(text) > 200


@pytest.mark.parametrize("seed", range(20))
def test_hostile_lines_are_masked(seed):
    chance = random.Random(seed)
    for _ in range(50):
        line = hostile_line(chance, [RAISED, SPOKEN]).decode(errors="replace")[:800]
        assert len(masked(line)) <= 5 * len(line)


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "store.sqlite3")) as opened:
        yield opened


def test_the_most_specific_signature_comes_first(store):
    """A correction of one place does not reach the same type raised elsewhere, if that is all."""
    short = RAISED.replace("SampleTrouble: cannot make sense of '/data/a/17.bin' (code 4711)", "{}")
    here, there = short.format("KeyError: 'a'"), short.format("KeyError: 'b'")
    there = there.replace("load_sample", "save_model")
    origin = Origin(teacher="operator", by="ada", about="a.log", at=1.0)
    for text, reason in ((here, "data_error"), (there, None)):
        case = Case(logs=(NamedLog("a.log", text.encode()),), exit_code=1)
        if reason:
            Handler(store).correct(case, reason, origin, make_rule=False)
            assert Handler(store).diagnose(case).reason == reason
        else:
            assert Handler(store).diagnose(case).reason == "key_error"


def test_all_of_these_are_different():
    texts = sorted(signature(text) for text in (RAISED, SPOKEN, STEPS, "other words came up\n"))
    assert all(one != other for one, other in pairwise(texts))
