"""What a clue tells beside its rule: when, who, where, which attempt, whether it was the end."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from schedmate.handler import Case, NamedLog
from schedmate.handler.reading import gather
from schedmate.handler.reading.origin import Origin, origins

ERROR = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()


def gathered(text: str | bytes, name: str = "a.log", **case):
    data = text if isinstance(text, bytes) else text.encode()
    return gather(Case(logs=(NamedLog(name, data),), **case))


def clue(text: str, name: str = "a.log", **case):
    (one,) = gathered(text, name, **case).clues
    return one


def test_the_time_is_the_lines_own_or_that_of_the_nearest_before_it():
    assert clue(f"2026-01-01 12:00:00 start\nno time here\n{ERROR}").at == NOON
    assert clue(f"[rank1]: 2026-01-01 12:00:00 ERROR {ERROR}").at == NOON
    assert clue(ERROR).at is None


def test_the_time_may_stand_in_the_block_before():
    calm = "x" * 63 + "\n"
    lead = calm * ((1 << 19) // 64 - 1)
    assert clue(f"{lead}2026-01-01 12:00:00 {calm[:43]}{ERROR}").at == NOON


@pytest.mark.parametrize(
    ("prefix", "rank", "node"),
    [
        ("[rank3]: ", 3, ""),
        ("3: ", 3, ""),
        ("[1,3]<stderr>:", 3, ""),
        ("(RayTrainWorker pid=7, ip=10.0.0.7) ", None, "10.0.0.7"),
        ("node7: [rank3]: ", 3, "node7"),
        ("n7: ", None, "n7"),
        ("[pod/trainer-0/main] ", None, "trainer-0"),
        ("2026-01-01T12:00:00.123456789Z stderr F [rank3]: ", 3, ""),
        ("", None, ""),
    ],
)
def test_who_wrote_it(prefix, rank, node):
    found = clue(prefix + ERROR, nodes=("n7",))
    assert (found.rank, found.node, found.line.text) == (rank, node, ERROR.strip())


def test_a_number_that_counts_up_is_no_rank():
    lines = [f"{n}: loss 0.3\n" for n in range(100, 110)]
    assert clue("".join(lines) + f"110: {ERROR}").rank is None
    labelled = [f"{n % 4}: loss 0.3\n" for n in range(12)]
    assert clue("".join(labelled) + f"3: {ERROR}").rank == 3


def test_the_name_of_the_file_names_the_rank_where_the_line_does_not():
    assert clue(ERROR, "logs/rank_3.log").rank == 3
    assert clue(f"[rank5]: {ERROR}", "logs/rank_3.log").rank == 5
    found = clue(ERROR, "none_x/attempt_2/7/stderr.log")
    assert (found.rank, found.attempt) == (7, 2)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["slurm-17_3.out"], [Origin()]),
        (["slurm-17_3.out", "slurm-17_4.out"], [Origin(3), Origin(4)]),
        (["worker-12.log"], [Origin(12)]),
        (["job.log", "ranking.log"], [Origin(), Origin()]),
    ],
)
def test_origins(names, expected):
    assert list(origins(names)) == expected


def test_a_requeue_begins_another_attempt():
    requeue = (
        "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00"
        " DUE TO JOB REQUEUE ***\n"
    )
    attempts = [
        (one.attempt, one.line.number)
        for one in gathered(ERROR + requeue + "step 1\n" * 5 + ERROR).clues
        if one.rule.reason == "gpu_oom"
    ]
    assert sorted(attempts) == [(0, 1), (1, 8)]


def test_last_words_are_those_after_which_the_same_process_was_silent():
    text = f"[rank0]: {ERROR}[rank1]: {ERROR}[rank1]: step 8 loss 0.1\nsrun: error: n1: exit 1\n"
    words = {one.rank: one.last_words for one in gathered(text).clues if one.rank is not None}
    assert words == {0: True, 1: False}


def test_a_log_without_prefixes_is_one_process():
    assert clue(ERROR).last_words
    assert clue(f"{ERROR}\n\n").last_words
    assert not clue(f"{ERROR}step 8 loss 0.1\n").last_words


def test_last_words_far_before_the_end():
    others = "".join(f"[rank1]: step {n} loss 0.1\n" for n in range(60_000))
    assert clue(f"[rank0]: {ERROR}{others}").last_words
    assert not clue(f"[rank0]: {ERROR}{others}[rank0]: step 9\n").last_words


@pytest.mark.parametrize(
    ("data", "readable"),
    [
        (b"", False),
        (b"\0" * 5000, False),
        (random.Random(1).randbytes(100_000), False),
        (b"step 1 loss 0.1\n", True),
        ("Schritt für Schritt: Verlust 0,1\n".encode("latin-1"), True),
        ("第一步 损失 0.1\n".encode(), True),
        (b"\0" * 5000 + b"step 1 loss 0.1\n", True),
        (random.Random(1).randbytes(100_000) + b"\nstep 1 loss 0.1\n" * 9000, True),
    ],
    ids=["empty", "NULs", "random", "text", "latin-1", "chinese", "hole", "text at the end"],
)
def test_whether_there_is_a_readable_line(data, readable):
    assert gathered(data).readable is readable


@pytest.mark.slow
def test_what_comes_after_a_flood_of_alarms_is_still_read():
    chance = random.Random(1)
    flood = "".join(
        f"ValueError: {chance.random()} {chance.randbytes(4).hex()}\n" for _ in range(90_000)
    )
    reasons = {one.rule.reason for one in gathered(flood + ERROR + "ValueError: x\n" * 300).clues}
    assert "gpu_oom" in reasons
