from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.model.wire import dumps, loads
from schedmate.tracker.unknown.templates import Miner


def mined(lines: list[str]) -> Miner:
    miner = Miner()
    for order, line in enumerate(lines):
        miner.add(line, order, None)
    return miner


def counts(miner: Miner) -> list[int]:
    return sorted((template.count for template in miner.templates.values()), reverse=True)


def test_lines_that_differ_in_numbers_are_one_template():
    lines = [f"{i:6d} | loss {1 / (i + 1):.3e} | {i}.5 img/s" for i in range(50)]
    assert counts(mined(lines)) == [50]


def test_words_without_numbers_are_no_template():
    assert mined(["hello", "there was a warning", ""]).templates == {}


def test_train_and_valid_stay_apart():
    lines = [f"{kind} {i} loss 0.5" for i in range(20) for kind in ("train", "valid")]
    assert counts(mined(lines)) == [20, 20]


def test_hashes_names_and_durations_do_not_multiply():
    chance = random.Random(1)
    lines = [
        f"item {chance.randbytes(5).hex()} of /data/{chance.randbytes(2).hex()}/a took {m}m{m}s"
        for m in range(40)
    ]
    assert counts(mined(lines)) == [40]


def test_a_place_that_keeps_varying_takes_any_word():
    words = ["ada", "ben", "cyd", "dan", "eve", "fay", "gus", "hal", "ida", "jon", "kim", "lea"]
    miner = mined([f"user {word} has finished item {i}" for i, word in enumerate(words)])
    assert counts(miner) == [len(words)]


def test_bare_numbers_are_known_by_their_columns():
    lines = [f"{i * 5} {i * 2}.5\n-1.5e{i % 9} {i}.25" for i in range(20)]
    assert counts(mined([part for line in lines for part in line.split("\n")])) == [20, 20]


def test_memory_is_bounded_whatever_comes():
    chance = random.Random(1)
    letters = "abcdefgh 0123456789/.=:"
    lines = ["".join(chance.choices(letters, k=chance.randint(1, 900))) for _ in range(3000)]
    miner = mined(lines + [f"step {i} {'x' * 390}" for i in range(3000)])
    assert len(dumps(miner)) < 40_000
    assert loads(Miner, dumps(miner)) == miner


@settings(max_examples=200)
@given(st.lists(st.text(max_size=60), max_size=30))
def test_any_text_is_taken(lines: list[str]):
    miner = mined(lines)
    assert sum(counts(miner)) <= len(lines)
