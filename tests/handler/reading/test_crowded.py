"""Logs with an alarming word in every line: what really went wrong is found amid them."""

from __future__ import annotations

import pytest

from schedmate.handler import Case, NamedLog
from schedmate.handler.reading import gather
from schedmate.handler.reading.lines import BLOCK_BYTES

METRIC = b"eval: CUDA error: 0 failed=0, no Input/output error, timeout %dms\n"
OOM = b"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
LINES = 3 * BLOCK_BYTES // len(METRIC)
TRACEBACK = (
    b'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    go()\n' + OOM
)


def metrics(amount: int) -> bytes:
    return b"".join(METRIC % n for n in range(amount))


def found(content: bytes) -> list[tuple[str, int]]:
    clues = gather(Case(logs=(NamedLog("a.log", content),))).clues
    return [(clue.rule.reason, clue.line.number) for clue in clues if clue.rule.reason == "gpu_oom"]


@pytest.mark.parametrize("error", [OOM, TRACEBACK])
@pytest.mark.parametrize("after", [b"", b"\n", b"\nbye"])
def test_the_last_words_are_found_with_or_without_a_line_feed(error, after):
    expected = LINES + 1 + error.count(b"\n")
    assert found(metrics(LINES) + error + after) == [("gpu_oom", expected)]


@pytest.mark.parametrize("error", [OOM, TRACEBACK])
def test_an_error_amid_them_is_found_and_its_line_counted(error):
    content = metrics(LINES) + error + b"\n" + metrics(LINES)
    gathered = gather(Case(logs=(NamedLog("a.log", content),)))
    assert found(content) == [("gpu_oom", LINES + 1 + error.count(b"\n"))]
    assert gathered.lines == content.count(b"\n")
    (clue,) = (clue for clue in gathered.clues if clue.rule.reason == "gpu_oom")
    assert not clue.final
    assert clue.calm_after >= LINES // 2


def test_one_alarm_for_ever_is_one_clue_from_its_first_line():
    content = metrics(10) + (OOM + b"\n") * LINES
    assert found(content) == [("gpu_oom", 11)]
