"""The view shows the telling line, wherever it stands near the end."""

import pytest

from schedmate.handler import Case, Handler, NamedLog
from schedmate.handler.excerpt import MOST_LINES, candidate_lines, excerpt, unusual_lines
from schedmate.handler.reading import gather

TELLING = "[shards] record 371 of shard 3 is cut short: 512 bytes announced, 128 found"
STEPS = [f"step {n} loss 0.5" for n in range(3000)]


def views(lines):
    """What is shown, and what of it can be chosen."""
    case = Case(logs=(NamedLog("a.log", "\n".join(lines).encode()),), exit_code=1)
    gathered = gather(case)
    odd = unusual_lines(case, gathered)
    shown = excerpt(gathered, odd)
    return shown, [line.text for line in candidate_lines(shown, odd)]


@pytest.mark.parametrize(
    "after",
    [
        [],
        [f"[sweeper] {n} files looked at" for n in range(400)],
        [f"{word} is being closed" for word in "abcdefghijklmnopqrst"],
        ["", " ", "\t"] * 50,
        [f"\rbar {n}%" for n in range(100)],
    ],
    ids=["last words", "routine", "twenty different lines", "blanks", "a bar"],
)
def test_the_telling_line_is_in_it_with_its_number(after):
    shown, choosable = views([*STEPS, TELLING, *after])
    assert len(shown) <= MOST_LINES
    assert [(line.number, line.text) for line in shown if "[shards]" in line.text] == [
        (3001, TELLING)
    ]
    assert TELLING in choosable


def test_what_all_ranks_print_at_once_is_no_routine():
    shown, _ = views([*STEPS, *(f"[rank{r}]: {TELLING}" for r in range(16)), *STEPS[:100]])
    assert [line.text for line in shown].count(TELLING) == 1


def test_routine_trouble_is_left_out():
    lines = [text for n in range(500) for text in (f"step {n}", f"cache miss {n}: not found", "x")]
    text = "\n".join([*lines, TELLING, *lines[:60]])
    case = Case(logs=(NamedLog("a.log", text.encode()),), exit_code=1)
    assert [line.text for line in unusual_lines(case, gather(case))] == [TELLING]


def test_endings_cannot_be_chosen_where_something_else_can():
    assert views([TELLING, "giving up", "stopped"])[1] == [TELLING]
    assert views(["so long", "stopped"])[1] == ["so long"]
    assert views(["stopped"])[1] == ["stopped"]


def test_what_no_word_gives_away_is_found_by_being_alone():
    plain = "registry: please sign in anew"
    noise = [f"[sweeper] {n} files looked at" for n in range(400)]
    assert views([*STEPS, plain, "leaving", *noise])[1] == [plain]


@pytest.mark.parametrize("content", [b"", b"\n\n\n", b"\x00\xff\xfe" * 5000, b"x" * 3_000_000])
def test_strange_logs_have_a_view_too(content):
    case = Case(logs=(NamedLog("a.log", content),), exit_code=1)
    gathered = gather(case)
    shown = excerpt(gathered, unusual_lines(case, gathered))
    assert len(shown) <= MOST_LINES
    assert Handler().diagnose(case).reason


def test_a_log_that_is_gone_has_none(tmp_path):
    path = tmp_path / "gone.log"
    case = Case(logs=(path,), exit_code=1)
    assert unusual_lines(case, gather(case)) == ()


@pytest.mark.slow
def test_many_logs_are_looked_at_in_bounded_memory(tmp_path):
    logs = []
    for rank in range(200):
        path = tmp_path / f"rank_{rank}.log"
        path.write_text("\n".join(STEPS[:500]) + (f"\n{TELLING}\n" if rank == 137 else "\n"))
        logs.append(path)
    case = Case(logs=tuple(logs), exit_code=1)
    gathered = gather(case)
    assert unusual_lines(case, gathered)[0].text == TELLING
