"""Long backlogs: what must be seen is seen, and most lines are not cut at all."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.tracker.tailing.backlog import lines_about, sample_last_lines, sample_lines
from schedmate.tracker.tailing.lines import MAX_LINE, lines_in

STEP = "step {n} of many: loss {loss:.4f}, lr 3e-4, time {n}.{n} s"


def steps(count: int, *, template: str = STEP) -> list[str]:
    chance = random.Random(7)
    return [template.format(n=n, loss=chance.random()) for n in range(count)]


def text_of(lines: list[str], end: str = "\n") -> bytes:
    return "".join(line + end for line in lines).encode()


def sampled(lines: list[str], end: str = "\n") -> list[str]:
    return [line.decode() for line in sample_lines(text_of(lines, end))]


def is_in_order(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in part)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\b\b\r"])
def test_few_are_kept_in_order_with_the_first_and_the_last(end: str):
    lines = steps(40_000)
    kept = sampled(lines, end)
    assert len(kept) < 800
    assert is_in_order(kept, lines)
    assert kept[:2] == lines[:2]
    assert kept[-2:] == lines[-2:]


def test_samples_are_even_and_come_with_their_neighbour():
    kept = [int(line.split()[1]) for line in sampled(steps(40_000))]
    assert max(after - before for before, after in pairwise(kept)) < 4000
    assert sum(after - before == 1 for before, after in pairwise(kept)) > 10


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-01-01T00:00 DUE TO TIME LIMIT ***",
        "***** Running Evaluation *****",
        "validating ...",
        "Saving model checkpoint to out/checkpoint-500",
        "Epoch 7/90",
        "100%|██████████| 13/13 [00:02<00:00,  5.10it/s]",
        "  Num Epochs = 3",
        "Total optimization steps = 24",
        ':::MLLOG {"key": "eval_accuracy", "value": 0.7}',
        "Resuming from step 4000",
        "View run at https://wandb.ai/a/b/runs/c",
        "step 3 loss nan",
        "early stopping: no better for 5 evaluations",
        "Training finished",
    ],
)
def test_a_telling_line_is_found_anywhere_with_its_neighbours(line: str):
    lines = steps(30_000)
    lines.insert(17_345, line)
    kept = sampled(lines)
    assert line in kept
    if not re.search("100%|Epoch|MLLOG", line):
        at = kept.index(line)
        assert kept[at - 1 : at + 2] == lines[17_344:17_347]


def test_lines_of_one_shape_are_thinned_and_the_first_and_last_of_them_kept():
    lines = steps(40_000)
    for n in range(0, 40_000, 50):
        lines[n] = f"val loss {n}"
    vals = [line for line in sampled(lines) if line.startswith("val")]
    assert 3 <= len(vals) < 100
    assert vals[0] == "val loss 0"
    assert vals[-1] == "val loss 39950"


def test_early_in_a_log_a_rare_line_is_kept_whatever_it_says():
    lines = steps(40_000)
    lines.insert(23_456, "the cat sat on the mat")
    assert lines[23_456] in sampled(lines)
    assert lines[23_456].encode() not in sample_lines(text_of(lines), before=100_000_000)


def test_where_every_line_carries_a_mark_others_are_found_all_the_same():
    lines = steps(40_000, template="val step {n} nan 0 gpu 100% loss {loss:.4f}, saved no error")
    lines.insert(23_456, "Training finished")
    kept = sampled(lines)
    assert len(kept) < 800
    assert "Training finished" in kept


def bar(n: int, total: int, label: str = "") -> str:
    return f"{label}{n * 100 // total:3}%|█| {n}/{total} [00:01<00:02,  3.1it/s]"


@pytest.mark.parametrize("total", [7, 50, 997, 20_000])
def test_no_round_of_a_bar_is_missed(total: int):
    lines = [bar(n, total) for _ in range(60_000 // total) for n in range(total + 1)]
    kept = [int(line.split()[-3].partition("/")[0]) for line in sampled(lines, "\r")]
    assert kept.count(total) == 60_000 // total
    assert sum(after < before for before, after in pairwise(kept)) == 60_000 // total - 1


@pytest.mark.parametrize(("total", "every"), [(300, 1), (5000, 1), (5000, 7), (40_000, 30)])
def test_rounds_of_plain_counts_are_seen_at_their_end_or_where_they_fall(total: int, every: int):
    lines = [f"it {n}/{total} loss 1" for _ in range(7) for n in range(1, total + 1, every)]
    kept = [int(line.split()[1].partition("/")[0]) for line in sampled(lines * 2)]
    falls = sum(after < before for before, after in pairwise(kept))
    assert falls == 13


@pytest.mark.parametrize("each", [400, 3000, 9000])
def test_no_change_of_an_epoch_that_every_line_names_is_missed(each: int):
    epochs = 60_000 // each
    lines = [bar(n, each, f"Epoch {epoch}: ") for epoch in range(epochs) for n in range(each - 5)]
    seen = {line.split(":")[0] for line in sampled(lines)}
    assert seen == {f"Epoch {epoch}" for epoch in range(epochs)}


def test_headlines_of_epochs_are_all_kept():
    lines = [line for n in range(300) for line in (f"Epoch {n + 1}/300", *steps(100))]
    kept = [line for line in sampled(lines) if line.startswith("Epoch")]
    assert kept == [f"Epoch {n + 1}/300" for n in range(300)]


def test_the_last_piece_ends_with_all_of_its_lines():
    text = text_of(steps(40_000))
    assert sample_last_lines(text)[-300:] == lines_in(text)[-300:]
    assert sample_last_lines(b"") == []
    assert sample_last_lines(b"short\n") == [b"short"]


def test_a_little_is_read_in_full():
    assert sample_lines(b"a\r\nb\n") == [b"a", b"b"]
    assert sample_lines(b"") == []


def test_the_number_of_lines_is_about_right():
    assert lines_about(text_of(steps(40_000))) == pytest.approx(40_000, rel=0.1)
    assert lines_about(b"") == 0


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *(b"\n", b"\r", b"\b", b"\0", b"epoch 3", b" 100%|", b"5/5", b"nan", b"\xff" * 300),
                *(b"x" * (MAX_LINE + 1), b"val 1\n" * 900, b"epoch 1/2 9/9\r" * 700),
            ]
        ),
        min_size=5,
        max_size=25,
    )
)
def test_whatever_it_is_given_it_returns_lines_of_it_in_order(pieces: list[bytes]):
    text = b"".join(pieces) * 3 + b"\n"
    kept = sample_lines(text)
    whole = lines_in(text.replace(b"\0", b""))
    assert all(0 < len(line) <= MAX_LINE for line in kept)
    if max(map(len, text.splitlines()), default=0) < MAX_LINE and b"\0" not in text:
        rest = iter(whole)
        assert all(line in rest for line in kept)
